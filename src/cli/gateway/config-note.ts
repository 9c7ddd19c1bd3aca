import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const fileOf = (home: string): string => join(home, 'gateway-config.json');

export const forgetConfigNote = (home: string): void => rmSync(fileOf(home), { force: true });

/** How far a gateway runs with what its files hold. */
export interface ConfigNote {
  readonly isUsable: boolean;
  /** Sections that have changed since its start, and that it cannot take over. */
  readonly awaitingRestart: readonly string[];
}

/** A gateway that runs says whether it could take over what the files hold now, so that nobody has to read them with all their secrets to know. */
export const noteConfig = (home: string, { isUsable, awaitingRestart }: ConfigNote): void => {
  try {
    writeFileSync(fileOf(home), JSON.stringify({ pid: process.pid, usable: isUsable, awaiting_restart: awaitingRestart }), { mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    // A full disk ends no gateway; whoever wants to know reads the files then.
    forgetConfigNote(home);
  }
};

/** What the gateway with this number has said; undefined when it has said nothing. */
export const notedConfig = (home: string, pid: number): ConfigNote | undefined => {
  try {
    const note = JSON.parse(readFileSync(fileOf(home), 'utf8')) as { readonly pid?: unknown; readonly usable?: unknown; readonly awaiting_restart?: unknown };
    const awaitingRestart = Array.isArray(note.awaiting_restart) ? note.awaiting_restart.map(String) : [];
    return note.pid === pid && typeof note.usable === 'boolean' ? { isUsable: note.usable, awaitingRestart } : undefined;
  } catch (error) {
    // None was written, or it is being written at this moment.
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};
