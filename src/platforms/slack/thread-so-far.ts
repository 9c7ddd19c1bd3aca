import { PlatformError } from '../../core/errors.ts';
import type { EarlierMessage, InboundEvent } from '../../core/message.ts';
import type { Logger } from '../../lib/logger.ts';
import { readContent } from './content.ts';
import type { Names } from './names.ts';
import { isOwn, senderOf } from './parse-message.ts';
import type { Places } from './places.ts';
import { isNewer, records, text, timestamp } from './wire.ts';
import type { Json } from './wire.ts';
import type { Workspace } from './workspaces.ts';

export interface ThreadReading {
  readonly workspaces: readonly Workspace[];
  readonly places: Places;
  readonly names: Names;
  readonly log: Logger;
}

const mostMessages = 30;
const patienceMs = 3_000;

const authorOf = async ({ names }: ThreadReading, workspace: Workspace, raw: Json, signal: AbortSignal): Promise<Pick<EarlierMessage, 'author' | 'sender'>> => {
  const user = text(raw['user']);
  if (isOwn(workspace, raw)) return { author: 'you', sender: 'self' };
  const author = text(raw['username']) ?? (user === undefined ? undefined : await names.person(workspace, user, signal)) ?? user ?? 'somebody';
  const sender = senderOf(raw);
  return { author, ...(sender !== undefined && { sender }) };
};

const fetchThread = async (reading: ThreadReading, workspace: Workspace, thread: { channel: string; ts: string; before: string }, signal: AbortSignal): Promise<readonly EarlierMessage[]> => {
  const { channel, ts, before } = thread;
  const answer = await workspace.api.repeatable('conversations.replies', { channel, ts, latest: before, limit: 200 }, signal, 'chat');
  const messages = records(answer['messages']).filter((raw) => isNewer(before, timestamp(raw['ts']) ?? before));
  const earlier: EarlierMessage[] = [];
  for (const raw of messages.slice(-mostMessages)) {
    const content = readContent(raw, workspace.teamId);
    if (content !== undefined && content.text !== '') earlier.push({ ...(await authorOf(reading, workspace, raw, signal)), text: content.text });
  }
  return earlier;
};

/** Whoever is called into a thread for the first time is told what was said there before. Never fails, and never waits long. */
export const withThreadSoFar = async (reading: ThreadReading, event: InboundEvent, signal: AbortSignal): Promise<InboundEvent> => {
  const { chat, messageId, replyTo } = event;
  const [ts, before] = [timestamp(chat.threadId), timestamp(messageId)];
  const workspace = reading.workspaces.find(({ teamId }) => teamId === chat.scopeId);
  if (event.kind !== 'message' || !event.addressed || replyTo === undefined || workspace === undefined || ts === undefined || before === undefined) return event;
  if (reading.places.has({ teamId: workspace.teamId, channelId: chat.id, threadTs: ts })) return event;
  try {
    const earlier = await fetchThread(reading, workspace, { channel: chat.id, ts, before }, AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]));
    return earlier.length === 0 ? event : { ...event, earlier };
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    reading.log.info({ channel: chat.id, thread: ts, reason: error.message }, 'slack.thread.unread');
    return event;
  }
};
