import { resolve } from 'node:path';
import { resolveHome } from '../../config/home.ts';
import { ConfigError } from '../../core/errors.ts';
import { clauses } from '../../platforms/conformance.ts';
import { NotOffered, openBench } from '../../platforms/conformance-bench.ts';
import type { Clause } from '../../platforms/conformance-bench.ts';
import type { Platform } from '../../platforms/contract.ts';
import { loadPlatform } from '../../platforms/load-platform.ts';
import { platforms } from '../../platforms/registry.ts';
import { accountData } from '../../store/accounts/account-data.ts';
import { Exit, json, paint } from '../environment.ts';
import type { Terminal } from '../environment.ts';
import { withScratchStore } from '../home/scratch-store.ts';

interface Outcome {
  readonly clause: string;
  readonly variant?: string;
  readonly result: 'met' | 'not offered' | 'exception' | 'broken';
  readonly detail?: string;
}

/** One clause on a simulator, an adapter and a database of its own. */
const tryClause = (platform: Platform, variant: string | undefined, clause: Clause): Promise<Pick<Outcome, 'result' | 'detail'>> =>
  withScratchStore(async (store, folder) => {
    try {
      await using bench = await openBench(platform, { data: accountData(store, platform.name), folder, variant });
      await clause(bench);
      return { result: 'met' };
    } catch (error) {
      if (error instanceof NotOffered) return { result: 'not offered', detail: error.message };
      return { result: 'broken', detail: error instanceof Error ? error.message : String(error) };
    }
  });

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

interface Found {
  readonly platform: Platform;
  /** Undefined for one that is known by its name already. */
  readonly file?: string;
}

const find = async (terminal: Terminal, written: string): Promise<Found> => {
  const known = platforms.find(({ name }) => name === written);
  if (known !== undefined) return { platform: known };
  const isPath = /^[./~]|^[A-Za-z]:[\\/]/.test(written);
  const loaded = await loadPlatform(isPath ? resolve(written) : written, resolveHome(terminal.env));
  if (!loaded.ok) throw new ConfigError(`It cannot be loaded: ${loaded.problem}`);
  return loaded;
};

/** A simulator may need packages that only those have who work on its platform; without them no clause could be tried. */
const requireSimulator = async (platform: Platform): Promise<void> => {
  try {
    await using _simulator = await platform.simulate();
  } catch (error) {
    // What else is wrong with it each clause says.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') return;
    const [reason = ''] = (error as Error).message.split('\n');
    throw new ConfigError(`The simulator of ${platform.label} needs a package that is not installed: ${reason}. Packages that only simulators need are development dependencies: run this in a clone of the sources after npm install, or install the package beside it (npm install --no-save <package>).`, { cause: error });
  }
};

/** Tries every clause of the conformance suite on a platform, one of our own by its name or one from outside; leaves with 1 when one is broken. */
export const checkPlatform = async (terminal: Terminal, written: string, flags: { json?: true }): Promise<void> => {
  const { platform, file } = await find(terminal, written);
  await requireSimulator(platform);
  const outcomes: Outcome[] = [];
  if (flags.json !== true) terminal.write(`${platform.label} (${file ?? platform.name})\n`);
  for await (const outcome of tryAll(platform)) {
    outcomes.push(outcome);
    if (flags.json !== true) terminal.write(line(terminal, outcome));
  }
  const count = (result: Outcome['result']): number => outcomes.filter((outcome) => outcome.result === result).length;
  if (flags.json === true) terminal.write(json({ name: platform.name, file: file ?? null, outcomes }));
  else terminal.write(`${count('met')} met, ${count('broken')} broken, ${count('exception')} exceptions, ${count('not offered')} not offered\n`);
  if (count('broken') > 0) throw new Exit(1);
};
