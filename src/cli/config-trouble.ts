import { resolveHome } from '../config/home.ts';
import { startableConfig } from '../config/last-good.ts';
import { platforms } from '../platforms/registry.ts';
import type { Terminal } from './environment.ts';
import { sections } from './settings.ts';

/** In one sentence, that the files cannot be used and what a gateway starts with instead; undefined while they can. */
export const configTrouble = async (terminal: Terminal): Promise<string | undefined> => {
  const found = await startableConfig({ home: resolveHome(terminal.env), env: terminal.env, sections, platforms });
  if (found.type === 'current') return undefined;
  if (found.type === 'none') return 'cannot be used, and no earlier one is kept: a gateway does not start with it';
  return `cannot be used: a gateway runs with the last one that could be, kept ${new Date(found.keptAtMs).toISOString()}`;
};
