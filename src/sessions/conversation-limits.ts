import type { Claim, ReadyLane } from '../store/lanes/lanes.ts';
import type { Reading, Writing } from '../store/store.ts';

/** A conversation that has to wait; for how long, where that is known. */
export interface Wait {
  readonly type: 'wait';
  readonly ms: number | undefined;
}

/** Keeps conversations back. All of it is part of a transaction, so that several processes count as one. */
export interface ConversationLimits {
  /** Whether a conversation has to wait although it could go on; asked before it is taken up. */
  holdBack(tx: Writing, lane: string): Promise<Wait | undefined>;
  /** Gives a conversation back after a turn where it has to be asked again before the next one; undefined where it may go on at once. */
  handBack(tx: Writing, claim: Claim): Promise<Wait | undefined>;
  /** Conversations that could go on now, longest waiting first. */
  ready(db: Reading, limit: number): Promise<readonly ReadyLane[]>;
}
