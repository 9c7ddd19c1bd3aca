import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { resolveHome } from '../../config/home.ts';
import type { Environment } from '../../config/variables.ts';
import { ConfigError } from '../../core/errors.ts';
import type { Terminal } from '../environment.ts';
import { nameOfUser } from './name-of-user.ts';

/** Whoever has the home, or would have it when it is made, if this is root and they are not. In a container there is nobody else, and volumes belong to whom their driver says. */
const otherOwner = (env: Environment, home: string): number | undefined => {
  if (process.getuid?.() !== 0 || env['HERMES_GATEWAY_EXTERNAL_SUPERVISOR'] === 'container') return undefined;
  let there = home;
  while (!existsSync(there)) there = dirname(there);
  const { uid } = statSync(there);
  return uid === 0 ? undefined : uid;
};

/** Refuses to let an agent run as root in the home of somebody else, who would get all that root may. `command` is what was asked for; `flag` asks for it nevertheless, where there is one. */
export const refuseRoot = (env: Environment, home: string, { command, flag }: { readonly command: string; readonly flag?: string }): void => {
  const uid = otherOwner(env, home);
  if (uid === undefined) return;
  const name = nameOfUser(uid);
  const nevertheless = flag === undefined ? '' : ` ${flag} runs it as root nevertheless.`;
  throw new ConfigError(`${home} belongs to ${name}, and the agent would run as root in it. Let it run as them: sudo -u ${name === String(uid) ? `'#${uid}'` : name} HERMES_HOME=${home} ${command}.${nevertheless}`);
};

/** Large, and root has nothing to do there. */
const notLookedInto: readonly string[] = ['media', 'workspace'];
const mostShown = 5;

const rootsIn = (folder: string): readonly string[] => readdirSync(folder).map((name) => join(folder, name)).filter((path) => lstatSync(path, { throwIfNoEntry: false })?.uid === 0);

/** Says after a command of root what in the home of somebody else is root's, so that they cannot use it. */
export const tellRootsFiles = (terminal: Terminal): void => {
  const home = resolveHome(terminal.env);
  const uid = existsSync(home) ? otherOwner(terminal.env, home) : undefined;
  if (uid === undefined) return;
  const folders = readdirSync(home, { withFileTypes: true }).filter((entry) => entry.isDirectory() && !notLookedInto.includes(entry.name));
  const found = [home, ...folders.map(({ name }) => join(home, name))].flatMap(rootsIn);
  if (found.length === 0) return;
  const names = found.slice(0, mostShown).map((path) => path.slice(home.length + 1));
  terminal.writeError(`${home} belongs to ${nameOfUser(uid)}, but this in it to root: ${names.join(', ')}${found.length > mostShown ? ', …' : ''}. Give it back: chown -R ${uid} ${home}\n`);
};
