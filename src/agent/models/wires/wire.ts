import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { ModelError } from '../../../core/errors.ts';
import type { Attachment, Replay, TranscriptMessage } from '../../../core/transcript.ts';
import type { Answer } from './answer.ts';
import type { Concession } from './concessions.ts';
import type { ReasoningEffort } from '../../../core/reasoning-effort.ts';
import type { ModelRequest } from '../contract.ts';
import { recordOf } from './json-fields.ts';
import type { Quirks } from '../endpoints/providers.ts';

export interface Image {
  readonly mime: string;
  readonly base64: string;
}

/** The attachments that are sent as images; the others are described. */
export type Images = ReadonlyMap<Attachment, Image>;

/** What is said of images that are not sent, in words that follow the name of the file. */
export type ImageWords = ReadonlyMap<Attachment, string>;

/** What a request depends on beside what is asked. */
export interface WireContext {
  readonly images: Images;
  readonly imageWords?: ImageWords;
  /** Where the files of the conversation lie, so that tools find them. */
  readonly mediaFolder?: string;
  /** Whose replays are sent back. */
  readonly maker: string;
  /** What this endpoint was found not to take. */
  readonly conceded: ReadonlySet<Concession>;
  readonly quirks: Quirks;
  readonly effort?: ReasoningEffort;
  readonly cacheTtl: '5m' | '1h';
}

export interface WireRequest {
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface AnswerContext {
  /** Asked for; the answer may name another. */
  readonly model: string;
  readonly maker: string;
  /** An error object of the server as what it means. */
  readonly failure: (error: unknown) => ModelError;
}

/** How one family of endpoints is spoken to. The same request always gives the same bytes, so that servers can cache it. */
export interface Wire {
  readonly name: 'chat' | 'responses' | 'anthropic';
  /** Below the base address. */
  readonly path: string;
  authorize(key: string): Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  request(request: ModelRequest, context: WireContext): WireRequest;
  answer(context: AnswerContext): Answer;
}

const note = (attachment: Attachment, { imageWords, mediaFolder }: WireContext): string => {
  const path = mediaFolder === undefined ? attachment.path : join(mediaFolder, attachment.path);
  const words = imageWords?.get(attachment);
  return `[attached ${attachment.kind} ${JSON.stringify(attachment.name)} (${attachment.mime}), file ${JSON.stringify(path)}${words === undefined ? '' : `; ${words}`}]`;
};

/** What a person wrote, followed by the names of the files that came with it. */
export const wireText = ({ content, attachments = [] }: TranscriptMessage, context: WireContext): string => {
  if (attachments.length === 0) return content.toWellFormed();
  const notes = attachments.map((attachment) => note(attachment, context)).join('\n');
  return (content === '' ? notes : `${content}\n\n${notes}`).toWellFormed();
};

export const imagesOf = (row: TranscriptMessage, images: Images): readonly Image[] => (row.attachments ?? []).flatMap((attachment) => images.get(attachment) ?? []);

export const dataUrl = (image: Image): string => `data:${image.mime};base64,${image.base64}`;

export const wireResult = (row: TranscriptMessage): string => row.content.toWellFormed() || '(no output)';

/** Servers refuse a whole conversation for one name, one id or one argument that a model once got wrong. */
export const wireName = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unnamed';

export const wireId = (id: string): string => (/^[A-Za-z0-9_-]{1,64}$/.test(id) ? id : `call_${createHash('sha256').update(id).digest('hex').slice(0, 32)}`);

export const wireArguments = (text: string): string => {
  try {
    return recordOf(JSON.parse(text)) === undefined ? '{}' : text.toWellFormed();
  } catch (error) {
    if (error instanceof SyntaxError) return '{}';
    throw error;
  }
};

/** Larger ones are not kept: a row of the transcript has to stay small. */
const maxReplayChars = 1_000_000;

/** What to keep of an answer for its maker; undefined when there is nothing worth keeping. */
export const replayOf = (maker: string, data: unknown): Replay | undefined => {
  if (data === undefined || JSON.stringify(data).length > maxReplayChars) return undefined;
  return { maker, data };
};

/** A piece of an assistant message in the order in which it was made: opaque, so many characters of its text, or a tool call. */
export type ReplayPart =
  | { readonly type: 'opaque'; readonly json: Readonly<Record<string, unknown>> }
  | { readonly type: 'text'; readonly chars: number; readonly phase?: string }
  | { readonly type: 'call'; readonly id: string };

const partOf = (value: unknown): ReplayPart | undefined => {
  const part = recordOf(value);
  const json = recordOf(part?.['json']);
  if (part?.['type'] === 'opaque' && json !== undefined) return { type: 'opaque', json };
  if (part?.['type'] === 'call' && typeof part['id'] === 'string') return { type: 'call', id: part['id'] };
  if (part?.['type'] !== 'text' || typeof part['chars'] !== 'number') return undefined;
  return { type: 'text', chars: part['chars'], ...(typeof part['phase'] === 'string' && { phase: part['phase'] }) };
};

/** What a row without a replay is made of. */
const plainParts = (row: TranscriptMessage): readonly ReplayPart[] => [
  ...(row.content === '' ? [] : [{ type: 'text' as const, chars: row.content.length }]),
  ...(row.toolCalls ?? []).map(({ id }) => ({ type: 'call' as const, id })),
];

/**
 * The pieces of an assistant message, with what its maker wants back if that is `maker` and the message is still what was made. Merged,
 * shortened or repaired messages have lost it.
 */
export const partsOf = (row: TranscriptMessage, maker: string): readonly ReplayPart[] => {
  const { replay } = row;
  if (replay?.maker !== maker || !Array.isArray(replay.data)) return plainParts(row);
  const parts = replay.data.map(partOf);
  if (parts.some((part) => part === undefined)) return plainParts(row);
  const whole = parts.filter((part) => part !== undefined);
  const chars = whole.reduce((sum, part) => sum + (part.type === 'text' ? part.chars : 0), 0);
  const ids = whole.flatMap((part) => (part.type === 'call' ? [part.id] : []));
  const same = chars === row.content.length && ids.join('\n') === (row.toolCalls ?? []).map(({ id }) => id).join('\n');
  return same ? whole : plainParts(row);
};

/** Hands each text piece its slice of the message. */
export const textSlices = (row: TranscriptMessage, parts: readonly ReplayPart[]): readonly string[] => {
  let at = 0;
  return parts.map((part) => {
    if (part.type !== 'text') return '';
    const slice = row.content.slice(at, at + part.chars).toWellFormed();
    at += part.chars;
    return slice;
  });
};
