import type { MediaKind } from '../../core/message.ts';
import type { Accepted, Activity } from '../contract.ts';
import type { ChatEntry, JournalFrame } from '../journal.ts';
import type { LiveFrame } from '../live.ts';

/** One JSON object per line, in both directions. Frames of an unknown type are ignored by whoever reads them. */
export const protocolVersion = 1;

/** A longer line ends the connection. */
export const maxFrameBytes = 1024 * 1024;

export const maxTextLength = 32_000;

/** People may paste more than an answer may have. */
export const maxInboundLength = 100_000;

/** Made by the terminal for messages and presses; the same again on a repeat. */
export const clientId = /^[\w-]{8,64}$/;

/** A terminal makes a random one for each window. */
export const chatId = /^[\w.-]{1,64}$/;

/** How many files may come with one message. */
export const maxFiles = 10;

/** A file on this machine. */
export interface LocalFile {
  readonly name: string;
  readonly path: string;
  readonly kind: MediaKind;
  readonly mime: string;
}

export type LocalEntry = ChatEntry<LocalFile>;

export type EntryFrame = { readonly type: 'entry' } & Omit<JournalFrame<LocalEntry>, 'chat'>;

export type ActivityFrame = { readonly type: 'activity'; readonly chat: string; readonly activity: Activity };

export type ClientFrame =
  /** The first frame: which chat to follow, and behind which entry to begin; without it, behind what was last seen. */
  | { readonly type: 'hello'; readonly version: number; readonly chat: string; readonly after?: number }
  /** A message with files may be without text. The files have to stay where they are until the message is answered. */
  | { readonly type: 'say'; readonly id: string; readonly text: string; readonly files?: readonly LocalFile[] }
  | { readonly type: 'press'; readonly id: string; readonly messageId: string; readonly data: string }
  /** A person has seen the chat up to here; without a number, all of it. */
  | { readonly type: 'seen'; readonly seq?: number };

export type ServerFrame =
  /** Entries that are told next because nobody has seen them, and other chats in which something waits to be seen. */
  | { readonly type: 'welcome'; readonly version: number; readonly unseen: number; readonly unseenChats: number }
  | EntryFrame
  | LiveFrame
  | ActivityFrame
  /** Everything stored has been told. */
  | { readonly type: 'ready' }
  /** The gateway has it, durably. */
  | { readonly type: 'accepted'; readonly id: string; readonly outcome: Accepted }
  /** `again`: it could not be stored now, and may be sent again under the same id. */
  | { readonly type: 'refused'; readonly id: string; readonly reason: string; readonly again: boolean }
  /** The last frame. */
  | { readonly type: 'goodbye'; readonly code: 'version' | 'protocol' | 'stopping' | 'full'; readonly reason: string };
