import type { PlatformError, PlatformErrorCode } from '../core/errors.ts';
import type { OutboundMedia, OutboundMessage } from '../core/message.ts';
import { backoffMs } from '../lib/backoff.ts';
import type { Platform } from '../platforms/contract.ts';
import type { Delivery, OutboxItem } from '../store/messages/outbox.ts';
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

/** The words of a message, and its other files, are worth sending without those that cannot be; undefined when it has none. */
const withoutFiles = (delivery: Delivery, error?: PlatformError): Delivery | undefined => {
  const { media, ...message } = delivery.message;
  if (media === undefined) return undefined;
  const { file } = error?.facts ?? {};
  const isBad = ({ name }: OutboundMedia): boolean => file === undefined || !media.some((each) => each.name === file) || name === file;
  const kept = media.filter((each) => !isBad(each));
  const why = error?.code === 'too_large' ? 'cannot be sent here: too large' : 'could not be sent';
  const missing = `⚠️ ${media.filter(isBad).map(({ name }) => name).join(', ')} ${why}.`;
  return { ...delivery, message: { ...message, ...(kept.length > 0 && { media: kept }), text: message.text === '' ? missing : `${message.text}\n\n${missing}` } };
};

/** The same delivery without what the platform refused to do with it, or what is no longer there. */
const withoutRefused = (delivery: Delivery, error: PlatformError): Delivery | undefined => {
  if (delivery.changes !== undefined) return undefined;
  if (error.code === 'too_large' || (error.code === 'not_found' && error.facts.missing === 'file')) return withoutFiles(delivery, error);
  if (delivery.finishes !== undefined && aboutTheMessage.has(error.code)) return asNew(delivery);
  const anchored = error.code === 'not_found' && error.facts.missing === 'reply' && delivery.message.target.replyTo !== undefined;
  return anchored ? unanchored(delivery) : undefined;
};

/** Our count and the platform's differ: say it in smaller, plain pieces, rather than not at all. The last of them has what goes below the text. */
const inPieces = (delivery: Delivery, platform: Platform): Delivery | undefined => {
  if (delivery.message.plain === true && delivery.rest !== undefined) return undefined;
  const { media, choices, ...message } = delivery.message;
  const [first, ...rest] = splitMarkdown(message.text, { limit: Math.floor(platform.limits.text / 2), measure: (text) => Math.max(text.length, platform.limits.measure(text)) });
  if (first === undefined) return undefined;
  const piece = { ...message, text: first, plain: true };
  const closing = { ...(media !== undefined && { media }), ...(choices !== undefined && { choices }) };
  return rest.length === 0 ? { ...delivery, message: { ...piece, ...closing }, rest } : { ...delivery, message: piece, rest, closing };
};

/** What follows a piece that is there: as in every answer of several messages, only the first is attached to what it answers. Undefined after the last. */
export const nextPiece = ({ message, rest = [], closing }: Delivery): Delivery | undefined => {
  const [text, ...others] = rest;
  if (text === undefined) return undefined;
  const next: OutboundMessage = { ...message, key: `${message.key}+`, target: withoutAnchor(message.target), text };
  if (others.length === 0) return { message: { ...next, ...closing }, rest: [] };
  return { message: next, rest: others, ...(closing !== undefined && { closing }) };
};

/** How many tries that failed alone, while the account delivered other messages between them, lead to what. */
const patience = { plain: 3, bare: 5, last: 10 } as const;
/** Where little else is said one of them has to do, after about an hour. */
const manyTries = 60;

/** The same without what may be the trouble, as little of it as possible; undefined when nothing is left to leave out. */
const lessThan = (delivery: Delivery, reached: (limit: number) => boolean): Delivery | undefined => {
  if (reached(patience.plain) && delivery.message.plain !== true) return { ...delivery, message: { ...delivery.message, plain: true } };
  if (!reached(patience.bare)) return undefined;
  if (delivery.finishes !== undefined && delivery.changes === undefined) return asNew(delivery);
  return withoutFiles(delivery);
};

/**
 * Trouble of the account is waited out. When the account delivers other messages meanwhile, again and again, the trouble is this message's: it is made simpler and at last
 * given up, because everything behind it in its chat waits.
 */
const afterTrouble = (item: OutboxItem, error: PlatformError, othersGotThrough: boolean): Verdict => {
  const delayMs = retryDelay(item.attempts);
  const failedAlone = (item.delivery.failedAlone ?? 0) + (othersGotThrough ? 1 : 0);
  if (failedAlone === 0) return again(delayMs);
  const reached = (limit: number): boolean => failedAlone >= limit || item.attempts >= manyTries;
  const delivery: Delivery = { ...item.delivery, failedAlone };
  // What may have arrived must not arrive again in another form.
  const less = error.code === 'unavailable' ? lessThan(delivery, reached) : undefined;
  if (less !== undefined || !reached(patience.last)) return again(delayMs, { delivery: less ?? delivery });
  return { type: 'fail', deadTarget: false, reason: `${error.code}: ${error.message} (given up after ${item.attempts} tries, because other messages got through meanwhile)` };
};

/** In the new chat none of the old one's messages and threads exist under their ids. */
const moved = (delivery: Delivery, chatId: string): Delivery => {
  const { replyTo: _message, threadId: _thread, ...target } = delivery.message.target;
  return asNew({ ...delivery, message: { ...delivery.message, target: { ...target, chatId } } });
};

interface Circumstances {
  readonly platform: Platform;
  readonly repeatsAreSafe: boolean;
  /** The account has delivered something else since the last try of this one failed. */
  readonly othersGotThrough: boolean;
  readonly gateMs?: number;
}

/** Reads the one table of rules for platform errors and turns it into what happens to this row. */
export const afterError = (item: OutboxItem, error: PlatformError, context: Circumstances): Verdict => {
  const fail = (): Verdict => ({ type: 'fail', deadTarget: error.rule.deadTarget, reason: `${error.code}: ${error.message}` });
  if (error.facts.movedToChatId !== undefined && item.delivery.changes === undefined) return again(0, { delivery: moved(item.delivery, error.facts.movedToChatId) });
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
      return error.code === 'unavailable' ? afterTrouble(item, error, context.othersGotThrough) : again(retryDelay(item.attempts));
    case 'plain':
      return item.delivery.message.plain === true ? fail() : again(0, { delivery: { ...item.delivery, message: { ...item.delivery.message, plain: true } } });
    case 'once-marked':
      return context.repeatsAreSafe || item.delivery.finishes !== undefined ? afterTrouble(item, error, context.othersGotThrough) : afterUnknown(item, context.platform, false);
    default:
      throw error.rule.retry satisfies never;
  }
};
