import type { Verdict } from '../access/authorize.ts';
import type { Skill } from '../agent/tools/skills/load-skills.ts';
import type { InboundEvent } from '../core/message.ts';
import type { AuditedAct } from '../lib/audit-log.ts';
import type { ResolveDeps } from '../delivery/resolve-target.ts';
import type { Hooks } from '../hooks/hooks.ts';
import type { Chains } from '../lib/chains.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { AccountOptions } from '../platforms/account-options.ts';
import type { Accepted, Platform } from '../platforms/contract.ts';
import type { ChosenAgent } from '../routing/select-agent.ts';
import type { Store } from '../store/store.ts';
import type { Continuations } from './continuations.ts';
import type { SessionChange } from './hooks/session-changes.ts';
import type { GatewaySettings } from './settings.ts';

export interface InboxDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  settings(): GatewaySettings;
  account(name: string): { readonly platform: Platform; readonly common: AccountOptions } | undefined;
  /** A command is stored: carries it out. Never rejects. */
  onControl(inboxId: number): Promise<void>;
  /** Finds places that were arranged. */
  readonly targets: ResolveDeps;
  readonly hooks: Hooks;
  readonly continuations: Continuations;
  /** Keeps the order of a chat while hooks think. */
  readonly order: Chains;
  /** What an agent has been taught, which are commands as well. */
  skills?(agent: string): readonly Skill[] | undefined;
  /** A skill of an agent that may not be open yet. */
  findSkill?(agent: string, name: string): Promise<Skill | undefined>;
  onAccepted?(event: InboundEvent, outcome: Outcome): void;
  /** Writes down what changed who may speak. */
  audit?(act: AuditedAct): void;
}

/** An event with everything that was known before it was stored. */
export interface Arrival {
  readonly event: InboundEvent;
  readonly platform: Platform;
  readonly common: AccountOptions;
  readonly verdict: Verdict;
  /** Who answers, decided before anything is keyed by it. */
  readonly agent: ChosenAgent;
}

export interface Outcome {
  readonly accepted: Accepted;
  readonly reason: string;
  /** A command that waits to be carried out. */
  readonly controlId?: number;
  /** What whoever pressed a button is told, where the platform can show it. */
  readonly pressed?: string;
  /** What of it is written down. */
  readonly act?: Omit<AuditedAct, 'by'>;
  /** Conversations that have begun or ended with it. */
  readonly sessions?: { readonly sessionKey: string; readonly changes: readonly SessionChange[] };
}

/** Undoes the transaction of an event that another process has just stored. */
export class Duplicate extends Error {}

/** Undoes the transaction of an event whose conversation was removed in that moment: it is decided anew. */
export class ConversationGone extends Error {}
