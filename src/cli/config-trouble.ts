import { resolveHome } from '../config/home.ts';
import { lastKeptMs, startableConfig } from '../config/last-good.ts';
import { platforms } from '../platforms/registry.ts';
import type { Terminal } from './environment.ts';
import { notedConfig } from './gateway/config-note.ts';
import { sections } from './settings.ts';

const lastGoodRuns = (keptAtMs: number): string => `cannot be used: a gateway runs with the last one that could be, kept ${new Date(keptAtMs).toISOString()}`;

/** In one sentence, that the files cannot be used and what a gateway starts with instead; undefined while they can. */
export const configTrouble = async (terminal: Terminal): Promise<string | undefined> => {
  const found = await startableConfig({ home: resolveHome(terminal.env), env: terminal.env, sections, platforms, commands: terminal.commands });
  if (found.type === 'current') return undefined;
  if (found.type === 'none') return 'cannot be used, and no earlier one is kept: a gateway does not start with it';
  return lastGoodRuns(found.keptAtMs);
};

/** The same of a gateway that runs: its own word counts, and nobody is asked for secrets. */
export const runningTrouble = async (terminal: Terminal, pid: number): Promise<string | undefined> => {
  const home = resolveHome(terminal.env);
  const noted = notedConfig(home, pid);
  if (noted === undefined) return configTrouble(terminal);
  return noted.isUsable ? undefined : lastGoodRuns(await lastKeptMs(home));
};
