/** How a hook has done since it was loaded. */
export interface HookReport {
  readonly id: string;
  readonly agent: string | undefined;
  readonly events: readonly string[];
  readonly calls: number;
  readonly failures: number;
  /** Events that it was not told because too many were waiting. */
  readonly dropped: number;
  readonly waiting: number;
  readonly lastProblem: string | undefined;
}

/** Somebody who is told of events. Nobody waits for it, and nothing that it does reaches whoever tells. */
export interface Observer {
  readonly id: string;
  /** It sees the events of this agent only; undefined for everybody's. */
  readonly agent: string | undefined;
  readonly events: readonly string[];
  observe(event: string, context: unknown): void;
  report(): HookReport;
  /** Lets what waits be told for a while; then ends what is under way. */
  close(graceMs: number): Promise<void>;
}

/** Counts, for a report. */
export interface HookCounts {
  calls: number;
  failures: number;
  dropped: number;
  lastProblem: string | undefined;
}

export const newCounts = (): HookCounts => ({ calls: 0, failures: 0, dropped: 0, lastProblem: undefined });

/** Of a flood every tenth, hundredth and so on is worth a line; what is lost at the end always. */
export const isWorthALine = (dropped: number, why: 'full' | 'closed'): boolean => why === 'closed' || /^10*$/.test(String(dropped));
