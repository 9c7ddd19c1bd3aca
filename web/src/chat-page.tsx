import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Composer, composerId, focusComposer, sendStop, useBusy } from './composer.tsx';
import { Conversation } from './conversation.tsx';
import { Menu, Pen } from './icons.tsx';
import { useKeys } from './keys.ts';
import type { Session } from './session.ts';
import { Sidebar } from './sidebar.tsx';
import { useStore } from './store.ts';

const bannerAfterMs = 1_200;

/** Shown only when the stream stays away: most breaks heal before anybody needs to know. */
const ConnectionBanner = ({ session }: { readonly session: Session }): VNode | null => {
  const lost = useStore(session.view, (view) => view.link !== 'open');
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(lost), lost ? bannerAfterMs : 0);
    return () => clearTimeout(timer);
  }, [lost]);
  return shown ? (
    <div class="banner" role="status">
      <span>The gateway cannot be reached. What you write is kept and sent as soon as it is back.</span>
      <button type="button" class="link" onClick={() => session.retryNow()}>
        Try now
      </button>
    </div>
  ) : null;
};

const Notices = ({ session }: { readonly session: Session }): VNode => {
  const { items, drop } = session.notices;
  const notices = useStore(items, (all) => all);
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.map(({ id, text, action }) => (
        <div key={id} class="notice">
          <span>{text}</span>
          {action !== undefined && (
            <button type="button" class="link" onClick={() => (drop(id), action.run())}>
              {action.label}
            </button>
          )}
        </div>
      ))}
    </div>
  );
};

/** Reads every finished answer out once; the stream itself would be read again with every word. */
const Spoken = ({ session }: { readonly session: Session }): VNode => {
  const spoken = useStore(session.view, (view) => view.spoken);
  return (
    <div class="offscreen" aria-live="polite" aria-atomic="true">
      {spoken}
    </div>
  );
};

const useTitle = (session: Session, chatTitle: string): void => {
  const title = useStore(session.state, (state) => state.title);
  const news = useStore(session.state, (state) => Object.keys(state.unread).length > 0);
  useEffect(() => {
    document.title = `${news ? '● ' : ''}${chatTitle === '' ? '' : `${chatTitle} · `}${title}`;
  }, [title, news, chatTitle]);
};

const isFileDrag = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') === true;

/** Takes files that are dropped anywhere on an element. */
const useFileDrop = (onFiles: (files: readonly File[]) => void) => {
  const [dropping, setDropping] = useState(false);
  const listeners = {
    onDragOver(event: DragEvent): void {
      if (!isFileDrag(event)) return;
      event.preventDefault();
      setDropping(true);
    },
    onDragLeave(event: DragEvent): void {
      const stays = event.currentTarget instanceof Node && event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget);
      if (!stays) setDropping(false);
    },
    onDrop(event: DragEvent): void {
      setDropping(false);
      if (!isFileDrag(event)) return;
      event.preventDefault();
      onFiles([...(event.dataTransfer?.files ?? [])]);
    },
  };
  return { dropping, listeners };
};

export const ChatPage = ({ session, onLeave }: { readonly session: Session; readonly onLeave: () => void }): VNode => {
  const chat = useStore(session.view, (view) => view.chat);
  const chatTitle = useStore(session.state, (state) => state.chats.find((one) => one.id === chat)?.title ?? '');
  const busy = useBusy(session, chat);
  const [menuOpen, setMenuOpen] = useState(false);
  const { dropping, listeners } = useFileDrop((files) => session.uploads.add(chat, files));
  useTitle(session, chatTitle);
  useKeys(session, () => {
    if (menuOpen) setMenuOpen(false);
    else if (busy) sendStop(session, chat);
  });
  return (
    <div class="page">
      <a class="skip" href={`#${composerId}`} onClick={(event) => (event.preventDefault(), focusComposer())}>
        Skip to the message field
      </a>
      <Sidebar session={session} open={menuOpen} onClose={() => setMenuOpen(false)} onLeave={onLeave} />
      <main {...listeners}>
        <header class="top">
          <button type="button" class="round only-narrow" aria-label="Conversations" aria-expanded={menuOpen} aria-controls="sidebar" onClick={() => setMenuOpen(true)}>
            <Menu />
          </button>
          <h2>{chatTitle === '' ? 'New conversation' : chatTitle}</h2>
          <button type="button" class="round only-narrow" aria-label="New conversation" onClick={() => session.newChat()}>
            <Pen />
          </button>
        </header>
        <ConnectionBanner session={session} />
        <Conversation session={session} chat={chat} />
        <Composer session={session} chat={chat} />
        {dropping && <div class="drop">Drop files to attach them</div>}
        <Notices session={session} />
      </main>
      <Spoken session={session} />
    </div>
  );
};
