interface MigratedLine {
  readonly msg?: unknown;
  readonly diff?: unknown;
  readonly kept?: unknown;
}

/** What a gateway has said at its start about keys of config.yaml that it has moved, for whoever started it in the background; empty when it has moved none. */
export const toldMigration = (output: string): string => {
  const line = output.split('\n').find((each) => each.startsWith('{') && each.includes('"config.migrated"'));
  if (line === undefined) return '';
  const { msg, diff, kept } = JSON.parse(line) as MigratedLine;
  if (msg !== 'config.migrated' || !Array.isArray(diff)) return '';
  return `Keys of config.yaml have moved into their new places:\n${diff.join('\n')}\nThe old file is kept as ${String(kept)}.\n`;
};
