import type { MediaKind } from '../../core/message.ts';
import type { ChatEntry, MessageEntry as ChatMessage, JournalFrame as ChatFrame } from '../journal.ts';
import type { LiveFrame as ShownFrame } from '../live.ts';

/** A file that the page can show or fetch from `files/<id>`. */
export interface WireFile {
  readonly id: string;
  readonly name: string;
  readonly mime: string;
  readonly sizeBytes: number;
  readonly kind: MediaKind;
}

export type MessageEntry = ChatMessage<WireFile>;

/** Something that happened in a chat. The page is what one gets by applying these in order. */
export type WireEntry = ChatEntry<WireFile> | { readonly type: 'reaction'; readonly id: string; readonly emoji: string | null } | { readonly type: 'hide' } | { readonly type: 'name'; readonly name: string };

/** An entry with its place in the account's journal; `seq` is also the SSE event id. */
export type JournalFrame = ChatFrame<WireEntry>;

/** What is shown now and never stored; `ready` once everything that was stored has been told. */
export type LiveFrame = ShownFrame | { readonly type: 'ready' };

export interface WireChat {
  readonly id: string;
  readonly title: string;
  readonly lastMs: number;
}

export interface ChatsAnswer {
  readonly title: string;
  readonly chats: readonly WireChat[];
  /** Where to start reading events so that nothing after this answer is missed. */
  readonly cursor: number;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
}

export interface MessagesAnswer {
  readonly frames: readonly JournalFrame[];
  /** Whether there is anything before the first frame. */
  readonly more: boolean;
}

export interface MessageBody {
  readonly id: string;
  readonly text: string;
  readonly files: readonly string[];
  readonly replyTo?: string;
}

export interface PressBody {
  readonly id: string;
  readonly messageId: string;
  readonly data: string;
}

/** Names of the events of the stream. */
export const entryEvent = 'entry';
export const liveEvent = 'live';

export const maxTextLength = 32_000;
export const maxFileBytes = 50 * 1024 * 1024;
export const maxFilesPerMessage = 10;

/** Headers of an upload: the name percent-encoded, and the type, because the body is always octets. */
export const fileNameHeader = 'x-file-name';
export const fileTypeHeader = 'x-file-type';

/** Made by the page for messages and presses. */
export const clientId = /^[\w-]{8,64}$/;

/** The page makes random ids for chats; the owner may name others, such as the home channel. */
export const chatId = /^[\w.:@+-]{1,128}$/;
