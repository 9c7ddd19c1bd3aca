import type { CommandAccess } from '../access/command-access.ts';
import type { InboundEvent } from '../core/message.ts';
import type { BusyMode } from '../sessions/busy-mode.ts';
import type { Writing } from '../store/store.ts';

export type CommandCategory = 'Session' | 'Configuration' | 'Info';

/** Where and by whom a command was given, and what it may use. */
export interface CommandCall {
  readonly inboxId: number;
  readonly event: InboundEvent;
  readonly agent: string;
  readonly sessionKey: string;
  readonly sessionId: string;
  readonly lane: string;
  /** Everything behind the name, trimmed. */
  readonly args: string;
  readonly nowMs: number;
  readonly version: string;
  readonly defaultBusyMode: BusyMode;
  /** How many messages may wait in one conversation. */
  readonly queueLimit: number;
  /** What the person may do. */
  readonly access: CommandAccess;
}

/** One slash command. What it changes and what it answers commit together with the message that gave it. */
export interface Command {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly category: CommandCategory;
  readonly description: string;
  readonly args?: string;
  /** `refused` while a turn runs, because it would change what that turn stands on. */
  readonly whileRunning: 'allowed' | 'refused';
  /** Answers markdown for the chat; an empty answer says nothing. */
  run(tx: Writing, call: CommandCall): Promise<string>;
  /** The answer may hold a secret: it is not kept once it has been shown. */
  readonly secretAnswer?: boolean;
}

/** What the chat is told. */
export interface CommandAnswer {
  readonly text: string;
  readonly secret: boolean;
}
