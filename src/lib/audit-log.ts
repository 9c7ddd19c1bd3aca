import { accessSync, appendFileSync, closeSync, constants, existsSync, lstatSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { endsInLine } from './ends-in-line.ts';
import { giveToOwnerSync } from './give-to-owner.ts';
import type { Logger } from './logger.ts';
import { nameFile } from './name-file.ts';
import { writeAtomically } from './write-atomically.ts';

/** Something that changed who may do what, or what the gateway is. */
export interface AuditedAct {
  /** Who did it, in words: a person of an account, a user of this machine. */
  readonly by: string;
  readonly act: string;
  /** What it was done to; never a credential. */
  readonly subject?: string;
}

export interface AuditEntry extends AuditedAct {
  readonly at: string;
}

const fileOf = (home: string): string => join(home, 'logs', 'audit.log');

/** Root follows no link that somebody else may have laid: what it leads to would be written, and given to them. */
const followsLinks = (home: string): boolean => process.getuid?.() !== 0 || statSync(home).uid === 0;

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;

/** Adds an act to the log of administrative acts, which is only ever added to. Durable before it returns: it is rare, and has to be there afterwards. */
export const recordAct = (home: string, act: AuditedAct, nowMs: number): void => {
  const path = fileOf(home);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const entry: AuditEntry = { at: new Date(nowMs).toISOString(), ...act };
  const file = openSync(path, O_RDWR | O_APPEND | O_CREAT | (followsLinks(home) ? 0 : O_NOFOLLOW), 0o600);
  try {
    // What a full disk has cut off must not take this line with it.
    appendFileSync(file, `${endsInLine(file) ? '' : '\n'}${JSON.stringify(entry)}\n`, { flush: true });
  } finally {
    closeSync(file);
  }
  // What root makes in somebody's home has to stay readable for the gateway that runs there.
  for (const made of [dirname(path), path]) giveToOwnerSync(made, home);
};

/** What would keep an act from being written down, by its code; undefined when nothing is known that would. Makes nothing. */
export const auditObstacle = (home: string): string | undefined => {
  const path = fileOf(home);
  // What is wrong with the home itself is said by whoever opens it.
  const there = [path, dirname(path)].find((place) => existsSync(place));
  if (there === undefined) return undefined;
  if (there === path && lstatSync(path).isSymbolicLink() && !followsLinks(home)) return 'ELOOP';
  if (statSync(there).isDirectory() !== (there !== path)) return there === path ? 'EISDIR' : 'ENOTDIR';
  try {
    accessSync(there, constants.W_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
};

/** Writes down acts of a gateway that runs: one that cannot be written is in its log instead, and ends nothing. */
export const actRecorder =
  (record: (act: AuditedAct) => void, log: Logger) =>
  (act: AuditedAct): void => {
    try {
      record(act);
    } catch (error) {
      log.error({ err: error, ...act }, 'audit.not_written');
    }
  };

const linesOf = (path: string): readonly string[] => {
  if (!existsSync(path)) return [];
  try {
    return readFileSync(path, 'utf8').split('\n').filter((line) => line !== '');
  } catch (error) {
    throw nameFile(error, path);
  }
};

const timeOf = (line: string): string => /"at":"([^"]*)"/.exec(line)?.[1] ?? '';

/** Adds the acts of another log, each at its time and once. Does nothing when there is no such file. */
export const mergeActs = async (home: string, other: string): Promise<void> => {
  if (!existsSync(other)) return;
  const lines = new Set([...linesOf(fileOf(home)), ...linesOf(other)]);
  await writeAtomically(fileOf(home), [...lines].toSorted((a, b) => (timeOf(a) < timeOf(b) ? -1 : timeOf(a) > timeOf(b) ? 1 : 0)).map((line) => `${line}\n`).join(''));
};

/** Acts, oldest first. A line that a crash has cut off is left out. */
export const readActs = (home: string): readonly AuditEntry[] => {
  const entries: AuditEntry[] = [];
  for (const line of linesOf(fileOf(home))) {
    try {
      entries.push(JSON.parse(line) as AuditEntry);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return entries;
};
