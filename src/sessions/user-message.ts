import { replyTarget } from '../core/message.ts';
import type { InboundEvent, Target } from '../core/message.ts';
import { earlierHead, oneLine, quotedEarlier, quotedReply } from '../core/quotes.ts';
import type { Attachment, TranscriptMessage } from '../core/transcript.ts';
import type { InboxItem } from '../store/messages/inbox.ts';

/** Items that are one message: an album, a text that the client has split, calls that belong together. */
export type ItemGroup = readonly [InboxItem, ...InboxItem[]];

/** Pieces of a split text are sent at once; platforms count whole seconds. */
const splitWithinMs = 3_000;

/** Whether an answer there answers the event. */
export const isAnsweredAt = (target: Target, event: InboundEvent): boolean =>
  event.account === target.account && event.chat.id === target.chatId && event.chat.threadId === target.threadId;

/** Whether an event is the next part of one thing that the platform delivers as several messages. */
export const continues = (last: InboundEvent, next: InboundEvent): boolean => {
  if (last.batch === undefined || last.sender.id !== next.sender.id || !isAnsweredAt(replyTarget(last), next)) return false;
  if (last.batch.kind !== 'split') return next.batch?.id === last.batch.id;
  // The last piece of a split text is short and does not know that it is one.
  const isPiece = next.batch === undefined ? next.kind === 'message' && next.media.length === 0 : next.batch.id === last.batch.id;
  return isPiece && next.sentAtMs - last.sentAtMs <= splitWithinMs;
};

/** Puts together what belongs together; the order of arrival stays. */
export const groupItems = (items: readonly InboxItem[]): ItemGroup[] => {
  const groups: [InboxItem, ...InboxItem[]][] = [];
  for (const item of items) {
    const current = groups.at(-1);
    const last = current?.at(-1);
    if (current !== undefined && last !== undefined && continues(last.event, item.event)) current.push(item);
    else groups.push([item]);
  }
  return groups;
};

const quoteLimit = 500;

const shorten = (text: string): string => (text.length > quoteLimit ? `${text.slice(0, quoteLimit)}…`.toWellFormed() : text);

const earlierLimit = 6000;

/** The last lines that fit, in their order. */
const newestFitting = (lines: readonly string[]): readonly string[] => {
  let left = earlierLimit;
  return lines.toReversed().filter((line) => (left -= line.length) >= 0).toReversed();
};

const notesOf = (event: InboundEvent): string[] => {
  const notes: string[] = [];
  const quoted = event.replyTo?.quote ?? event.replyTo?.text;
  if (event.replyTo !== undefined && quoted !== undefined && quoted !== '') {
    notes.push(event.replyTo.isOwn ? `[In reply to your earlier message: ${JSON.stringify(shorten(quoted))}]` : quotedReply(oneLine(event.replyTo.authorName ?? 'somebody'), shorten(quoted)));
  }
  const earlier = newestFitting((event.earlier ?? []).map(({ author, text }) => quotedEarlier(oneLine(author), shorten(text))));
  const hidden = event.earlierHidden ?? 0;
  const unshown = hidden === 0 ? [] : [`(${hidden === 1 ? '1 message of somebody who may not speak here is' : `${hidden} messages of people who may not speak here are`} not shown.)`];
  if (earlier.length + unshown.length > 0) notes.push(`${earlierHead}\n${[...earlier, ...unshown].join('\n')}]`);
  if (event.location !== undefined) {
    const title = event.location.title === undefined ? '' : ` ${JSON.stringify(oneLine(event.location.title))}`;
    notes.push(`[Location${title}: ${event.location.latitude}, ${event.location.longitude}]`);
  }
  return notes;
};

const textOf = (event: InboundEvent): string => [...notesOf(event), event.kind === 'edit' ? `[Edited message] ${event.text}` : event.text].filter((part) => part !== '').join('\n');

export interface LoadedMedia {
  readonly attachments: readonly Attachment[];
  /** What stands for files in words: what was said in them, what they hold, why they could not be loaded. */
  readonly notes: readonly string[];
  /** What was said in voice messages. */
  readonly heard?: readonly { readonly inboxId: number; readonly text: string }[];
}

/** The transcript row of one message. In a conversation of several people each is told apart by name. */
export const userMessage = (group: ItemGroup, media: LoadedMedia, shared: boolean): TranscriptMessage => {
  const texts = group.map((item) => textOf(item.event)).filter((text) => text !== '');
  // Every part of an album says again what it replies to.
  const said = group[0].event.batch?.kind === 'album' ? new Set(texts) : texts;
  const body = [...said, ...media.notes].join('\n');
  const { account, sender, kind } = group[0].event;
  const isNamed = shared && kind !== 'notice';
  const content = isNamed ? `[${oneLine(sender.name ?? sender.id)}] ${body}` : body;
  const attachments = [...group.flatMap((item) => item.event.files ?? []), ...media.attachments];
  return { role: 'user', content: content.toWellFormed(), ...(attachments.length > 0 && { attachments }), ...(isNamed && { speaker: `${account}:${sender.id}` }) };
};

/** What a message brings besides words: results of the sender's own tools, as rows of their own before it. */
export const resultRows = (group: ItemGroup): readonly TranscriptMessage[] =>
  group.flatMap(({ event }) => (event.results ?? []).map(({ callId, toolName, text }) => ({ role: 'tool' as const, content: text.toWellFormed(), toolCallId: callId, toolName })));
