import type { InboundEvent } from '../core/message.ts';
import type { Platform } from '../platforms/contract.ts';
import type { Command } from './contract.ts';
import { parseCommand } from './parse.ts';
import type { ParsedCommand } from './parse.ts';
import { isCalled } from './registry.ts';

/** Asked for in so many words, by somebody who speaks to us alone. */
const restartPhrase = /^(?:please\s+)?restart\s+(?:the\s+)?gateway[\s.!]*$/i;

/** `!stop` where the platform has such a mark: only before the name of a command, for people also write `!important`. */
const marked = (text: string, mark: string | undefined, commands: () => readonly Command[]): ParsedCommand | undefined => {
  if (mark === undefined || !text.startsWith(mark)) return undefined;
  const parsed = parseCommand(`/${text.slice(mark.length)}`);
  return parsed !== undefined && commands().some((command) => isCalled(command, parsed.name)) ? parsed : undefined;
};

/** The command that a message gives, in any way its platform knows; undefined for conversation. */
export const readCommand = (event: Pick<InboundEvent, 'text' | 'chat'>, platform: Pick<Platform, 'commandMark' | 'surface'>, commands: () => readonly Command[]): ParsedCommand | undefined => {
  if (platform.surface === 'machine') return undefined;
  const text = event.text.trim();
  if (event.chat.type === 'dm' && restartPhrase.test(text)) return { name: 'restart', args: '' };
  return parseCommand(text) ?? marked(text, platform.commandMark, commands);
};
