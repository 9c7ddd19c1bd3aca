import type { ImportReport } from '../import-report.ts';

/** Their settings on their way to become ours. */
export interface Mapping {
  /** As config.yaml would say it. */
  readonly settings: Record<string, unknown>;
  /** As .env would say it. */
  readonly env: Map<string, string>;
  /** What theirs may refer to. */
  readonly variables: ReadonlyMap<string, string>;
  readonly report: ImportReport;
}

export const leave = ({ report }: Mapping, what: string, why: string): void => report.add({ area: 'config', fate: 'left', what: `openclaw.json ${what}`, why });
