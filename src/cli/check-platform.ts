import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { resolveHome } from '../config/home.ts';
import { ConfigError } from '../core/errors.ts';
import { systemClock } from '../lib/clock.ts';
import { silentLogger } from '../lib/logger.ts';
import { clauses } from '../platforms/conformance.ts';
import { NotOffered, openBench } from '../platforms/conformance-bench.ts';
import type { Clause } from '../platforms/conformance-bench.ts';
import type { Platform } from '../platforms/contract.ts';
import { loadPlatform } from '../platforms/load-platform.ts';
import { accountData } from '../store/account-data.ts';
import { openStore } from '../store/open.ts';
import { Exit, json, paint } from './environment.ts';
import type { Terminal } from './environment.ts';

interface Outcome {
  readonly clause: string;
  readonly variant?: string;
  readonly result: 'met' | 'not offered' | 'exception' | 'broken';
  readonly detail?: string;
}

/** One clause on a simulator, an adapter and a database of its own. */
const tryClause = async (platform: Platform, variant: string | undefined, clause: Clause): Promise<Pick<Outcome, 'result' | 'detail'>> => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-platform-'));
  const store = await openStore({ path: join(folder, 'gateway.db'), clock: systemClock, log: silentLogger, checkIntegrity: false });
  try {
    await using bench = await openBench(platform, { data: accountData(store, platform.name), folder, variant });
    await clause(bench);
    return { result: 'met' };
  } catch (error) {
    if (error instanceof NotOffered) return { result: 'not offered', detail: error.message };
    return { result: 'broken', detail: error instanceof Error ? error.message : String(error) };
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
};

async function* tryAll(platform: Platform): AsyncGenerator<Outcome> {
  const strange = Object.keys(platform.exceptions).filter((name) => !(name in clauses));
  for (const clause of strange) yield { clause, result: 'broken', detail: 'there is no such clause to make an exception of' };
  for (const variant of [undefined, ...(platform.variants ?? [])]) {
    for (const [name, clause] of Object.entries(clauses)) {
      const reason = platform.exceptions[name];
      const tried = reason === undefined ? await tryClause(platform, variant, clause) : ({ result: 'exception', detail: reason } as const);
      yield { clause: name, ...(variant !== undefined && { variant }), ...tried };
    }
  }
}

const signs: Readonly<Record<Outcome['result'], readonly [string, Parameters<typeof paint>[1]]>> = { met: ['✔', 'green'], 'not offered': ['–', 'dim'], exception: ['–', 'yellow'], broken: ['✖', 'red'] };

const line = (terminal: Terminal, { clause, variant, result, detail }: Outcome): string => {
  const [sign, style] = signs[result];
  return `${paint(terminal, style, sign)} ${clause}${variant === undefined ? '' : ` (${variant})`}${detail === undefined ? '' : `: ${detail}`}\n`;
};

/** Loads a platform from outside and tries every clause of the conformance suite on it; leaves with 1 when one is broken. */
export const checkPlatform = async (terminal: Terminal, written: string, flags: { json?: true }): Promise<void> => {
  const isPath = /^[./~]|^[A-Za-z]:[\\/]/.test(written);
  const loaded = await loadPlatform(isPath ? resolve(written) : written, resolveHome(terminal.env));
  if (!loaded.ok) throw new ConfigError(`It cannot be loaded: ${loaded.problem}`);
  const outcomes: Outcome[] = [];
  if (flags.json !== true) terminal.write(`${loaded.platform.label} (${loaded.file})\n`);
  for await (const outcome of tryAll(loaded.platform)) {
    outcomes.push(outcome);
    if (flags.json !== true) terminal.write(line(terminal, outcome));
  }
  const count = (result: Outcome['result']): number => outcomes.filter((outcome) => outcome.result === result).length;
  if (flags.json === true) terminal.write(json({ name: loaded.platform.name, file: loaded.file, outcomes }));
  else terminal.write(`${count('met')} met, ${count('broken')} broken, ${count('exception')} exceptions, ${count('not offered')} not offered\n`);
  if (count('broken') > 0) throw new Exit(1);
};
