/** What became of one thing that was to be taken over. `changed`: taken, but not as it was. `left`: not taken. `known`: here already. */
export type ImportFate = 'taken' | 'changed' | 'left' | 'known';

export interface ImportLine {
  /** `config`, `sessions`, `people`, … */
  readonly area: string;
  readonly fate: ImportFate;
  readonly what: string;
  /** Why it was changed or left. */
  readonly why?: string;
}

/** Collects what an import does. */
export interface ImportReport {
  readonly lines: readonly ImportLine[];
  add(line: ImportLine): void;
}

export const newImportReport = (): ImportReport => {
  const lines: ImportLine[] = [];
  return { lines, add: (line) => void lines.push(line) };
};
