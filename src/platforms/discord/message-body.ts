import { createHash } from 'node:crypto';
import type { OutboundMessage } from '../../core/message.ts';
import { formatDiscord, plainDiscord } from './format.ts';
import type { DiscordOptions } from './options.ts';
import type { Upload } from './uploads.ts';
import { messageFlags } from './wire.ts';

const button = { type: 2, secondary: 2 } as const;
const actionRow = 1;
const mostRows = 5;
const mostInRow = 5;
const longestLabel = 80;

const cut = (label: string): string => (label.length > longestLabel ? `${label.slice(0, longestLabel - 1).toWellFormed()}…` : label);

/** Rows as they are where Discord has room for them, otherwise as full as can be. */
const packed = (choices: NonNullable<OutboundMessage['choices']>): NonNullable<OutboundMessage['choices']> => {
  if (choices.length <= mostRows && choices.every((row) => row.length <= mostInRow)) return choices;
  const all = choices.flat().slice(0, mostRows * mostInRow);
  return Array.from({ length: Math.ceil(all.length / mostInRow) }, (_, row) => all.slice(row * mostInRow, (row + 1) * mostInRow));
};

/** Buttons; an empty list takes those away that there were. */
export const componentsOf = (choices: OutboundMessage['choices']): readonly object[] =>
  packed(choices ?? [])
    .filter((row) => row.length > 0)
    .map((row) => ({ type: actionRow, components: row.map(({ label, data }) => ({ type: button.type, style: button.secondary, label: cut(label), custom_id: data })) }));

/** Who may be pinged. What is not named here pings nobody, whatever the text says. */
export const allowedMentions = (options: DiscordOptions): object => ({
  parse: [...(options.allow_mention_everyone ? ['everyone'] : []), ...(options.allow_mention_roles ? ['roles'] : []), ...(options.allow_mention_users ? ['users'] : [])],
  replied_user: options.allow_mention_replied_user,
});

export const written = (message: Pick<OutboundMessage, 'text' | 'plain'>): string => {
  if (message.text.trim() === '') return '';
  return message.plain === true ? plainDiscord(message.text) : formatDiscord(message.text);
};

/** The same for every try of the same part of a message, and for nothing else. */
export const nonceOf = (key: string, part: number): string => createHash('sha256').update(`${key}#${part}`).digest('base64url').slice(0, 25);

/** What one call to Discord shows. */
export interface Part {
  readonly text: boolean;
  readonly choices: boolean;
  readonly files: readonly Upload[];
}

const mostFiles = 10;

/** Cuts a message into the calls that show it: the words with the files, ten at a time, then each recording for itself. */
export const planParts = (message: OutboundMessage, uploads: readonly Upload[]): readonly Part[] => {
  const files = uploads.filter(({ recording }) => recording === undefined);
  const recordings = uploads.filter(({ recording }) => recording !== undefined);
  const hasText = message.text.trim() !== '';
  const groups = Array.from({ length: Math.max(Math.ceil(files.length / mostFiles), hasText ? 1 : 0) }, (_, index) => files.slice(index * mostFiles, (index + 1) * mostFiles));
  const parts: Part[] = groups.map((group, index) => ({ text: hasText && index === 0, choices: index === 0 && message.choices !== undefined, files: group }));
  return [...parts, ...recordings.map((recording): Part => ({ text: false, choices: false, files: [recording] }))];
};

const attachmentsOf = (files: readonly Upload[]): readonly object[] =>
  files.map(({ name, recording }, index) => ({ id: String(index), filename: name, ...(recording !== undefined && { duration_secs: recording.durationSeconds, waveform: Buffer.from(recording.waveform).toString('base64') }) }));

const flagsOf = (message: OutboundMessage, part: Part, options: DiscordOptions): number => {
  const isVoice = part.files.some(({ recording }) => recording !== undefined);
  return (isVoice ? messageFlags.voice : 0) | (message.quiet === true ? messageFlags.quiet : 0) | (options.suppress_embeds && !isVoice ? messageFlags.suppressEmbeds : 0);
};

/** The body of a call, without what says where it goes. */
export const bodyOf = (message: OutboundMessage, part: Part, options: DiscordOptions): Readonly<Record<string, unknown>> => {
  const flags = flagsOf(message, part, options);
  const components = part.choices ? componentsOf(message.choices) : [];
  return {
    ...(part.text && { content: written(message) }),
    allowed_mentions: allowedMentions(options),
    ...(flags !== 0 && { flags }),
    ...(components.length > 0 && { components }),
    ...(part.files.length > 0 && { attachments: attachmentsOf(part.files) }),
  };
};
