import { useEffect, useRef } from 'preact/hooks';
import { focusComposer } from './composer.tsx';
import type { Session } from './session.ts';

const isEditable = (target: EventTarget | null): boolean => target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

const moveChat = (session: Session, step: 1 | -1): void => {
  const { chats } = session.state.get();
  const at = chats.findIndex((chat) => chat.id === session.view.get().chat);
  const next = chats[at + step];
  if (next !== undefined) session.show(next.id);
};

/** Keys that work everywhere on the page. */
export const useKeys = (session: Session, onEscape: () => void): void => {
  const escape = useRef(onEscape);
  escape.current = onEscape;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.isComposing) return;
      if (event.key === 'Escape') escape.current();
      else if (event.key === '/' && !isEditable(event.target)) focusComposer();
      else if (event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) moveChat(session, event.key === 'ArrowDown' ? 1 : -1);
      else if ((event.ctrlKey || event.metaKey) && event.shiftKey && event.key.toLowerCase() === 'o') {
        event.preventDefault();
        session.newChat();
      }
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [session]);
};
