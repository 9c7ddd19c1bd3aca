/** `error`: something does not work or is dangerous. `warning`: worth knowing, works all the same. `skipped`: could not or should not be looked at. */
export type FindingLevel = 'ok' | 'warning' | 'error' | 'skipped';

export interface Finding {
  readonly level: FindingLevel;
  readonly text: string;
  /** What to do about it. */
  readonly fix?: string;
  /** Mends it without any risk; `--fix` calls it. */
  repair?(): Promise<void>;
}

/** `1 delivery`, `3 deliveries`. */
export const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

export const ok = (text: string): Finding => ({ level: 'ok', text });
export const skipped = (text: string): Finding => ({ level: 'skipped', text });
export const warning = (text: string, fix: string): Finding => ({ level: 'warning', text, fix });
export const broken = (text: string, fix: string): Finding => ({ level: 'error', text, fix });
