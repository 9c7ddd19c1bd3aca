import type { AccountName } from './ids.ts';
import type { Attachment } from './transcript.ts';

export type ChatType = 'dm' | 'group' | 'channel' | 'thread';

/**
 * Every kind that comes from a platform passes the same authorization and the same inbox. A `notice` comes from the gateway itself: something that
 * the conversation waits for has happened.
 */
export type EventKind = 'message' | 'edit' | 'button' | 'reaction' | 'join' | 'notice';

export interface Chat {
  readonly id: string;
  readonly type: ChatType;
  readonly name?: string;
  readonly topic?: string;
  readonly threadId?: string;
  /** Workspace, guild or homeserver. */
  readonly scopeId?: string;
  readonly parentId?: string;
  /** The answer will open this thread; the conversation is keyed as if it already existed. */
  readonly prospectiveThreadId?: string;
}

export interface Sender {
  readonly id: string;
  /** A more stable id of the same person where the platform has one. */
  readonly altId?: string;
  readonly name?: string;
  readonly isBot: boolean;
  /** Why nobody vouches that it is really them, where a platform lets people pretend. Such a sender has no rights and gets no answer. */
  readonly unverified?: string;
  /** Ids of the roles that the person has in the workspace where this was said, and in no other. */
  readonly roles?: readonly string[];
}

export type MediaKind = 'photo' | 'video' | 'audio' | 'voice' | 'document' | 'sticker' | 'animation';

/** A file that is still on the platform. `ref` is plain JSON that a fresh adapter of the account can open. */
export interface MediaRef {
  readonly kind: MediaKind;
  readonly mime: string;
  readonly name?: string;
  readonly sizeBytes?: number;
  /** Of a recording. */
  readonly durationMs?: number;
  /** The same for the same file wherever on the platform it is sent. */
  readonly uniqueId?: string;
  readonly ref: Readonly<Record<string, string | number>>;
}

export interface ReplyContext {
  readonly messageId: string;
  readonly text?: string;
  /** The part of the earlier message that the person marked. */
  readonly quote?: string;
  readonly authorId?: string;
  readonly authorName?: string;
  readonly isOwn: boolean;
}

/** What becomes of an event beyond what its chat and its sender say. An event whose agent or places do not exist is not taken. */
export interface Arrangement {
  /** Who answers, whatever the routes say. */
  readonly agent?: string;
  /** Places that get the answer besides the chat, as people write delivery targets. */
  readonly deliver?: string;
  /** Instructions that the agent is given with it, by their names. */
  readonly skills?: readonly string[];
  /** Nobody is asked: the text itself goes to those places. */
  readonly verbatim?: true;
}

/** Something said in a thread before we were called into it. */
export interface EarlierMessage {
  /** What to call them. */
  readonly author: string;
  readonly text: string;
  /** Who said it, judged like whoever speaks now; `self` is ourselves. Left out, nobody knows who it was. */
  readonly sender?: Sender | 'self';
}

export type Batch =
  | { readonly id: string; readonly kind: 'album' | 'split' }
  /** More may follow so long after each of them, and so long after the first at most. */
  | { readonly id: string; readonly kind: 'calls'; readonly hold: { readonly ms: number; readonly mostMs: number } };

/** What arrived, in our words. Plain JSON: it is stored as it is and read back after a restart. */
export interface InboundEvent {
  readonly account: AccountName;
  readonly kind: EventKind;
  /** Unique within (account, chat, kind); the same again on redelivery. */
  readonly nativeId: string;
  readonly chat: Chat;
  readonly sender: Sender;
  /** Without the mention of ourselves; lone surrogates replaced. */
  readonly text: string;
  readonly media: readonly MediaRef[];
  /** The message to answer, edit or react to, in the platform's id. */
  readonly messageId?: string;
  readonly replyTo?: ReplyContext;
  /** The platform waits for an answer to exactly this (a command from its menu), so that it is attached even where answers are not. */
  readonly awaitsAnswer?: true;
  /** What was said in the thread before, oldest first, when we are called into the middle of one. */
  readonly earlier?: readonly EarlierMessage[];
  /** How many messages of people who may not speak here the gateway has taken out of `earlier`; an adapter leaves it out. */
  readonly earlierHidden?: number;
  /** Meant for us: a direct message, a mention, a reply to us, or a chat where we answer everything. */
  readonly addressed: boolean;
  readonly mentioned: boolean;
  /** Parts of one thing that the platform delivers as several messages (an album, a text the client has split), or calls that the owner wants to be answered together. */
  readonly batch?: Batch;
  readonly button?: { readonly data: string };
  /** Files that are in the media folder already. */
  readonly files?: readonly Attachment[];
  /** What the sender's own tools have found, for calls that the turn before ended with. */
  readonly results?: readonly { readonly callId: string; readonly toolName: string; readonly text: string }[];
  /** What the owner has arranged with whoever speaks here, where that is a program. */
  readonly arranged?: Arrangement;
  /** Further places that get the answer. The gateway finds them by `arranged.deliver` when it takes the event; an adapter leaves them out. */
  readonly answerTo?: readonly Target[];
  /** Said to the turn that runs, not to be answered by itself. */
  readonly steers?: true;
  /** Waits for its turn, also where a newer message interrupts the one that runs. */
  readonly patient?: true;
  readonly reaction?: { readonly emoji: string; readonly added: boolean };
  readonly location?: { readonly latitude: number; readonly longitude: number; readonly title?: string };
  readonly sentAtMs: number;
}

/** Where an answer goes. It travels by value with everything made from an event. */
export interface Target {
  readonly account: AccountName;
  readonly chatId: string;
  readonly chatType: ChatType;
  readonly threadId?: string;
  readonly scopeId?: string;
  /** The message an answer is attached to. */
  readonly replyTo?: string;
}

export const replyTarget = (event: InboundEvent): Target => ({
  account: event.account,
  chatId: event.chat.id,
  chatType: event.chat.type,
  ...(event.chat.threadId !== undefined && { threadId: event.chat.threadId }),
  ...(event.chat.scopeId !== undefined && { scopeId: event.chat.scopeId }),
  ...(event.messageId !== undefined && { replyTo: event.messageId }),
});

export interface Choice {
  readonly label: string;
  /** At most 64 bytes; comes back as `InboundEvent.button.data`. */
  readonly data: string;
}

/** A file of ours on its way out. `path` lies inside the home's media folder. */
export interface OutboundMedia {
  readonly kind: MediaKind;
  readonly path: string;
  readonly mime: string;
  readonly name: string;
}

/** One message that already fits the platform's limits. */
export interface OutboundMessage {
  /** Derived from what caused it; the same on a repeat. Platforms with nonces or transaction ids use it. */
  readonly key: string;
  readonly target: Target;
  /** Markdown, unless `plain`. */
  readonly text: string;
  readonly plain?: boolean;
  readonly media?: readonly OutboundMedia[];
  readonly choices?: readonly (readonly Choice[])[];
  /** A live preview: edits follow until one of them is final. */
  readonly growing?: boolean;
  /** Delivered without a sound where the platform can. */
  readonly quiet?: boolean;
  /** Its text is not kept once it has been shown. */
  readonly secret?: boolean;
  /** What became of an earlier attempt is not known: people may see it already. Platforms that can look, look before they send. */
  readonly mayBeShown?: boolean;
}

export interface SendReceipt {
  /** In the order people see them; never empty. */
  readonly messageIds: readonly string[];
}
