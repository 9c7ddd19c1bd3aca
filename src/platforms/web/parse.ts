import { z } from 'zod';
import type { InboundEvent, MediaRef, ReplyContext } from '../../core/message.ts';
import { clientId, maxFilesPerMessage } from './wire.ts';
import type { JournalFrame, MessageBody, PressBody, WireFile } from './wire.ts';

/** People may paste more than an answer may have. */
const maxInboundLength = 100_000;

const id = z.string().regex(clientId);

export const messageBody = z
  .object({ id, text: z.string().max(maxInboundLength), files: z.array(z.string()).max(maxFilesPerMessage).default([]), replyTo: z.string().max(64).optional() })
  .refine((body) => body.text.trim() !== '' || body.files.length > 0, 'an empty message');

export const pressBody = z.object({ id, messageId: z.string().max(64), data: z.string().max(256) });

/** A place in the journal from an address or a header; undefined when it is none. */
export const parseCursor = (text: string | undefined): number | undefined => (text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined);

/** A single range of bytes; anything else is answered with the whole file. */
export const parseRange = (header: string | undefined, sizeBytes: number): { readonly start: number; readonly end: number } | 'unsatisfiable' | undefined => {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (match === null || (match[1] === '' && match[2] === '')) return undefined;
  const start = match[1] === '' ? Math.max(0, sizeBytes - Number(match[2])) : Number(match[1]);
  const end = match[1] === '' || match[2] === '' ? sizeBytes - 1 : Math.min(Number(match[2]), sizeBytes - 1);
  return start <= end ? { start, end } : 'unsatisfiable';
};

export interface Origin {
  readonly account: string;
  readonly chat: string;
  readonly atMs: number;
}

const eventFrom = (origin: Origin): Pick<InboundEvent, 'account' | 'chat' | 'sender' | 'addressed' | 'mentioned' | 'sentAtMs'> => ({
  account: origin.account,
  chat: { id: origin.chat, type: 'dm' },
  sender: { id: 'owner', name: 'Owner', isBot: false },
  addressed: true,
  mentioned: false,
  sentAtMs: origin.atMs,
});

const mediaRef = (file: WireFile): MediaRef => ({ kind: file.kind, mime: file.mime, name: file.name, sizeBytes: file.sizeBytes, ref: { file: file.id } });

/** The message that is answered, as far as it is among the given frames. */
export const replyContext = (messageId: string, frames: readonly JournalFrame[]): ReplyContext => {
  const entries = frames.map((frame) => frame.entry).filter((entry) => (entry.type === 'message' || entry.type === 'edit') && entry.id === messageId);
  const text = entries.map((entry) => ('text' in entry ? entry.text : '')).at(-1);
  const isOwn = entries.some((entry) => entry.type === 'message' && entry.from === 'agent');
  return { messageId, isOwn, ...(text !== undefined && { text }) };
};

export const messageEvent = (body: MessageBody, origin: Origin, facts: { readonly files: readonly WireFile[]; readonly replyTo?: ReplyContext | undefined }): InboundEvent => ({
  ...eventFrom(origin),
  kind: 'message',
  nativeId: body.id,
  messageId: body.id,
  text: body.text.toWellFormed(),
  media: facts.files.map(mediaRef),
  ...(facts.replyTo !== undefined && { replyTo: facts.replyTo }),
});

export const pressEvent = (body: PressBody, origin: Origin): InboundEvent => ({
  ...eventFrom(origin),
  kind: 'button',
  nativeId: body.id,
  messageId: body.messageId,
  text: '',
  media: [],
  button: { data: body.data },
});
