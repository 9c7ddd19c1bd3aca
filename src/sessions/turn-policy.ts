import type { InboundEvent, Target } from '../core/message.ts';
import type { Usage } from '../core/transcript.ts';
import type { ExitReason } from '../core/turn.ts';
import type { Platform } from '../platforms/contract.ts';
import type { Session } from '../store/sessions/sessions.ts';
import type { Reading, Writing } from '../store/store.ts';
import type { RunningTurn } from '../store/sessions/turns.ts';
import type { BusyMode } from './busy-mode.ts';
import type { ConversationLimits } from './conversation-limits.ts';
import type { ItemGroup } from './user-message.ts';

/** How a turn ended. */
export interface TurnOutcome {
  readonly reason: ExitReason;
  /** The sentence for people when something went wrong. */
  readonly error: string | null;
  /** The last thing that the agent said, as it said it. */
  readonly text: string;
  readonly usage: Usage;
  /** What kind of trouble `error` is about. */
  readonly errorCode?: string;
}

/** Takes the end of a turn, as part of the transaction that ends it. */
export type SettleTurn = (tx: Writing, outcome: TurnOutcome) => Promise<void>;

/** What holds for every turn: how it begins, where its answer goes, and how it ends. */
export interface TurnPolicy {
  readonly maxAttempts: number;
  /** How long after it was cut off a turn goes on by itself. */
  continueWithinMs(): number;
  busyMode(session: Session): BusyMode;
  isShared(group: ItemGroup): boolean;
  /** What keeps a message from being answered although it was let in: whoever wrote it may not speak there any more. Undefined for every other one. */
  denied?(db: Reading, event: InboundEvent): Promise<string | undefined>;
  /** Where the answer to a message goes, and whether it is attached to it. */
  replyTo(event: InboundEvent): Target;
  /** Whether every part of a long answer is attached, or only the first. */
  anchorAll(account: string): boolean;
  platform(account: string): Platform | undefined;
  /** For a turn that takes place in no chat: what it says on the way stays in its transcript, and its end goes here. Undefined for every other one. */
  settle?(turn: RunningTurn): SettleTurn | undefined;
  /** What keeps conversations back that could go on. */
  readonly limits?: ConversationLimits;
}
