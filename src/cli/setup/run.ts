import type { Identity } from '../../platforms/contract.ts';
import type { Draft } from './draft.ts';

/** What a check of a credential said. */
export interface CheckNote {
  /** `model`, or the name of an account. */
  readonly what: string;
  readonly outcome: 'works' | 'fails' | 'skipped';
  readonly text: string;
  readonly fix?: string;
}

/** One run of the setup: the files as they would be, and what was learned on the way. */
export interface SetupRun {
  readonly draft: Draft;
  readonly signal: AbortSignal;
  readonly skipChecks: boolean;
  redact(text: string): string;
  readonly checks: CheckNote[];
  /** The account that was set up, or is to be spoken to. */
  account?: { readonly name: string; readonly label: string; readonly identity?: Identity };
  /** The owner is let in by a code. */
  invite: boolean;
}

/** Waits for platforms and models are for a person who looks on. */
export const checkTimeoutMs = 20_000;
