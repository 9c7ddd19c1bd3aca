import { PlatformError } from '../../core/errors.ts';
import type { OutboundMessage } from '../../core/message.ts';
import type { Clock } from '../../lib/clock.ts';
import type { AccountData } from '../contract.ts';
import type { DiscordApi } from './api.ts';
import { bodyOf } from './message-body.ts';
import type { Part } from './message-body.ts';
import type { DiscordOptions } from './options.ts';
import { archiveMinutes, threadName } from './threads-below.ts';
import { integer, record, snowflake, text } from './wire.ts';

type PostMessage = (message: OutboundMessage, part: Part, at: { readonly channel: string; readonly index: number }, signal: AbortSignal) => Promise<string>;

/** Posts in forums, where a message by itself has no place. */
export interface Posts {
  write(message: OutboundMessage, piece: { readonly part: Part; readonly index: number; readonly forum: string }, signal: AbortSignal, postMessage: PostMessage): Promise<string>;
}

interface LastPost {
  readonly base: string;
  readonly number: number;
  readonly threadId: string;
  readonly atMs: number;
}

/** Later pieces of a text come at once or not at all. */
const pieceMs = 10 * 60_000;

/** The key of a text's piece ends in its number. */
const pieceOf = (key: string): { readonly base: string; readonly number: number } => {
  const [, base = key, number = '0'] = /^(.*):(\d+)\+*$/s.exec(key) ?? [];
  return { base, number: Number(number) };
};

const readLast = (value: string | undefined): LastPost | undefined => {
  const raw = record(value === undefined ? undefined : JSON.parse(value));
  const [base, number, threadId, atMs] = [text(raw?.['base']), integer(raw?.['number']), snowflake(raw?.['threadId']), integer(raw?.['atMs'])];
  return base === undefined || number === undefined || threadId === undefined || atMs === undefined ? undefined : { base, number, threadId, atMs };
};

/** The second piece of a text is written below its first, not into a post of its own. */
export const newPosts = ({ api, data, clock, options }: { readonly api: DiscordApi; readonly data: AccountData; readonly clock: Clock; readonly options: DiscordOptions }): Posts => ({
  async write(message, { part, index, forum }, signal, postMessage) {
    const key = `post:${forum}`;
    const { base, number } = pieceOf(message.key);
    const last = readLast(await data.get(key));
    const continues = last !== undefined && last.base === base && clock.now() - last.atMs < pieceMs && (index > 0 ? last.number === number : last.number + 1 === number);
    const keep = (threadId: string): Promise<void> => data.set(key, JSON.stringify({ base, number, threadId, atMs: clock.now() } satisfies LastPost));
    if (continues) {
      const id = await postMessage(message, part, { channel: last.threadId, index }, signal);
      await keep(last.threadId);
      return id;
    }
    const body = { name: threadName(message.text, 'Post'), auto_archive_duration: archiveMinutes, message: bodyOf(message, part, options) };
    const threadId = snowflake(record(await api.call({ method: 'POST', route: '/channels/{channel}/threads', ids: { channel: forum }, body, files: part.files, once: true }, signal))?.['id']);
    if (threadId === undefined) throw new PlatformError('unknown_outcome', 'Discord answered without a post');
    await keep(threadId);
    // A post begins with a message that has its id.
    return threadId;
  },
});
