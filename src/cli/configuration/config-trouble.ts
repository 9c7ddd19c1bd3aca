import { resolveHome } from '../../config/home.ts';
import { lastKeptMs, startableConfig } from '../../config/upkeep/last-good.ts';
import { platforms } from '../../platforms/registry.ts';
import type { Terminal } from '../environment.ts';
import { notedConfig } from '../gateway/config-note.ts';
import { sections } from './settings.ts';

/** Why a gateway does not run with what its files hold, to be said after "The configuration", and which command helps. */
export interface ConfigTrouble {
  readonly text: string;
  readonly fix: 'hermes config check' | 'hermes gateway restart';
}

const unusable = (text: string): ConfigTrouble => ({ text: `cannot be used${text}`, fix: 'hermes config check' });

const lastGoodRuns = (keptAtMs: number): ConfigTrouble => unusable(`: a gateway runs with the last one that could be, kept ${new Date(keptAtMs).toISOString()}`);

/** That the files cannot be used and what a gateway starts with instead; undefined while they can. */
export const configTrouble = async (terminal: Terminal): Promise<ConfigTrouble | undefined> => {
  const found = await startableConfig({ home: resolveHome(terminal.env), env: terminal.env, sections, platforms, commands: terminal.commands });
  if (found.type === 'current') return undefined;
  if (found.type === 'none') return unusable(', and no earlier one is kept: a gateway does not start with it');
  return lastGoodRuns(found.keptAtMs);
};

/** The same of a gateway that runs: its own word counts, and nobody is asked for secrets. */
export const runningTrouble = async (terminal: Terminal, pid: number): Promise<ConfigTrouble | undefined> => {
  const home = resolveHome(terminal.env);
  const noted = notedConfig(home, pid);
  if (noted === undefined) return configTrouble(terminal);
  if (!noted.isUsable) return lastGoodRuns(await lastKeptMs(home));
  return noted.awaitingRestart.length === 0 ? undefined : { text: `is not in force as it is written: ${noted.awaitingRestart.join(', ')} changed since the start`, fix: 'hermes gateway restart' };
};
