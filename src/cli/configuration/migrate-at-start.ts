import { migrateConfig } from '../../config/upkeep/migrate-config.ts';
import type { Migration } from '../../config/upkeep/migrate-config.ts';
import { ConfigError } from '../../core/errors.ts';
import { systemClock } from '../../lib/clock.ts';
import { platforms } from '../../platforms/registry.ts';
import type { Terminal } from '../environment.ts';
import { sections } from './settings.ts';

/** Writes keys that have moved into their new places. A file that cannot be written, or that somebody else is changing, is understood as it is. */
export const migrateAtStart = async (terminal: Terminal, home: string): Promise<Migration> => {
  try {
    return await migrateConfig({ home, env: terminal.env, sections, platforms, commands: terminal.commands, dryRun: false, nowMs: systemClock.now() });
  } catch (error) {
    if (!(error instanceof ConfigError) && (error as NodeJS.ErrnoException).code === undefined) throw error;
    return { type: 'nothing' };
  }
};
