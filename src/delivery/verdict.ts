import type { PlatformError, PlatformErrorCode } from '../core/errors.ts';
import type { OutboundMessage } from '../core/message.ts';
import { backoffMs } from '../lib/backoff.ts';
import type { Platform } from '../platforms/contract.ts';
import type { Delivery, OutboxItem } from '../store/outbox.ts';
import { repeatMark, withoutAnchor } from './compose.ts';
import { splitMarkdown } from './chunks.ts';

/** What becomes of a delivery after a try that did not succeed. */
export type Verdict =
  | { readonly type: 'again'; readonly delayMs: number; readonly uncounted: boolean; readonly delivery?: Delivery }
  | { readonly type: 'repeat'; readonly delayMs: number; readonly delivery: Delivery }
  | { readonly type: 'fail'; readonly deadTarget: boolean; readonly reason: string };

const again = (delayMs: number, more: { uncounted?: boolean; delivery?: Delivery } = {}): Verdict => ({
  type: 'again',
  delayMs,
  uncounted: more.uncounted ?? false,
  ...(more.delivery !== undefined && { delivery: more.delivery }),
});

const retryDelay = (attempts: number): number => backoffMs(attempts, { baseMs: 1000, capMs: 60_000 });

const mark = (message: OutboundMessage, platform: Platform): OutboundMessage => {
  if (message.text === '') return message;
  const long = `${repeatMark.long}${message.text}`;
  return { ...message, text: platform.limits.measure(long) <= platform.limits.text ? long : `${repeatMark.short}${message.text}` };
};

/** The answer was lost. Where repeating is harmless it is simply repeated; otherwise once more, marked, and that is final. */
export const afterUnknown = (item: OutboxItem, platform: Platform, repeatsAreSafe: boolean): Verdict => {
  if (repeatsAreSafe || item.delivery.finishes !== undefined) return again(retryDelay(item.attempts));
  if (item.repeated) return { type: 'fail', deadTarget: false, reason: 'unknown_outcome: the answer to the send and to its one repeat was lost' };
  return { type: 'repeat', delayMs: retryDelay(item.attempts), delivery: { ...item.delivery, message: mark(item.delivery.message, platform) } };
};

/** The message that was to be finished is gone or cannot be changed any more: the text is shown as a new one. */
const asNew = ({ finishes: _finishes, ...delivery }: Delivery): Delivery => delivery;

const unanchored = (delivery: Delivery): Delivery => ({ ...delivery, message: { ...delivery.message, target: withoutAnchor(delivery.message.target) } });

const aboutTheMessage: ReadonlySet<PlatformErrorCode> = new Set(['not_found', 'unsupported', 'rejected']);

/** The same delivery without what the platform refused to do with it. */
const withoutRefused = (delivery: Delivery, error: PlatformError): Delivery | undefined => {
  if (delivery.changes !== undefined) return undefined;
  if (delivery.finishes !== undefined && aboutTheMessage.has(error.code)) return asNew(delivery);
  const anchored = error.code === 'not_found' && error.facts.missing === 'reply' && delivery.message.target.replyTo !== undefined;
  return anchored ? unanchored(delivery) : undefined;
};

/** Our count and the platform's differ: say it in smaller, plain pieces, rather than not at all. */
const inPieces = (delivery: Delivery, platform: Platform): Delivery | undefined => {
  const { message } = delivery;
  if (message.plain === true && delivery.rest !== undefined) return undefined;
  const [first, ...rest] = splitMarkdown(message.text, { limit: Math.floor(platform.limits.text / 2), measure: (text) => Math.max(text.length, platform.limits.measure(text)) });
  return first === undefined ? undefined : { ...delivery, message: { ...message, text: first, plain: true }, rest };
};

const moved = (delivery: Delivery, chatId: string): Delivery => ({ ...delivery, message: { ...delivery.message, target: { ...delivery.message.target, chatId } } });

/** Reads the one table of rules for platform errors and turns it into what happens to this row. */
export const afterError = (item: OutboxItem, error: PlatformError, context: { platform: Platform; repeatsAreSafe: boolean; gateMs?: number }): Verdict => {
  const fail = (): Verdict => ({ type: 'fail', deadTarget: error.rule.deadTarget, reason: `${error.code}: ${error.message}` });
  if (error.facts.movedToChatId !== undefined) return again(0, { delivery: moved(item.delivery, error.facts.movedToChatId) });
  const lesser = withoutRefused(item.delivery, error);
  if (lesser !== undefined) return again(0, { delivery: lesser });
  if (error.code === 'too_long') {
    const delivery = inPieces(item.delivery, context.platform);
    return delivery === undefined ? fail() : again(0, { delivery });
  }
  switch (error.rule.retry) {
    case 'never':
      return fail();
    case 'after-delay':
      return again(context.gateMs ?? retryDelay(item.attempts), { uncounted: true });
    case 'backoff':
      return again(retryDelay(item.attempts));
    case 'plain':
      return item.delivery.message.plain === true ? fail() : again(0, { delivery: { ...item.delivery, message: { ...item.delivery.message, plain: true } } });
    case 'once-marked':
      return afterUnknown(item, context.platform, context.repeatsAreSafe);
    default:
      throw error.rule.retry satisfies never;
  }
};
