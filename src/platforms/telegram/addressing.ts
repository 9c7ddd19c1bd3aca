import type { Identity } from '../contract.ts';
import type { TelegramOptions } from './options.ts';
import type { WireEntity } from './wire.ts';

export interface Addressed {
  /** Without our own mention, and with `/cmd@us` as `/cmd`. */
  readonly text: string;
  readonly mentioned: boolean;
  /** Other bots are named and we are not. */
  readonly forOthers: boolean;
  /** A command that names another bot. */
  readonly foreignCommand: boolean;
}

type Named = 'us' | 'other bot' | 'person';

/** Bot user names end in `bot`, by Telegram's rule. */
const botName = /bot$/i;

const removeAt = (text: string, { offset, length }: WireEntity): string => {
  const before = text.slice(0, offset);
  const after = text.slice(offset + length);
  if (before.trim() === '') return after.replace(/^[\s,:]+/, '');
  return /\s$/.test(before) ? before + after.trimStart() : before + after;
};

/** Decides whom a text is for by its entities, never by searching for names in it. */
export const newAddressing = (identity: Identity, options: TelegramOptions): ((text: string, entities: readonly WireEntity[]) => Addressed) => {
  const handle = identity.handle?.toLowerCase();
  const patterns = options.mention_patterns.map((pattern) => new RegExp(pattern, 'i'));

  const isUs = (name: string): boolean => name.toLowerCase() === handle;

  const whoIs = (text: string, entity: WireEntity): Named => {
    if (entity.type === 'text_mention') {
      if (String(entity.userId) === identity.id) return 'us';
      return entity.userIsBot === true ? 'other bot' : 'person';
    }
    const name = text.slice(entity.offset + 1, entity.offset + entity.length);
    if (isUs(name)) return 'us';
    return botName.test(name) ? 'other bot' : 'person';
  };

  return (text, entities) => {
    const mentions = entities.filter((entity) => entity.type !== 'bot_command');
    const named = mentions.map((entity) => whoIs(text, entity));
    const command = entities.find((entity) => entity.type === 'bot_command' && entity.offset === 0);
    const [verb = '', bot] = command === undefined ? [] : text.slice(0, command.length).split('@', 2);
    const ourCommand = bot !== undefined && isUs(bot);
    const mentioned = ourCommand || named.includes('us') || patterns.some((pattern) => pattern.test(text));

    let rest = text;
    const [only] = mentions;
    if (only !== undefined && mentions.length === 1 && named[0] === 'us') rest = removeAt(rest, only).trimEnd() || text;
    if (ourCommand && command !== undefined) rest = verb + rest.slice(command.length);
    return {
      text: rest,
      mentioned,
      forOthers: !mentioned && named.includes('other bot'),
      foreignCommand: bot !== undefined && !ourCommand,
    };
  };
};
