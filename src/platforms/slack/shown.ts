import { createHash } from 'node:crypto';
import { PlatformError } from '../../core/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Address } from './address.ts';
import { msToTs, record, records, text, timestamp, tsToMs } from './wire.ts';
import type { Json } from './wire.ts';
import type { Workspace } from './workspaces.ts';

/** Slack keeps it with the message; other apps of the workspace may read it, so it says nothing about what caused the message. */
const metadataType = 'hermes_delivery';

const nameOf = (key: string): string => createHash('sha256').update(key).digest('hex').slice(0, 32);

/** By which a message can be found again. */
export const metadataOf = (key: string): Json => ({ event_type: metadataType, event_payload: { key: nameOf(key) } });

const isOf = (message: Json, key: string): boolean => {
  const metadata = record(message['metadata']);
  return metadata?.['event_type'] === metadataType && record(metadata['event_payload'])?.['key'] === nameOf(key);
};

/** An app that may not read metadata sees its messages without it: then one with the same words, sent just now, is taken for it. */
const looksLike = (message: Json, { botId }: Workspace, words: string, nowMs: number): boolean =>
  message['metadata'] === undefined && botId !== undefined && message['bot_id'] === botId && message['text'] === words && nowMs - tsToMs(timestamp(message['ts']) ?? '0.0') < justNowMs;

const justNowMs = 10 * 60_000;
const lookBackMs = 24 * 3600_000;
const mostPages = 10;

/**
 * The message that was sent under a key, if there is one: Slack has no key that makes a repeat harmless, but it shows what was sent. Fails when
 * that cannot be seen, so that nothing is sent twice.
 */
export const findShown = async (address: Address, search: { readonly key: string; readonly words: string; readonly clock: Clock }, signal: AbortSignal): Promise<string | undefined> => {
  const { workspace, channel, threadTs } = address;
  const method = threadTs === undefined ? 'conversations.history' : 'conversations.replies';
  const oldest = msToTs(search.clock.now() - lookBackMs);
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    const answer = await workspace.api.repeatable(method, { channel, ts: threadTs, oldest, limit: 200, include_all_metadata: true, cursor }, signal, 'chat');
    const found = records(answer['messages']).find((message) => isOf(message, search.key) || looksLike(message, workspace, search.words, search.clock.now()));
    if (found !== undefined) return timestamp(found['ts']);
    cursor = text(record(answer['response_metadata'])?.['next_cursor']);
    if (cursor === undefined) return undefined;
  }
  throw new PlatformError('rejected', 'too much was said since then to find out whether the message was shown');
};
