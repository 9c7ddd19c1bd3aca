import type { CommandAccess, RuledCommand } from '../access/command-access.ts';
import type { InboundEvent, OutboundMedia } from '../core/message.ts';
import type { Question } from '../core/question.ts';
import type { DisplaySettings } from '../delivery/display.ts';
import type { AuditedAct } from '../lib/audit-log.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Surface } from '../platforms/contract.ts';
import type { BusyMode } from '../sessions/busy-mode.ts';
import type { Store, Writing } from '../store/store.ts';
import type { Reach } from './reach.ts';
import type { CommandSettings } from './settings.ts';

export type CommandCategory = 'Session' | 'Configuration' | 'Tools' | 'Info';

/**
 * Where and by whom a command was given, and what it may use. `run` has the transaction and these facts; whatever takes time or
 * touches anything but the store (files, processes, the network, `reach`'s promises) belongs into `after`.
 */
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
  readonly surface: Surface;
  readonly settings: CommandSettings;
  /** How answers are shown at this place unless the conversation has its own word about it. */
  readonly display: DisplaySettings;
  /** Every command that there is: the registry's and those of the configuration. */
  readonly commands: readonly Command[];
  /** Whether people are asked here before something is lost. */
  readonly asks: boolean;
  /** The person has said yes to what `confirm` asks. */
  readonly confirmed: boolean;
  readonly reach: Reach;
  /**
   * Work that begins once the command has committed, beside turns and other commands. It is done once: what it answers is delivered even if
   * the process ends right after it, and when the process ends in the middle, the chat is told that it was cut off.
   */
  after(work: AfterWork): void;
  /** Writes down what a command has changed that somebody may ask about later, if its transaction commits. */
  acted(act: CommandAct): void;
}

/** What somebody did, and to what; to the chat itself when that is left out. Never a code. */
export type CommandAct = Pick<AuditedAct, 'act' | 'subject'>;

/** What there is when the transaction of a command is over. */
export interface AfterCommit {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Comes when the process has to end. */
  readonly signal: AbortSignal;
}

/** Answers markdown for the chat, with files if there are any; an empty answer says nothing. */
export type AfterWork = (after: AfterCommit) => Promise<string | { readonly text: string; readonly media: readonly OutboundMedia[] }>;

/** A setting without which a command does not exist. */
export interface CommandGate {
  /** As it stands in config.yaml, for the sentence that names the fix. */
  readonly setting: string;
  isOpen(settings: CommandSettings, surface: Surface): boolean;
}

/** One slash command. What it changes and what it answers commit together with the message that gave it. */
export interface Command extends RuledCommand {
  readonly category: CommandCategory;
  readonly description: string;
  readonly args?: string;
  /** Everywhere when left out. */
  readonly surfaces?: readonly Surface[];
  readonly gate?: CommandGate;
  /** Another command line that is carried out in its place; what is typed behind the name is added. `run` is not called. */
  readonly standsFor?: string;
  /** `refused` while a turn runs, because it would change what that turn stands on. */
  readonly whileRunning: 'allowed' | 'refused';
  /** What the person has to say yes to before it is carried out, in markdown; undefined when nothing can be lost. */
  confirm?(tx: Writing, call: CommandCall): Promise<string | undefined>;
  /** Answers markdown for the chat; an empty answer says nothing. */
  run(tx: Writing, call: CommandCall): Promise<string>;
  /** The answer may hold a secret: it is not kept once it has been shown. */
  readonly secretAnswer?: boolean;
  /** It says by `acted` what it has changed; of other commands for admins it is written down that they were given. */
  readonly notesItself?: boolean;
}

/** What the chat is told, or asked. */
export type CommandResult = { readonly type: 'answer'; readonly text: string; readonly secret: boolean } | { readonly type: 'ask'; readonly question: Question };
