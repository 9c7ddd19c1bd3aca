import type { Hono } from 'hono';
import type { z } from 'zod';
import type { AccountName } from '../core/ids.ts';
import type { ChatType, InboundEvent, MediaRef, OutboundMessage, SendReceipt, Target } from '../core/message.ts';
import type { ReadChat } from '../core/target.ts';
import type { TurnEvent } from '../core/turn.ts';
import type { Logger } from '../lib/logger.ts';
import type { PlatformSimulator } from './simulator.ts';

/** What the gateway did with an event. Anything but a rejection of the promise means: safe to acknowledge. */
export type Accepted =
  | 'stored'
  | 'duplicate'
  | 'skipped'
  /** The sender may not do this. An adapter that has to enter a chat before it can hear anybody there stays outside. */
  | 'denied';

/** A chat that has taken another's place, in the platform's own word: nobody but the platform can move people. */
export interface ChatMove {
  readonly from: string;
  readonly to: string;
  /** The threads of the old one do not exist in the new one. */
  readonly withoutThreads?: true;
}

/** The way into the gateway. It exists once; adapters see only this. */
export interface Inbox {
  /** Resolves once the event is durable (or was dropped on purpose). Rejects when it could not be stored: do not acknowledge. */
  accept(event: InboundEvent): Promise<Accepted>;
  /** A message of ours that the platform had taken did not reach whom it was for. Answers whether it is one that we know; nobody is written to. */
  returned(messageId: string, reason: string): Promise<boolean>;
  /** A chat goes on under another id: its conversations go on there. Durable when it resolves; to be told twice changes nothing. */
  moved(move: ChatMove): Promise<void>;
  /** Evidence that the connection receives although no event came: an empty poll answer, a heartbeat. The first comes as soon as it can: until then the account is not connected. */
  alive(): void;
  /** A position in the platform's stream, kept for this account's identity. */
  readonly cursor: {
    read(name: string): Promise<string | undefined>;
    write(name: string, value: string): Promise<void>;
  };
}

/** Who we are on the platform, learned from it. */
export interface Identity {
  /** Stable id of the bot user; cursors belong to it. */
  readonly id: string;
  readonly name: string;
  readonly handle?: string;
}

export interface Edits {
  /** Idempotent: the same text again is a success. `final` is the last edit; markup may be applied only then. */
  edit(messageId: string, message: OutboundMessage, final: boolean, signal: AbortSignal): Promise<void>;
  remove(target: Target, messageId: string, signal: AbortSignal): Promise<void>;
}

export interface Typing {
  readonly everyMs: number;
  show(target: Target, signal: AbortSignal): Promise<void>;
}

/** What the agent does while it answers. */
export type Activity = Extract<TurnEvent, { readonly type: 'tool_started' | 'tool_finished' | 'retrying' | 'end' }>;

export interface Activities {
  /** Nothing depends on it: nobody waits for it, and what fails is only not shown. */
  show(target: Target, activity: Activity, signal: AbortSignal): Promise<void>;
}

export interface Reactions {
  set(target: Target, messageId: string, emoji: string | null, signal: AbortSignal): Promise<void>;
}

export interface Choices {
  /** Tells the platform that a press was received, with a short text where it can show one. */
  answer(event: InboundEvent, text: string | undefined, signal: AbortSignal): Promise<void>;
}

