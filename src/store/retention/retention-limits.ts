/** How long things are kept. Conversations (sessions and their messages) are not among them: those end only by somebody's will. */
export interface RetentionLimits {
  /** Also how long a redelivery is recognised. */
  readonly inboxDays: number;
  readonly outboxDays: number;
  readonly turnDays: number;
  readonly journalDays: number;
  /** Per account. */
  readonly journalMaxEntries: number;
  readonly denialDays: number;
  /** Whoever tries many names must not fill the disk with refusals. */
  readonly maxDenials: number;
  /** What waits to be told to a memory provider, to be approved, or to be looked through, and never was. */
  readonly memoryDays: number;
  /** What files say or show, since it was last asked for. */
  readonly mediaNoteDays: number;
  /** Why an answer was not spoken. */
  readonly speechDays: number;
  /** Conversations that were to get a title and have not. */
  readonly titleDays: number;
  /** Answers of the API that can be looked up. */
  readonly apiCallDays: number;
  /** How long a process that gave no sign of life is listed. */
  readonly nodeDays: number;
}

export const defaultRetention: RetentionLimits = {
  inboxDays: 14,
  outboxDays: 14,
  turnDays: 90,
  journalDays: 180,
  journalMaxEntries: 50_000,
  denialDays: 30,
  maxDenials: 10_000,
  memoryDays: 30,
  mediaNoteDays: 180,
  speechDays: 1,
  titleDays: 1,
  apiCallDays: 30,
  nodeDays: 1,
};
