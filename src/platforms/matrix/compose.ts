import { createHash } from 'node:crypto';
import type { OutboundMessage, Target } from '../../core/message.ts';
import { htmlOf, mentionedIn } from './format.ts';
import type { MatrixOptions } from './options.ts';
import type { Json } from './wire.ts';

type Written = Pick<OutboundMessage, 'text' | 'plain'>;

/** The same for the same message, so that the homeserver takes a repeat for what it is. */
export const txnOf = (...parts: readonly string[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('base64url');

/** Words as Matrix wants them: as they are, and as HTML where that shows more. */
export const wordsOf = ({ text, plain }: Written): Json => {
  const body = text.toWellFormed();
  const html = plain === true ? undefined : htmlOf(body);
  return { body, ...(html !== undefined && { format: 'org.matrix.custom.html', formatted_body: html }) };
};

/** Always there, if only empty: without it clients look for names in the text by themselves. */
export const mentionsOf = ({ text }: Written, { allow_room_mentions: roomToo }: Pick<MatrixOptions, 'allow_room_mentions'>): Json => {
  const ids = mentionedIn(text);
  return { 'm.mentions': { ...(ids.length > 0 && { user_ids: ids }), ...(roomToo && /(?<!\w)@room(?!\w)/.test(text) && { room: true }) } };
};

/** Where a message hangs: in its thread, and below the message it answers. Clients without threads are shown a reply. */
export const relationOf = ({ threadId, replyTo }: Pick<Target, 'threadId' | 'replyTo'>, answers: boolean): Json => {
  const anchor = answers ? replyTo : undefined;
  if (threadId !== undefined) {
    const isReply = anchor !== undefined && anchor !== threadId;
    return { 'm.relates_to': { rel_type: 'm.thread', event_id: threadId, is_falling_back: !isReply, 'm.in_reply_to': { event_id: anchor ?? threadId } } };
  }
  return anchor === undefined ? {} : { 'm.relates_to': { 'm.in_reply_to': { event_id: anchor } } };
};

/** What clients that cannot edit show of an edit; the words of the edit itself stand beside it. */
const previewLength = 500;

export const editContent = (messageId: string, message: Written, options: Pick<MatrixOptions, 'allow_room_mentions'>): Json => {
  const fresh = { msgtype: 'm.text', ...wordsOf(message) };
  const start = message.text.slice(0, previewLength).toWellFormed();
  return {
    msgtype: 'm.text',
    body: `* ${start}${start.length < message.text.length ? '…' : ''}`,
    // People were notified of the message; its edits are no news.
    'm.mentions': {},
    'm.new_content': { ...fresh, ...mentionsOf(message, options) },
    'm.relates_to': { rel_type: 'm.replace', event_id: messageId },
  };
};