export interface Media {
  readonly maxDownloadBytes: number;
  readonly maxUploadBytes: number;
  /** Opens a file of an event, also one stored long ago by another instance of this adapter. */
  open(media: MediaRef, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
}

export interface Threads {
  /** Undefined when the chat cannot have threads. */
  open(chat: Target, name: string, signal: AbortSignal): Promise<Target | undefined>;
}

export interface ChatNames {
  /** The conversation of a chat is called so from now on, where people see what chats are called. Nothing depends on it. */
  set(chat: Target, name: string, signal: AbortSignal): Promise<void>;
}

/** A chat that the platform can name although nobody has spoken there. */
export interface ListedChannel {
  readonly id: string;
  /** As people call it, without a mark such as `#`. */
  readonly name: string;
  readonly type: ChatType;
  readonly threadId?: string;
  readonly scopeId?: string;
  /** Of the workspace or guild. */
  readonly scopeName?: string;
}

export interface Directory {
  /** Every chat that the account can write to. Asked seldom; may take several calls. */
  list(signal: AbortSignal): Promise<readonly ListedChannel[]>;
}

export interface Webhook {
  /**
   * `own`: mounted below `/webhooks/<account>`, verifies signatures itself before anything else.
   * `login`: mounted below `/api/<account>`, behind the page's login.
   */
  readonly guard: 'own' | 'login';
  /** Answers 503 unless `run` is under way. */
  readonly routes: Hono;
}

export interface CommandMenu {
  publish(commands: readonly { readonly name: string; readonly description: string }[], signal: AbortSignal): Promise<void>;
}

/**
 * One account's connection. It never retries, never queues and never decides who may speak: it translates.
 * Every failure is a `PlatformError`.
 */
export interface Adapter {
  /** Checks the credential. Called before `run` on every connection. */
  identify(signal: AbortSignal): Promise<Identity>;
  /** Receives until aborted (then resolves within a second). Rejects when the connection is lost. */
  run(inbox: Inbox, identity: Identity, signal: AbortSignal): Promise<void>;
  /** One message that fits `limits`. */
  send(message: OutboundMessage, signal: AbortSignal): Promise<SendReceipt>;
  /** The platform shows a message once however often its `key` is sent (a nonce, a transaction id). */
  readonly repeatsAreSafe?: boolean;
  /** How long after a try the platform still knows its `key`; for ever when left out. A later repeat is marked as one. */
  readonly repeatsAreSafeForMs?: number;
  readonly edits?: Edits;
  readonly typing?: Typing;
  readonly activity?: Activities;
  readonly reactions?: Reactions;
  readonly choices?: Choices;
  readonly media?: Media;
  readonly threads?: Threads;
  readonly names?: ChatNames;
  readonly directory?: Directory;
  readonly webhook?: Webhook;
  readonly menu?: CommandMenu;
}

export interface Limits {
  /** In the platform's own unit, see `measure`. */
  readonly text: number;
  /** How the platform counts this markdown once formatted. Must not be smaller for a longer text. */
  measure(markdown: string): number;
  /** A client splits longer texts by itself: a piece at least this long (UTF-16 units) may have a continuation. */
  readonly clientSplitsAt?: number;
  /** More messages than this in a row nobody wants to get there: a text that would need more goes as a file. */
  readonly mostParts?: number;
  /** Least time between two live edits in one chat. */
  readonly editIntervalMs: number;
}

/** What an account may keep across restarts: small values, and append-only streams with a cursor. */
export interface AccountData {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
  /** Answers whether there was one: of several callers exactly one takes it. */
  remove(key: string): Promise<boolean>;
  /** Keys and values whose key starts with `prefix`, ordered by key. */
  list(prefix: string): Promise<readonly { readonly key: string; readonly value: string }[]>;
  /**
   * Writes all of it or nothing, and only while `key` holds `from` (undefined: is not there); then it holds `to`. Answers whether it was
   * written: of several processes that read the same `from` exactly one succeeds.
   */
  change(change: AccountChange): Promise<boolean>;
  /** Answers the entry's number, growing within the account. The same `key` again appends nothing and answers the first number. */
  append(stream: string, key: string, entry: string): Promise<number>;
  read(query: { readonly stream?: string; readonly after: number; readonly limit: number }): Promise<readonly JournalEntry[]>;
  /** The newest entries (below `before`, of one stream), oldest first, for opening a view without reading from the start. */
  tail(query: { readonly stream?: string; readonly before?: number; readonly limit: number }): Promise<readonly JournalEntry[]>;
  /** Called after an entry is durable, also when another process wrote it. */
  watch(listener: () => void): Disposable;
}

export interface AccountChange {
  readonly key: string;
  readonly from: string | undefined;
  readonly to: string;
  readonly set: ReadonlyMap<string, string>;
  readonly remove: readonly string[];
}

export interface JournalEntry {
  readonly seq: number;
  readonly stream: string;
  readonly entry: string;
  readonly atMs: number;
}

export interface AdapterContext<Options> {
  readonly account: AccountName;
  readonly options: Options;
  readonly log: Logger;
  readonly data: AccountData;
  /** The gateway's own folder. */
  readonly home: string;
  /** A folder for this account's files, mode 0700. */
  readonly mediaFolder: string;
}

/** One attempt of two devices to prove to their owners that nobody sits between them. */
export interface DeviceCheck {
  readonly id: string;
  readonly userId: string;
  readonly deviceId?: string;
  readonly state: 'waiting' | 'compare' | 'confirmed' | 'done' | 'cancelled';
  /** What both sides show while they compare. */
  readonly emoji: readonly { readonly symbol: string; readonly name: string }[];
  readonly reason?: string;
}

/** Comparing emoji with another device, for whoever sits at a terminal or at the page while the gateway runs. */
export interface DeviceChecks {
  /** Those of the last minutes, oldest first. */
  list(): Promise<readonly DeviceCheck[]>;
  /** Asks a person's devices, or one of them, to begin. */
  begin(userId: string, deviceId?: string): Promise<void>;
  /** Says whether both sides show the same. */
  answer(id: string, same: boolean): Promise<void>;
}

/**
 * What a platform is to those who use it. `chat`: a messenger. `page` and `terminal`: the gateway's own doors, where its owner sits. `machine`: programs
 * call, and nobody sits there: what they send is never a command, each call gets an answer of its own, and none of them is the owner.
 */
export type Surface = 'chat' | 'page' | 'terminal' | 'machine';

/** How much a chat bears while the agent works: from messages that are edited freely to nothing but the answer. */
export type DisplayTier = 'high' | 'medium' | 'low' | 'minimal';

/** Facts about a platform, declared here and read by everybody else. Adding one is a folder and a line in `registry.ts`. */
export interface Platform<Options = unknown> {
  readonly name: string;
  readonly label: string;
  /**
   * Options of one account, as they stand in config.yaml below `platforms.<name>`, without the keys every platform has
   * (`enabled`, access lists, `home_channel`, see `accountOptions`). Secrets carry `.meta({ secret: true })`,
   * variables `.meta({ env: 'TELEGRAM_BOT_TOKEN' })`, and every key a `.describe()`.
   */
  readonly options: z.ZodObject<z.core.$ZodLooseShape>;
  readonly limits: Limits;
  /** The id of a chat that does not exist yet, where chats are ours to open: a conversation can be handed over into a new one. */
  newChatId?(): string;
  /** What the id of a chat says about its kind, where it says anything. */
  chatTypeOf?(chatId: string): ChatType | undefined;
  /** How its chats are written in a delivery target, where that is neither a number nor an address (see `chatsLike`). */
  readonly readChat?: ReadChat;
  /** What is shown there by default; `quietTools` where even a chat that bears it is better off without tool calls. */
  readonly display: { readonly tier: DisplayTier; readonly quietTools?: boolean };
  /** Told to the model about writing here. */
  readonly hints: string;
  /** A healthy connection shows a sign of life at least this often; longer silence is reported and the connection renewed. */
  readonly silenceMs?: number;
  /** The workspace is part of the conversation's key, because chat ids are unique only within it. */
  readonly scopeInKey?: boolean;
  /** One spelling for ids that the platform writes in several ways. */
  canonicalId?(id: string): string;
  /** False where nothing can be said after the turn's channel has closed. */
  readonly asyncDelivery: boolean;
  /** The platform proves who speaks by its own credential (the page's login); allowlists do not apply. */
  readonly authenticatesSenders: boolean;
  /** Nobody is addressed by their id there, so a model can do without: the owner may have it hidden (`privacy.redact_pii`). */
  readonly hidesIds?: boolean;
  /** False where a stranger gets no answer unless the account's `unauthorized_dm_behavior` says otherwise. */
  readonly answersStrangers?: boolean;
  /** `chat` when left out. */
  readonly surface?: Surface;
  /** Stands before a command besides `/`, where people's clients keep `/` to themselves. It counts only before a name that exists. */
  readonly commandMark?: string;
  /** Runs without being configured. */
  readonly alwaysOn: boolean;
  /** A credential's fingerprint source: two accounts with the same value are a mistake. */
  credential(options: Options): string | undefined;
  open(context: AdapterContext<Options>): Promise<Adapter>;
  /** Present where devices are verified by people; speaks with the gateway that runs the account through what the account keeps. */
  deviceChecks?(data: AccountData): DeviceChecks;
  /** The platform over its real wire protocol, for tests and the playground. */
  simulate(variant?: string): Promise<PlatformSimulator>;
  /** Other ways to be connected (by webhook instead of polling, say); the conformance suite runs on each of them as well. */
  readonly variants?: readonly string[];
  /** Clauses of the conformance suite that the platform cannot meet, each with the reason its docs page shows. */
  readonly exceptions: Readonly<Record<string, string>>;
}
