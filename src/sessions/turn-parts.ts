import type { Agent, ModelCall, TurnInput, TurnLimits, TurnPlace } from '../agent/contract.ts';
import type { TurnEvent } from '../core/turn.ts';
import type { DisplaySettings } from '../delivery/display.ts';
import type { LivePreview } from '../delivery/preview.ts';
import type { Prepared } from '../delivery/prepare-text.ts';
import type { ToolProgress } from '../delivery/tool-progress.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Store, Writing } from '../store/store.ts';
import type { OwnQuestions } from './ask-person.ts';
import type { AttachmentOptions } from './attachments.ts';
import type { BegunTurn } from './begin.ts';
import type { TurnPolicy } from './turn-policy.ts';
import type { CompressionParts } from './compression/job.ts';
import type { ReaderFacts } from './compression/limits.ts';

/** Who answers in a session, and with what. */
export interface Answering {
  readonly agent: Agent;
  readonly system: string;
  /** The model that will read, and what it reads beside the conversation. */
  readonly reader: ReaderFacts;
  /** How a conversation that grows too long is shortened. */
  readonly compression: Pick<CompressionParts, 'complete' | 'redact' | 'options' | 'keepResultsOf' | 'onCompressed'>;
  readonly limits: TurnLimits;
  /** Where the agent works. */
  folder(): { readonly folder: string; readonly userFolder: string };
  readonly asyncDelivery: boolean;
  readonly place: TurnPlace;
  /** What whoever asks wants of this turn. */
  readonly wishes?: Pick<TurnInput, 'clientTools' | 'toolChoice' | 'reasoningEffort'>;
  /** Somebody is there who can be asked. */
  readonly attended: boolean;
  /** Left out where questions are messages in a chat. */
  readonly ownQuestions?: OwnQuestions;
  /** What a memory knows about what a person says; undefined when that is nothing. Never rejects. */
  recall(said: string): Promise<string | undefined>;
  /** Part of the transaction that ends the turn: what was said goes to the memory. */
  keepSaid(tx: Writing, said: Said): Promise<void>;
  /** After that transaction. */
  onKept(): void;
}

/** One exchange, for whoever remembers it. */
export interface Said {
  readonly user: string;
  readonly assistant: string;
  readonly atMs: number;
}

export interface TurnParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly policy: TurnPolicy;
  readonly attachments: AttachmentOptions;
  answering(begun: BegunTurn): Promise<Answering>;
  /** Undefined where answers are not shown while they are written. `part` counts the texts of the turn that stand above it. */
  preview(begun: BegunTurn, part: number): LivePreview | undefined;
  typing(begun: BegunTurn): Disposable;
  /** A text of the agent as it goes out to an account: files that it names go with it, and what stands for them is gone. */
  prepare(begun: BegunTurn, said: { readonly text: string; readonly account: string }, signal: AbortSignal): Promise<Prepared>;
  /** Undefined where the agent's work is not shown, or in the platform's own way. */
  progress(begun: BegunTurn): ToolProgress | undefined;
  display(begun: BegunTurn): DisplaySettings | undefined;
  onEvent?(begun: BegunTurn, event: TurnEvent): void;
  onModelCall?(begun: BegunTurn, call: ModelCall): void;
  /** What happens in place of an event of the agent; the event itself when left out. */
  screen?(begun: BegunTurn, event: TurnEvent): Promise<readonly TurnEvent[]>;
  /** What was told of the turn has to be kept before its end is. Never rejects. */
  told?(begun: BegunTurn): Promise<void>;
}

/** What ends a turn early. The reason of the first two is a `TurnAbort`. */
export interface TurnSignals {
  /** A newer message, a person's /stop, a shutdown, or the loss of the lane. */
  readonly turn: AbortSignal;
  /** Only what does not wait for files either: all of these but a newer message. */
  readonly halt: AbortSignal;
  /** Ends the patience with a store in trouble: what is known by then and not stored is forgotten. */
  readonly patience: AbortSignal;
}
