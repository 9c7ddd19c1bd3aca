import { z } from 'zod';

/** What we read of Honcho's answers (API v3, https://docs.honcho.dev). Everything else in them is ignored. */
export const messageWire = z.object({ id: z.string(), content: z.string(), peer_id: z.string(), created_at: z.string(), metadata: z.record(z.string(), z.unknown()).nullish() });
export const messagesWire = z.array(messageWire);
export const messagePageWire = z.object({ items: messagesWire, total: z.number() });
export const peerContextWire = z.object({ representation: z.string().nullish(), peer_card: z.array(z.string()).nullish() });
export const peerCardWire = z.object({ peer_card: z.array(z.string()).nullish() });
export const sessionContextWire = z.object({ summary: z.object({ content: z.string() }).nullish(), peer_representation: z.string().nullish(), peer_card: z.array(z.string()).nullish() });
export const conclusionsWire = z.array(z.object({ id: z.string(), content: z.string(), created_at: z.string() }));
export const chatWire = z.object({ content: z.string().nullish() });

/** What Honcho takes for a new message. */
export interface NewMessage {
  readonly peer_id: string;
  readonly content: string;
  readonly metadata: Readonly<Record<string, string | number>>;
  readonly created_at: string;
}

export type MessageWire = z.output<typeof messageWire>;
export type PeerContextWire = z.output<typeof peerContextWire>;
export type SessionContextWire = z.output<typeof sessionContextWire>;
