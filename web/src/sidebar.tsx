import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { logOut } from './api.ts';
import { shortTimeOf } from './format.ts';
import { Leave, Moon, Pen, People, Sun, Trash, Wing } from './icons.tsx';
import { PeopleDialog } from './people.tsx';
import type { Session } from './session.ts';
import { useStore } from './store.ts';
import { chooseTheme, currentTheme, followSystemTheme } from './theme.ts';

const ThemeButton = (): VNode => {
  const [theme, setTheme] = useState(currentTheme());
  useEffect(() => followSystemTheme(() => setTheme(currentTheme())), []);
  const other = theme === 'dark' ? 'light' : 'dark';
  const toggle = (): void => {
    chooseTheme(other);
    setTheme(other);
  };
  return (
    <button type="button" class="quiet wide" aria-label={`Use the ${other} theme`} onClick={toggle}>
      {theme === 'dark' ? <Sun /> : <Moon />} {other === 'dark' ? 'Dark' : 'Light'}
    </button>
  );
};

const ChatList = ({ session, onPick }: { readonly session: Session; readonly onPick: () => void }): VNode => {
  const chats = useStore(session.state, (state) => state.chats);
  const unread = useStore(session.state, (state) => state.unread);
  const current = useStore(session.view, (view) => view.chat);
  const nowMs = Date.now();
  if (chats.length === 0) return <p class="no-chats">Conversations appear here.</p>;
  return (
    <ul class="chats">
      {chats.map((chat) => (
        <li key={chat.id} class={chat.id === current ? 'current' : undefined}>
          <a
            href={`#c/${chat.id}`}
            aria-current={chat.id === current ? 'page' : undefined}
            onClick={(event) => {
              event.preventDefault();
              session.show(chat.id);
              onPick();
            }}
          >
            <span class="chat-title">{chat.title === '' ? 'Conversation' : chat.title}</span>
            {unread[chat.id] === true ? <span class="dot" aria-label="New messages" /> : <span class="chat-time">{shortTimeOf(chat.lastMs, nowMs)}</span>}
          </a>
          <button type="button" class="quiet" aria-label={`Hide ${chat.title}`} title="Hide" onClick={() => session.hide(chat.id)}>
            <Trash />
          </button>
        </li>
      ))}
    </ul>
  );
};

interface Props {
  readonly session: Session;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onLeave: () => void;
}

export const Sidebar = ({ session, open, onClose, onLeave }: Props): VNode => {
  const title = useStore(session.state, (state) => state.title);
  const [showsPeople, setShowsPeople] = useState(false);
  const startNew = (): void => {
    session.newChat();
    onClose();
  };
  return (
    <>
      <div class={open ? 'scrim shown' : 'scrim'} onClick={onClose} />
      <nav class={open ? 'sidebar shown' : 'sidebar'} id="sidebar" aria-label="Conversations">
        <header>
          <span class="mark">
            <Wing />
          </span>
          <h1>{title}</h1>
        </header>
        <button type="button" class="new-chat" onClick={startNew}>
          <Pen /> New conversation
        </button>
        <ChatList session={session} onPick={onClose} />
        <footer>
          <button type="button" class="quiet wide" onClick={() => setShowsPeople(true)}>
            <People /> People
          </button>
          <ThemeButton />
          <button type="button" class="quiet wide" onClick={() => void logOut().finally(onLeave)}>
            <Leave /> Log out
          </button>
        </footer>
      </nav>
      {showsPeople && <PeopleDialog onClose={() => setShowsPeople(false)} />}
    </>
  );
};
