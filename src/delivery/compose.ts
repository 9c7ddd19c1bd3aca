import type { Choice, OutboundMedia, OutboundMessage, Target } from '../core/message.ts';
import type { Platform } from '../platforms/contract.ts';
import { enqueueDelivery } from '../store/messages/outbox.ts';
import type { Delivery } from '../store/messages/outbox.ts';
import type { Writing } from '../store/store.ts';
import { splitMarkdown } from './chunks.ts';

/** Set before a text that may already have been shown, because the platform's answer to the first try was lost. */
export const repeatMark = { long: '♻️ Possibly a repeat:\n', short: '♻️ ' } as const;

export interface Outgoing {
  /** What caused it; parts are numbered behind it. */
  readonly key: string;
  readonly target: Target;
  readonly text: string;
  readonly media?: readonly OutboundMedia[];
  readonly choices?: readonly (readonly Choice[])[];
  readonly quiet?: boolean;
  /** It holds a secret and is not kept once it has been shown. */
  readonly secret?: boolean;
  /** The live preview that the first part replaces. */
  readonly finishes?: string;
  /** Every part is attached to the message it answers, not only the first. */
  readonly anchorAll?: boolean;
}

const markSizes = new WeakMap<Platform['limits'], number>();

/** The same for every text, and as costly to measure as a short one. */
const markSize = (limits: Platform['limits']): number => {
  const size = markSizes.get(limits) ?? limits.measure(repeatMark.short);
  markSizes.set(limits, size);
  return size;
};

/** The messages that show a text on a platform, each within its limit with room for the mark of a repeat. */
export const composeDeliveries = (platform: Platform, out: Outgoing): Delivery[] => {
  const { limits } = platform;
  const room = limits.text - markSize(limits);
  const texts = out.text.trim() === '' ? [] : splitMarkdown(out.text, { limit: room, measure: (text) => limits.measure(text) });
  // A message that takes the place of a preview cannot get files: they follow it.
  const filesApart = out.media !== undefined && texts.length === (out.finishes === undefined ? 0 : 1);
  const parts = filesApart ? [...texts, ''] : texts;
  return parts.map((text, i): Delivery => {
    const last = i === parts.length - 1;
    const message: OutboundMessage = {
      key: parts.length === 1 ? out.key : `${out.key}:${i + 1}`,
      target: i === 0 || out.anchorAll === true ? out.target : withoutAnchor(out.target),
      text,
      ...(last && out.media !== undefined && { media: out.media }),
      ...(last && out.choices !== undefined && { choices: out.choices }),
      ...(out.quiet === true && { quiet: true }),
      ...(out.secret === true && { secret: true }),
    };
    return i === 0 && out.finishes !== undefined ? { message, finishes: out.finishes } : { message };
  });
};

export const withoutAnchor = (target: Target): Target => {
  const { replyTo: _replyTo, ...rest } = target;
  return rest;
};

/** Puts a text on its way, as part of the transaction that caused it. */
export const enqueueText = async (tx: Writing, platform: Platform, out: Outgoing & { turnId?: number; inboxId?: number }): Promise<void> => {
  for (const delivery of composeDeliveries(platform, out)) {
    await enqueueDelivery(tx, delivery, { ...(out.turnId !== undefined && { turnId: out.turnId }), ...(out.inboxId !== undefined && { inboxId: out.inboxId }) });
  }
};
