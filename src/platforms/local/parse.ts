import { isAbsolute } from 'node:path';
import { z } from 'zod';
import type { InboundEvent, MediaKind } from '../../core/message.ts';
import { chatId, clientId, maxFiles, maxInboundLength } from './wire.ts';
import type { ClientFrame } from './wire.ts';

const id = z.string().regex(clientId);

const file = z.object({
  name: z.string().min(1).max(255),
  path: z.string().max(4096).refine(isAbsolute),
  kind: z.enum(['photo', 'video', 'audio', 'voice', 'document', 'sticker', 'animation'] satisfies readonly MediaKind[]),
  mime: z.string().regex(/^[\w.+-]+\/[\w.+-]+$/).max(100),
});

const say = z
  .object({ type: z.literal('say'), id, text: z.string().max(maxInboundLength), files: z.array(file).max(maxFiles).optional() })
  .refine(({ text, files }) => text.trim() !== '' || (files ?? []).length > 0);

const frameShapes = {
  hello: z.object({ type: z.literal('hello'), version: z.int(), chat: z.string().regex(chatId), after: z.int().min(0).optional() }),
  say,
  press: z.object({ type: z.literal('press'), id, messageId: z.string().max(64), data: z.string().max(256) }),
  seen: z.object({ type: z.literal('seen'), seq: z.int().min(0).optional() }),
} as const;

export type ParsedFrame =
  | { readonly type: 'frame'; readonly frame: ClientFrame }
  /** A kind of frame that does not exist yet. */
  | { readonly type: 'unknown' }
  /** `id` when it names a message that can be refused by itself. */
  | { readonly type: 'malformed'; readonly id?: string };

const isKnown = (type: unknown): type is keyof typeof frameShapes => typeof type === 'string' && Object.hasOwn(frameShapes, type);

const parseJson = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

export const parseClientFrame = (line: string): ParsedFrame => {
  const json = parseJson(line);
  if (json === null || typeof json !== 'object') return { type: 'malformed' };
  const type: unknown = Reflect.get(json, 'type');
  if (!isKnown(type)) return { type: 'unknown' };
  const parsed = frameShapes[type].safeParse(json);
  if (parsed.success) return { type: 'frame', frame: parsed.data as ClientFrame };
  const named = id.safeParse(Reflect.get(json, 'id'));
  return { type: 'malformed', ...(named.success && { id: named.data }) };
};

export interface Origin {
  readonly account: string;
  readonly chat: string;
  readonly atMs: number;
}

const eventFrom = (origin: Origin): Pick<InboundEvent, 'account' | 'chat' | 'sender' | 'addressed' | 'mentioned' | 'sentAtMs' | 'media'> => ({
  account: origin.account,
  chat: { id: origin.chat, type: 'dm' },
  sender: { id: 'owner', name: 'Owner', isBot: false },
  addressed: true,
  mentioned: false,
  sentAtMs: origin.atMs,
  media: [],
});

export const messageEvent = (frame: Extract<ClientFrame, { type: 'say' }>, origin: Origin): InboundEvent => ({
  ...eventFrom(origin),
  kind: 'message',
  nativeId: frame.id,
  messageId: frame.id,
  text: frame.text.toWellFormed(),
  media: (frame.files ?? []).map(({ kind, mime, name, path }) => ({ kind, mime, name, ref: { path } })),
});

export const pressEvent = (frame: Extract<ClientFrame, { type: 'press' }>, origin: Origin): InboundEvent => ({
  ...eventFrom(origin),
  kind: 'button',
  nativeId: frame.id,
  messageId: frame.messageId,
  text: '',
  button: { data: frame.data },
});
