import type { SecretCommands } from '../../config/secrets/secret-commands.ts';
import { keepLastGood } from '../../config/upkeep/last-good.ts';
import type { Logger } from '../../lib/logger.ts';
import { platforms } from '../../platforms/registry.ts';
import type { Terminal } from '../environment.ts';
import { sections } from './settings.ts';

/** Keeps the configuration that a gateway runs with for a start at which the files are broken. That it cannot be kept ends no gateway. */
export const keepConfig = async (terminal: Terminal, home: string, at: { readonly log: Logger; readonly commands?: SecretCommands | undefined }): Promise<void> => {
  try {
    await keepLastGood({ home, env: terminal.env, sections, platforms, commands: at.commands });
  } catch (error) {
    at.log.warn({ err: error }, 'config.not_kept');
  }
};
