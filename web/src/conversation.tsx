import type { VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { dayOf, startOfDay } from './format.ts';
import { Down } from './icons.tsx';
import { MessageRow, OutgoingRow } from './message.tsx';
import { usePinnedScroll } from './scroll.ts';
import type { Session } from './session.ts';
import type { Message, OpenChat } from './state.ts';
import { useStore } from './store.ts';
import { Welcome } from './welcome.tsx';

const noMessages: readonly Message[] = [];

/** Asks for older messages when the top comes near. */
const OlderMessages = ({ session, chat }: { readonly session: Session; readonly chat: string }): VNode => {
  const mark = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) void session.loadOlder(chat);
    });
    if (mark.current !== null) observer.observe(mark.current);
    return () => observer.disconnect();
  });
  return (
    <div ref={mark} class="older">
      Loading earlier messages…
    </div>
  );
};

/** Whether a typing sign is to be shown now; it runs out by itself. */
export const useTyping = (session: Session, chat: string): boolean => {
  const untilMs = useStore(session.state, (state) => state.typingUntilMs[chat] ?? 0);
  const [, look] = useState(0);
  useEffect(() => {
    const timer = setTimeout(() => look((count) => count + 1), Math.max(0, untilMs - Date.now()) + 20);
    return () => clearTimeout(timer);
  }, [untilMs]);
  return untilMs > Date.now();
};

const Typing = (): VNode => (
  <div class="typing" role="status" aria-label="An answer is on its way">
    <span />
    <span />
    <span />
  </div>
);

interface RowsProps {
  readonly session: Session;
  readonly chat: string;
  readonly messages: readonly Message[];
}

/** For each message the one it answers, unless that is plain from where it stands. */
const quotesOf = (messages: readonly Message[]): readonly (Message | undefined)[] => {
  const before = new Map<string, Message>();
  let lastOwn: string | undefined;
  let last: string | undefined;
  return messages.map((message) => {
    const { id, from, replyTo } = message;
    const expected = from === 'agent' ? lastOwn : last;
    const quoted = replyTo === undefined || replyTo === expected ? undefined : before.get(replyTo);
    before.set(id, message);
    last = id;
    if (from === 'owner') lastOwn = id;
    return quoted;
  });
};

const Rows = ({ session, chat, messages }: RowsProps): VNode => {
  const previews = useStore(session.state, (state) => state.previews);
  const quotes = useMemo(() => quotesOf(messages), [messages]);
  const nowMs = Date.now();
  return (
    <>
      {messages.map((message, index) => {
        const before = messages[index - 1];
        const newDay = before === undefined || startOfDay(before.atMs) !== startOfDay(message.atMs);
        return [
          newDay && (
            <div key={`day-${message.id}`} class="day" role="separator">
              <span>{dayOf(message.atMs, nowMs)}</span>
            </div>
          ),
          <MessageRow key={message.id} session={session} chat={chat} message={message} preview={previews[message.id]?.text} quoted={quotes[index]} />,
        ];
      })}
    </>
  );
};

const isSettled = (open: OpenChat | undefined): boolean => open?.loaded === true;

export const Conversation = ({ session, chat }: { readonly session: Session; readonly chat: string }): VNode => {
  const open = useStore(session.state, (state) => state.open[chat]);
  const outgoing = useStore(session.outbox.items, (items) => items);
  const typing = useTyping(session, chat);
  const messages = open?.messages ?? noMessages;
  const shown = useMemo(() => new Set(messages.map((message) => message.id)), [messages]);
  const waiting = outgoing.filter((item) => item.chat === chat && !shown.has(item.id));
  const { scroller, content, atEnd, toEnd } = usePinnedScroll(chat, messages[0]?.id ?? waiting[0]?.id);
  const lastOwn = waiting.at(-1)?.id;
  useEffect(() => {
    if (lastOwn !== undefined) toEnd();
  }, [lastOwn, toEnd]);
  const empty = isSettled(open) && messages.length === 0 && waiting.length === 0 && open?.more === false;
  return (
    <div class="conversation">
      <div class="scroller" ref={scroller} tabIndex={-1}>
        <div class="stream" ref={content} role="log" aria-live="off" aria-label="Messages">
          {open?.more === true && <OlderMessages session={session} chat={chat} />}
          {empty && <Welcome session={session} chat={chat} />}
          <Rows session={session} chat={chat} messages={messages} />
          {waiting.map((item) => (
            <OutgoingRow key={item.id} item={item} session={session} />
          ))}
          {typing && <Typing />}
        </div>
      </div>
      {!atEnd && (
        <button type="button" class="to-end" onClick={toEnd}>
          <Down /> Latest messages
        </button>
      )}
    </div>
  );
};
