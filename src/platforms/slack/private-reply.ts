import { PlatformError } from '../../core/errors.ts';
import type { InboundEvent, Target } from '../../core/message.ts';
import type { AccountData } from '../contract.ts';
import { privatePrefix } from './reading.ts';
import { integer, parseJson, record, text } from './wire.ts';

/** Slack takes answers at the address of a slash command for half an hour, five of them. */
const validMs = 29 * 60_000;
const mostUses = 5;

interface ReplyAddress {
  readonly url: string;
  readonly untilMs: number;
  readonly left: number;
}

const prefix = 'reply:';

const keyOf = (chatId: string, threadId: string): string => `${prefix}${chatId}:${threadId}`;

const read = (value: string | undefined): ReplyAddress | undefined => {
  const stored = record(value === undefined ? undefined : parseJson(value));
  const url = text(stored?.['url']);
  const untilMs = integer(stored?.['untilMs']);
  const left = integer(stored?.['left']);
  return url === undefined || untilMs === undefined || left === undefined ? undefined : { url, untilMs, left };
};

/** Keeps the address at which the answers to a slash command of a channel can be seen by that person only. */
export const rememberReply = async (data: AccountData, event: InboundEvent, given: { readonly payload: unknown; readonly nowMs: number }): Promise<void> => {
  const url = text(record(given.payload)?.['response_url']);
  const { id, threadId } = event.chat;
  if (url === undefined || threadId === undefined) return;
  await data.set(keyOf(id, threadId), JSON.stringify({ url, untilMs: given.nowMs + validMs, left: mostUses } satisfies ReplyAddress));
};

/** Who alone sees what is sent to a target; undefined where everybody does. */
export const readerOf = ({ threadId }: Pick<Target, 'threadId'>): string | undefined => (threadId?.startsWith(privatePrefix) === true ? threadId.slice(privatePrefix.length) : undefined);

/** Uses the address once; undefined when it does not hold any more. */
export const takeReplyAddress = async (data: AccountData, { chatId, threadId = '' }: Target, nowMs: number): Promise<string | undefined> => {
  const key = keyOf(chatId, threadId);
  try {
    const address = read(await data.get(key));
    if (address === undefined || address.untilMs < nowMs || address.left <= 0) {
      await data.remove(key);
      return undefined;
    }
    await data.set(key, JSON.stringify({ ...address, left: address.left - 1 }));
    return address.url;
  } catch (cause) {
    throw new PlatformError('unavailable', 'where to answer the slash command could not be read', { cause });
  }
};

/** Forgets addresses that do not hold any more. */
export const forgetOldReplies = async (data: AccountData, nowMs: number): Promise<void> => {
  for (const { key, value } of await data.list(prefix)) if ((read(value)?.untilMs ?? 0) < nowMs) await data.remove(key);
};
