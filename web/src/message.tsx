import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { markdownWords } from '../../src/lib/markdown/words.ts';
import { Attachments } from './attachments.tsx';
import { CopyButton } from './code-block.tsx';
import { momentOf, timeOf } from './format.ts';
import { Alert, Clock, Reply } from './icons.tsx';
import { Markdown } from './markdown.tsx';
import type { Outgoing } from './outbox.ts';
import type { Session } from './session.ts';
import type { Message } from './state.ts';

const Quote = ({ quoted }: { readonly quoted: Message }): VNode => (
  <div class="quoted">
    <span>{quoted.from === 'owner' ? 'You' : 'Answer'}</span> {markdownWords(quoted.text).slice(0, 140)}
  </div>
);

const Words = ({ text, plain, growing }: { readonly text: string; readonly plain: boolean; readonly growing: boolean }): VNode =>
  plain ? <p class="as-written">{text}</p> : <Markdown text={text} growing={growing} />;

interface ChoicesProps {
  readonly message: Message;
  readonly onPress: (data: string) => void;
}

/** Buttons rest after one was pressed, until the gateway changes the message. They keep the focus, so they are not `disabled`. */
const Choices = ({ message, onPress }: ChoicesProps): VNode | null =>
  message.choices.length === 0 ? null : (
    <div class="choices" role="group" aria-label="Choices">
      {message.choices.map((row, index) => (
        <div key={index}>
          {row.map(({ label, data }) => (
            <button
              key={data}
              type="button"
              class={message.pressed === data ? 'choice chosen' : 'choice'}
              aria-disabled={message.pressed !== undefined}
              onClick={() => {
                if (message.pressed === undefined) onPress(data);
              }}
            >
              {label}
            </button>
          ))}
        </div>
      ))}
    </div>
  );

const Time = ({ atMs }: { readonly atMs: number }): VNode => (
  <time dateTime={new Date(atMs).toISOString()} title={momentOf(atMs)}>
    {timeOf(atMs)}
  </time>
);

export interface MessageProps {
  readonly session: Session;
  readonly chat: string;
  readonly message: Message;
  /** The text as it is growing. */
  readonly preview: string | undefined;
  readonly quoted: Message | undefined;
}

const MessageArticle = ({ session, chat, message, preview, quoted }: MessageProps): VNode => {
  const text = preview ?? message.text;
  const growing = preview !== undefined;
  return (
    <article class={`message from-${message.from}${growing ? ' growing' : ''}`} data-id={message.id} aria-busy={growing} aria-label={message.from === 'owner' ? 'You' : 'Answer'}>
      {quoted !== undefined && <Quote quoted={quoted} />}
      {text !== '' && (
        <div class="body">
          <Words text={text} plain={message.plain || message.from === 'owner'} growing={growing} />
        </div>
      )}
      <Attachments files={message.files} />
      {!growing && <Choices message={message} onPress={(data) => void session.press(chat, message.id, data)} />}
      <footer>
        {message.reaction !== null && <span class="reaction">{message.reaction}</span>}
        <Time atMs={message.atMs} />
        <span class="actions">
          <CopyButton text={text} label="Copy text" />
          <button type="button" class="quiet" aria-label="Reply" title="Reply" onClick={() => session.drafts.change(chat, { replyTo: message.id })}>
            <Reply />
          </button>
        </span>
      </footer>
    </article>
  );
};

/** Rendered again only when something about this very message changed, however fast another one grows. */
export const MessageRow = (props: MessageProps): VNode => {
  const { session, chat, message, preview, quoted } = props;
  return useMemo(() => <MessageArticle {...props} />, [session, chat, message, preview, quoted]);
};

export const OutgoingRow = ({ item, session }: { readonly item: Outgoing; readonly session: Session }): VNode => (
  <article class="message from-owner outgoing" data-id={item.id} aria-label="You">
    {item.text !== '' && (
      <div class="body">
        <p class="as-written">{item.text}</p>
      </div>
    )}
    <Attachments files={item.files} />
    <footer>
      {item.refused === undefined ? (
        <span class="state">
          <Clock /> {item.stored === true ? 'Stored' : 'Sending…'}
        </span>
      ) : (
        <span class="state failed">
          <Alert /> {item.refused}
          <button type="button" class="link" onClick={() => session.outbox.retry(item.id)}>
            Try again
          </button>
          <button type="button" class="link" onClick={() => session.outbox.discard(item.id)}>
            Discard
          </button>
        </span>
      )}
    </footer>
  </article>
);
