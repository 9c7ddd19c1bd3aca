import type { ReplyContext } from '../../core/message.ts';
import type { AccountData } from '../contract.ts';
import type { MatrixApi } from './api.ts';
import { readContent } from './content.ts';
import { readReaction } from './parse.ts';
import { newRecent } from './recent.ts';
import { list, readRelation, record, text } from './wire.ts';
import type { RoomEvent } from './wire.ts';

/** What later events may want to know about an earlier one. */
interface Brief {
  readonly sender: string;
  readonly text: string;
  readonly thread?: string;
}

export interface Timeline {
  /** Keeps an event that can be read in mind. */
  remember(event: RoomEvent): void;
  /** What a message answers; undefined when it answers nothing. */
  replyTo(roomId: string, event: RoomEvent, signal: AbortSignal): Promise<ReplyContext | undefined>;
  threadOf(roomId: string, eventId: string, signal: AbortSignal): Promise<string | undefined>;
  /** The reaction that a redaction takes back, if it is known. */
  undone(event: RoomEvent): { readonly messageId: string; readonly emoji: string } | undefined;
  /** The agent has spoken in the thread; durable when it resolves. */
  joinThread(roomId: string, thread: string): Promise<void>;
  isInThread(roomId: string, thread: string | undefined): Promise<boolean>;
}

const eventsKept = 2000;
const threadsKept = 500;
const threadsKey = 'threads';
const quoteLength = 2000;

const briefOf = (event: RoomEvent): Brief => {
  const { thread, inReplyTo } = readRelation(event.content);
  const said = readContent(event.type, event.content, inReplyTo !== undefined)?.text ?? '';
  return { sender: event.sender, text: said.slice(0, quoteLength).toWellFormed(), ...(thread !== undefined && { thread }) };
};

export interface TimelineParts {
  readonly api: Pick<MatrixApi, 'event'>;
  readonly data: AccountData;
  readonly userId: () => string;
  /** Reads an encrypted event; undefined when there is no key for it. */
  readonly decrypt: (roomId: string, event: RoomEvent) => Promise<RoomEvent | undefined>;
}

/** Memory of what was said lately. What it does not know it asks the homeserver for. */
export const newTimeline = ({ api, data, userId, decrypt }: TimelineParts): Timeline => {
  const briefs = newRecent<Brief>(eventsKept);
  const reactions = newRecent<{ messageId: string; emoji: string }>(eventsKept);
  let threads: Promise<Set<string>> | undefined;

  const loadThreads = async (): Promise<Set<string>> => {
    const stored = await data.get(threadsKey);
    return new Set(stored === undefined ? [] : list(JSON.parse(stored)).map(text).filter((name) => name !== undefined));
  };
  const ourThreads = (): Promise<Set<string>> => (threads ??= loadThreads());

  const remember = (event: RoomEvent): void => {
    const reaction = readReaction(event);
    if (reaction !== undefined) reactions.set(event.id, reaction);
    else if (event.type === 'm.room.message' || event.type === 'm.sticker') briefs.set(event.id, briefOf(event));
  };

  const lookUp = async (roomId: string, eventId: string, signal: AbortSignal): Promise<Brief | undefined> => {
    const known = briefs.get(eventId);
    if (known !== undefined) return known;
    const event = await api.event(roomId, eventId, signal);
    if (event === undefined) return undefined;
    const readable = event.type === 'm.room.encrypted' ? ((await decrypt(roomId, event)) ?? event) : event;
    // A message that was edited is shown with its newest words.
    const edited = record(record(record(record(event.raw['unsigned'])?.['m.relations'])?.['m.replace'])?.['content']);
    const newest = record(edited?.['m.new_content']);
    const brief = briefOf(newest === undefined ? readable : { ...readable, content: { ...newest, 'm.relates_to': readable.content['m.relates_to'] } });
    briefs.set(eventId, brief);
    return brief;
  };

  return {
    remember,
    async replyTo(roomId, event, signal) {
      const { inReplyTo } = readRelation(event.content);
      if (inReplyTo === undefined) return undefined;
      const brief = await lookUp(roomId, inReplyTo, signal);
      if (brief === undefined) return { messageId: inReplyTo, isOwn: false };
      return { messageId: inReplyTo, isOwn: brief.sender === userId(), authorId: brief.sender, ...(brief.text !== '' && { text: brief.text }) };
    },
    threadOf: async (roomId, eventId, signal) => (await lookUp(roomId, eventId, signal))?.thread,
    undone: (event) => (event.redacts === undefined ? undefined : reactions.get(event.redacts)),
    async joinThread(roomId, thread) {
      const joined = await ourThreads();
      const name = `${roomId} ${thread}`;
      if (joined.has(name)) return;
      joined.add(name);
      for (const oldest of joined) {
        if (joined.size <= threadsKept) break;
        joined.delete(oldest);
      }
      await data.set(threadsKey, JSON.stringify([...joined]));
    },
    isInThread: async (roomId, thread) => thread !== undefined && (await ourThreads()).has(`${roomId} ${thread}`),
  };
};
