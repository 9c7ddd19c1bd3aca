import type { ChatsAnswer, JournalFrame, LiveFrame, MessageEntry, MessagesAnswer, WireChat } from '../../src/platforms/web/wire.ts';

export interface Message {
  readonly id: string;
  readonly seq: number;
  readonly atMs: number;
  readonly from: 'owner' | 'agent';
  readonly text: string;
  readonly plain: boolean;
  readonly files: MessageEntry['files'];
  readonly choices: MessageEntry['choices'];
  readonly replyTo: string | undefined;
  readonly reaction: string | null;
  /** Data of the button that was pressed. */
  readonly pressed: string | undefined;
}

/** A chat as far as it has been read. */
export interface OpenChat {
  readonly frames: readonly JournalFrame[];
  readonly messages: readonly Message[];
  readonly more: boolean;
  /** The newest page has arrived. */
  readonly loaded: boolean;
}

export interface State {
  readonly title: string;
  readonly commands: ChatsAnswer['commands'];
  /** Newest first. */
  readonly chats: readonly WireChat[];
  readonly open: Readonly<Record<string, OpenChat>>;
  /** Texts that are still growing, by message. */
  readonly previews: Readonly<Record<string, { readonly chat: string; readonly text: string }>>;
  readonly typingUntilMs: Readonly<Record<string, number>>;
  /** Chats with something new that was not looked at in this tab. */
  readonly unread: Readonly<Record<string, true>>;
  readonly cursor: number;
}

export const emptyState: State = { title: 'Hermes', commands: [], chats: [], open: {}, previews: {}, typingUntilMs: {}, unread: {}, cursor: 0 };

const without = <V>(record: Readonly<Record<string, V>>, key: string): Readonly<Record<string, V>> => {
  if (!(key in record)) return record;
  const { [key]: _, ...rest } = record;
  return rest;
};

const toMessage = (frame: JournalFrame, entry: MessageEntry): Message => ({
  id: entry.id,
  seq: frame.seq,
  atMs: frame.atMs,
  from: entry.from,
  text: entry.text,
  plain: entry.plain === true,
  files: entry.files,
  choices: entry.choices,
  replyTo: entry.replyTo,
  reaction: null,
  pressed: undefined,
});

/** The messages after one more entry; those it does not concern stay the same objects. */
const fold = (messages: readonly Message[], frame: JournalFrame): readonly Message[] => {
  const { entry } = frame;
  if (entry.type === 'hide' || entry.type === 'name') return messages;
  if (entry.type === 'message') return messages.some((message) => message.id === entry.id) ? messages : [...messages, toMessage(frame, entry)];
  const change = (update: Partial<Message>): readonly Message[] => messages.map((message) => (message.id === entry.id ? { ...message, ...update } : message));
  switch (entry.type) {
    case 'edit':
      return change({ text: entry.text, plain: entry.plain === true, choices: entry.choices, pressed: undefined });
    case 'remove':
      return messages.filter((message) => message.id !== entry.id);
    case 'reaction':
      return change({ reaction: entry.emoji });
    case 'press':
      return change({ pressed: entry.data });
    default:
      entry satisfies never;
      return messages;
  }
};

const titleFrom = (text: string): string => {
  const line = text.replaceAll(/[`*_#>]+/g, '').replaceAll(/\s+/g, ' ').trim();
  return line.length > 60 ? `${line.slice(0, 60)}…` : line;
};

const listChat = (chats: readonly WireChat[], frame: JournalFrame): readonly WireChat[] => {
  const { chat, entry, atMs } = frame;
  const rest = chats.filter((one) => one.id !== chat);
  if (entry.type === 'hide') return rest;
  if (entry.type === 'name') return chats.map((one) => (one.id === chat ? { ...one, title: entry.name } : one));
  if (entry.type !== 'message') return chats;
  const known = chats.find((one) => one.id === chat);
  const title = known === undefined || known.title === '' ? titleFrom(entry.text === '' ? (entry.files[0]?.name ?? '') : entry.text) : known.title;
  return [{ id: chat, title, lastMs: Math.max(atMs, known?.lastMs ?? 0) }, ...rest];
};

const addFrame = (open: OpenChat, frame: JournalFrame): OpenChat =>
  (open.frames.at(-1)?.seq ?? 0) >= frame.seq ? open : { ...open, frames: [...open.frames, frame], messages: fold(open.messages, frame) };

/** Takes in a stored entry; one that is known already changes nothing. `looked` is the chat the person sees. */
export const applyFrame = (state: State, frame: JournalFrame, looked: string | undefined): State => {
  if (frame.seq <= state.cursor) return state;
  const { chat, entry } = frame;
  const known = state.open[chat];
  const speaks = entry.type === 'message' && entry.from === 'agent';
  return {
    ...state,
    cursor: frame.seq,
    chats: listChat(state.chats, frame),
    open: known === undefined ? state.open : { ...state.open, [chat]: addFrame(known, frame) },
    previews: entry.type === 'edit' || entry.type === 'remove' ? without(state.previews, entry.id) : state.previews,
    typingUntilMs: speaks ? without(state.typingUntilMs, chat) : state.typingUntilMs,
    unread: speaks && chat !== looked ? { ...state.unread, [chat]: true } : state.unread,
  };
};

/** From now on entries of the chat are kept, so that none falls between them and the first page. */
export const openChat = (state: State, chat: string): State =>
  state.open[chat] === undefined ? { ...state, open: { ...state.open, [chat]: { frames: [], messages: [], more: false, loaded: false } } } : state;

/** Puts a page of older entries, or the newest page of a chat just opened, where it belongs. */
export const addPage = (state: State, chat: string, page: MessagesAnswer): State => {
  const known = state.open[chat]?.frames ?? [];
  const seen = new Set(known.map((frame) => frame.seq));
  const frames = [...known, ...page.frames.filter((frame) => !seen.has(frame.seq))].toSorted((a, b) => a.seq - b.seq);
  return { ...state, open: { ...state.open, [chat]: { frames, messages: frames.reduce(fold, []), more: page.more, loaded: true } } };
};

export const applyLive = (state: State, frame: LiveFrame, nowMs: number): State => {
  switch (frame.type) {
    case 'live': {
      const text = `${(state.previews[frame.id]?.text ?? '').slice(0, frame.at)}${frame.text}`;
      return { ...state, previews: { ...state.previews, [frame.id]: { chat: frame.chat, text } }, typingUntilMs: without(state.typingUntilMs, frame.chat) };
    }
    case 'typing':
      return { ...state, typingUntilMs: { ...state.typingUntilMs, [frame.chat]: nowMs + frame.forMs } };
    case 'notice':
    case 'ready':
      return state;
    default:
      frame satisfies never;
      return state;
  }
};

export const dropPreviews = (state: State, ids: ReadonlySet<string>): State =>
  ids.size === 0 ? state : { ...state, previews: Object.fromEntries(Object.entries(state.previews).filter(([id]) => !ids.has(id))) };

export const markRead = (state: State, chat: string): State => ({ ...state, unread: without(state.unread, chat) });
