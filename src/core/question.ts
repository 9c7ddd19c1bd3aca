/** One of the answers that a question offers. */
export interface QuestionOption {
  /** What the person reads and presses. */
  readonly label: string;
  /** What whoever asked gets back; unique within the question. */
  readonly value: string;
  /** Words that mean the same when they are typed while no other question is open. */
  readonly words?: readonly string[];
}

/**
 * Who may answer. `asker`: the person whose message led to the question. `approver`: that person if they may approve here, or an admin of the
 * place. Nobody else is heard, and whoever presses without the right is told so.
 */
export type Answerer = 'asker' | 'approver';

/** Something that only a person can decide. It is kept, answered once, and gone when its time is up. */
export interface Question {
  /** Markdown. */
  readonly text: string;
  /** None: any text answers it. */
  readonly options: readonly QuestionOption[];
  /** Besides the options, any other text is an answer too. */
  readonly freeText?: boolean;
  readonly answerer: Answerer;
  readonly timeoutMs: number;
  /** The call that asks has begun something already: when the process ends meanwhile, the call is not made again but reported as interrupted. */
  readonly begun?: true;
}

export type Answer =
  | { readonly type: 'answered'; /** An option's value, or the person's own words. */ readonly value: string; readonly by: string; readonly byName?: string }
  | { readonly type: 'expired' }
  /** Nobody could be asked: the place has nobody who answers (a job, the HTTP API). */
  | { readonly type: 'unattended' };
