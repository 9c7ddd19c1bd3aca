import type { ChatType, MediaKind } from '../core/message.ts';

export interface SimulatedMessage {
  readonly chatId: string;
  readonly chatType: ChatType;
  readonly senderId: string;
  readonly senderName?: string;
  readonly text: string;
  readonly threadId?: string;
  /** Written as a mention of the bot the way a person's client writes it, in front of the text. */
  readonly mention?: boolean;
  /** Sent by our own account. */
  readonly own?: boolean;
  readonly media?: { readonly kind: MediaKind; readonly bytes: Uint8Array; readonly name: string; readonly mime: string; readonly durationMs?: number };
  readonly replyTo?: string;
}

/** A chat that exists, and somebody who can speak in it. */
export type SimulatedPlace = Pick<SimulatedMessage, 'chatId' | 'chatType' | 'senderId'>;

/** What a person sees in the chat, in order. */
export interface VisibleMessage {
  readonly id: string;
  readonly chatId: string;
  readonly threadId?: string;
  readonly replyTo?: string;
  /** Markup applied and gone: only the words that are shown. */
  readonly text: string;
  readonly media: readonly { readonly kind: MediaKind; readonly name: string; readonly bytes: Uint8Array }[];
  readonly choices: readonly { readonly label: string; readonly data: string }[];
  readonly reactions: readonly string[];
  readonly edited: number;
}

export type Fault =
  | { readonly type: 'status'; readonly status: number; readonly description?: string }
  | { readonly type: 'rate_limit'; readonly retryAfterMs: number }
  | { readonly type: 'delay'; readonly ms: number }
  /** Never answers. */
  | { readonly type: 'hang' }
  /** Breaks the connection before doing anything. */
  | { readonly type: 'refuse' }
  /** Does what was asked, then breaks the connection instead of answering. */
  | { readonly type: 'drop_answer' }
  /** Answers with bytes that are not the protocol. */
  | { readonly type: 'garbage' };

/** `what` is a class of calls; `count` how many of them fail (default 1). */
export interface FaultPlan {
  readonly what: 'receive' | 'send' | 'edit' | 'typing' | 'download' | 'identify' | 'any';
  readonly fault: Fault;
  readonly count?: number;
}

/**
 * The platform as its clients and servers see it, over the real wire. Everything that a test asks for happens through
 * the protocol; nothing reaches into the adapter.
 */
export interface PlatformSimulator extends AsyncDisposable {
  /** Options of an account that talks to this simulator, as they would stand in config.yaml. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The same with a credential that the platform refuses. */
  readonly badOptions: Readonly<Record<string, unknown>>;
  /** Values that must never appear in a log or an error. */
  readonly secrets: readonly string[];
  /** At least a direct chat, and one of each other type that the platform has. */
  readonly places: readonly SimulatedPlace[];
  /** Someone speaks; answers the native id of the event that the adapter has to report. */
  say(message: SimulatedMessage): Promise<string>;
  /** Someone pretends to be the sender, where the platform lets that happen; answers the native id. */
  forge?(message: SimulatedMessage): Promise<string>;
  /** The platform tells that a message of ours did not reach whom it was for, after it had taken it, where platforms do that. */
  bounce?(messageId: string): void;
  /** The platform delivers an event again under the same id. */
  redeliver(nativeId: string): Promise<void>;
  /** An event of a kind that does not exist yet. */
  sendUnknownEvent(): Promise<void>;
  /** How many events the platform believes to be delivered. */
  acknowledged(): number;
  visible(chatId: string): readonly VisibleMessage[];
  /** What people see a thread called, where threads have names. */
  threadName?(thread: { readonly chatId: string; readonly threadId?: string }): string | undefined;
  /** Chats in which "typing" was shown, in order. */
  typing(): readonly string[];
  press(chatId: string, messageId: string, data: string, senderId: string): Promise<string>;
  fail(plan: FaultPlan): void;
  /** Payloads recorded on the real platform, each with a name. The adapter's parser must take every one. */
  readonly fixtures: readonly { readonly name: string; readonly payload: unknown }[];
  /** Lets one of the fixtures happen. */
  replay(payload: unknown): Promise<void>;
  /** Told where the adapter's `webhook.routes` can be reached, for platforms that call us. */
  connect?(url: string): void;
  /** Whatever a webhook request needs, signed and with a broken signature; undefined for platforms without webhooks. */
  readonly webhook?: (message: SimulatedMessage, signed: boolean) => { readonly headers: Readonly<Record<string, string>>; readonly body: string; /** Below the adapter's routes; `/` when left out. */ readonly path?: string };
  /** Someone speaks and waits for the answer in the same call, where the platform can do that; resolves with its text. */
  ask?(message: SimulatedMessage): Promise<string>;
}
