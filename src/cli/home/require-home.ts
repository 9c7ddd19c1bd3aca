import { existsSync } from 'node:fs';
import { resolveHome } from '../../config/home.ts';
import { ConfigError } from '../../core/errors.ts';
import type { Terminal } from '../environment.ts';

/** For a command that only makes sense where somebody has been before: a name that was mistyped must not become a home. */
export const requireHome = (terminal: Terminal): void => {
  const home = resolveHome(terminal.env);
  if (!existsSync(home)) throw new ConfigError(`There is no home ${home}, so there is nothing to look at; nothing was made. HERMES_HOME says where hermes looks, and hermes setup makes a home.`);
};
