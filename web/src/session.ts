import { markdownWords } from '../../src/lib/markdown/words.ts';
import type { JournalFrame, LiveFrame } from '../../src/platforms/web/wire.ts';
import { ApiError, getChats, getMessages, getSession, hideChat, newClientId, postPress } from './api.ts';
import { connect } from './connection.ts';
import type { Connection, Link } from './connection.ts';
import { openDrafts } from './drafts.ts';
import type { Drafts } from './drafts.ts';
import { newNotices, noticeMs } from './notices.ts';
import type { Notices } from './notices.ts';
import { openOutbox } from './outbox.ts';
import type { Outbox } from './outbox.ts';
import { addPage, applyFrame, applyLive, dropPreviews, emptyState, markRead, openChat } from './state.ts';
import type { State } from './state.ts';
import { newStore } from './store.ts';
import type { Store } from './store.ts';
import { newUploads } from './uploads.ts';
import type { Uploads } from './uploads.ts';

/** What the person looks at, apart from the conversations themselves. */
export interface View {
  readonly chat: string;
  readonly link: Link;
  /** The final words of the latest answer, for those who listen instead of looking. */
  readonly spoken: string;
}

interface Parts {
  readonly state: Store<State>;
  readonly view: Store<View>;
  readonly outbox: Outbox;
  readonly notices: Notices;
  readonly drafts: Drafts;
  readonly uploads: Uploads;
  /** Tells the person about a refused or lost request. */
  readonly report: (error: unknown) => void;
}

/** One logged-in tab: the conversations, and everything a person can do with them. */
export interface Session extends Omit<Parts, 'report'> {
  show(chat: string): void;
  newChat(): void;
  loadOlder(chat: string): Promise<void>;
  press(chat: string, messageId: string, data: string): Promise<void>;
  /** Takes the chat off the list; the person can still change their mind for a moment. */
  hide(chat: string): void;
  retryNow(): void;
  close(): void;
}

const chatFromHash = (): string | undefined => /^#c\/([\w.:@+-]{1,128})$/.exec(decodeURIComponent(location.hash))?.[1];

const load = async ({ state, report }: Parts, chat: string, before?: number): Promise<void> => {
  try {
    const page = await getMessages(chat, before);
    state.set((now) => addPage(now, chat, page));
  } catch (error) {
    report(error);
  }
};

const show = (parts: Parts, chat: string): void => {
  const { state, view } = parts;
  view.set((now) => ({ ...now, chat }));
  if (chatFromHash() !== chat) history.pushState(null, '', `/#c/${chat}`);
  state.set((now) => markRead(openChat(now, chat), chat));
  if (state.get().open[chat]?.loaded === false) void load(parts, chat);
};

const newChat = (parts: Parts): void => {
  const chat = newClientId();
  parts.state.set((now) => addPage(now, chat, { frames: [], more: false }));
  show(parts, chat);
};

const hide = (parts: Parts, chat: string): void => {
  const { state, view, notices, report } = parts;
  const before = state.get().chats;
  state.set((now) => ({ ...now, chats: now.chats.filter((one) => one.id !== chat) }));
  if (view.get().chat === chat) {
    const next = state.get().chats[0]?.id;
    if (next === undefined) newChat(parts);
    else show(parts, next);
  }
  const timer = setTimeout(() => void hideChat(chat).catch(report), noticeMs);
  const undo = (): void => {
    clearTimeout(timer);
    state.set((now) => ({ ...now, chats: before }));
  };
  notices.notify('Conversation hidden', { label: 'Undo', run: undo });
};

const takeEntry = ({ state, view, outbox }: Parts, frame: JournalFrame): void => {
  const { entry, chat } = frame;
  const looked = document.visibilityState === 'visible' ? view.get().chat : undefined;
  state.set((now) => applyFrame(now, frame, looked));
  if (entry.type === 'message' && entry.from === 'owner') outbox.discard(entry.id);
  else if ((entry.type === 'message' || entry.type === 'edit') && chat === view.get().chat) view.set((now) => ({ ...now, spoken: markdownWords(entry.text) }));
};

/** Asked when the stream broke. Only a gateway that answers can say that the login is over. */
const isStillLoggedIn = async (onLoggedOut: () => void): Promise<boolean> => {
  try {
    const { loggedIn } = await getSession();
    if (!loggedIn) onLoggedOut();
    return loggedIn;
  } catch (error) {
    if (error instanceof ApiError) return true;
    throw error;
  }
};

const follow = (parts: Parts, onLoggedOut: () => void): Connection => {
  const { state, view, outbox, notices } = parts;
  /** Texts that were growing before the stream broke; those that the gateway does not mention again are over. */
  let stale = new Set<string>();
  const onLive = (frame: LiveFrame): void => {
    if (frame.type === 'live') stale.delete(frame.id);
    if (frame.type === 'ready') state.set((now) => dropPreviews(now, stale));
    if (frame.type === 'notice') notices.notify(frame.text);
    state.set((now) => applyLive(now, frame, Date.now()));
  };
  const onLink = (link: Link): void => {
    view.set((now) => ({ ...now, link }));
    if (link !== 'open') return;
    stale = new Set(Object.keys(state.get().previews));
    void outbox.flush();
    const { chat } = view.get();
    if (state.get().open[chat]?.loaded === false) void load(parts, chat);
  };
  return connect({ cursor: () => state.get().cursor, onEntry: (frame) => takeEntry(parts, frame), onLive, onLink, mayGoOn: () => isStillLoggedIn(onLoggedOut) });
};

export const openSession = async (onLoggedOut: () => void): Promise<Session> => {
  const start = await getChats();
  const notices = newNotices();
  const report = (error: unknown): void => {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401) onLoggedOut();
    else notices.notify(error.status === 0 ? 'The gateway cannot be reached right now.' : error.message);
  };
  const state = newStore<State>({ ...emptyState, ...start });
  const view = newStore<View>({ chat: '', link: 'connecting', spoken: '' });
  const drafts = openDrafts();
  const parts: Parts = { state, view, notices, report, drafts, uploads: newUploads(drafts, notices), outbox: openOutbox(onLoggedOut) };

  const leaving = new AbortController();
  addEventListener('popstate', () => show(parts, chatFromHash() ?? view.get().chat), { signal: leaving.signal });
  document.addEventListener('visibilitychange', () => state.set((now) => (document.visibilityState === 'visible' ? markRead(now, view.get().chat) : now)), { signal: leaving.signal });
  const first = chatFromHash() ?? start.chats[0]?.id;
  history.replaceState(null, '', first === undefined ? '/' : `/#c/${first}`);
  if (first === undefined) newChat(parts);
  else show(parts, first);
  const connection = follow(parts, onLoggedOut);

  return {
    ...parts,
    show: (chat) => show(parts, chat),
    newChat: () => newChat(parts),
    async loadOlder(chat) {
      const oldest = state.get().open[chat]?.frames[0]?.seq;
      if (oldest !== undefined) await load(parts, chat, oldest);
    },
    press: (chat, messageId, data) => postPress(chat, { id: newClientId(), messageId, data }).then(() => undefined, report),
    hide: (chat) => hide(parts, chat),
    retryNow: () => connection.retryNow(),
    close() {
      connection.close();
      leaving.abort();
    },
  };
};
