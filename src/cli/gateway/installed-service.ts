import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../config/variables.ts';
import { ConfigError } from '../../core/errors.ts';
import { makeFolders } from '../../lib/give-to-owner.ts';
import { nameOfUser } from '../home/name-of-user.ts';
import { holderOf, lookFor } from './process.ts';
import { servicesNamedFor } from './service.ts';
import type { Service, ServiceCommand } from './service.ts';

/** Whoever owns the home runs its gateway, also when root installs it. */
export const ownerOf = (home: string): string => {
  const owner = statSync(home, { throwIfNoEntry: false })?.uid;
  const self = userInfo();
  return owner === undefined || owner === self.uid ? self.username : nameOfUser(owner);
};

/** Launchd opens a file there before the gateway runs, and makes no folder for it. */
export const prepareLogs = (home: string): Promise<void> => makeFolders(join(home, 'logs'));

/** A user's own systemd is found by this folder; a shell that came by `su` does not know it. */
const runtimeFolder = (): string => `/run/user/${userInfo().uid}`;

const environmentFor = (env: Environment): NodeJS.ProcessEnv => ({ ...env, ...((env['XDG_RUNTIME_DIR'] ?? '') === '' && existsSync(runtimeFolder()) && { XDG_RUNTIME_DIR: runtimeFolder() }) });

const ask = (env: Environment, [program = '', ...args]: ServiceCommand): { readonly said: string; readonly refused?: string } => {
  const done = spawnSync(program, args, { encoding: 'utf8', env: environmentFor(env) });
  if (done.status === 0) return { said: done.stdout.trim() };
  return { said: '', refused: `${[program, ...args].join(' ')}: ${(done.error?.message ?? done.stderr).trim()}` };
};

/** Runs what the service manager needs; answers what it said when it refused. */
export const tellManager = (env: Environment, commands: readonly ServiceCommand[]): string | undefined => {
  for (const command of commands) {
    const { refused } = ask(env, command);
    if (refused !== undefined) return refused;
  }
  return undefined;
};

/** Whether the machine has such a manager at work; a container has systemd's programs at most. */
export const isManagerAtWork = ({ manager }: Pick<Service, 'manager'>): boolean => manager === 'launchd' || existsSync('/run/systemd/system');

const managerMs = 5000;

/** A user's own systemd starts a moment after lingering was turned on. Where there is none yet, the next question to it says so. */
export const untilManagerAnswers = async ({ manager, path }: Service): Promise<void> => {
  if (manager !== 'systemd' || path.startsWith('/etc/')) return;
  await lookFor(() => (existsSync(join(runtimeFolder(), 'systemd', 'private')) ? true : undefined), managerMs);
};

/** A file that this user may not read is not theirs to use either. */
const isFor = ({ path, homeLine }: Service): boolean => {
  try {
    return readFileSync(path, 'utf8').includes(homeLine);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
};

interface InstalledService extends Service {
  readonly system: boolean;
}

/** The services that were installed for a home, of this user and of the machine. */
export const installedServices = (env: Environment, home: string): readonly InstalledService[] =>
  [false, true].flatMap((system) => servicesNamedFor({ env, home, system, user: '', drainMs: 0 }).filter(isFor).map((service) => ({ ...service, system })));

/** The one that starts the gateway of this home, if there is any. */
export const serviceAtWork = (env: Environment, home: string): InstalledService | undefined => installedServices(env, home).find(isManagerAtWork);

/** Lets the service start its gateway, and answers that one's number. */
export const startService = (env: Environment, home: string, service: Service): number => {
  const refused = tellManager(env, [service.start]);
  if (refused !== undefined) throw new ConfigError(`${service.manager} did not start ${service.name}. ${refused}`);
  const holder = holderOf(home);
  if (holder.type !== 'gateway') throw new ConfigError(`${service.name} was started, but no gateway runs in ${home}. See hermes logs.`);
  return holder.pid;
};

/** Ends the gateway by its service, so that it stays away; false when the service has nothing to end, or this user may not. */
export const stopService = (env: Environment, { stop }: Service): boolean => {
  if (stop === undefined) return false;
  const { said, refused } = ask(env, stop.state);
  if (refused !== undefined || said === 'inactive' || said === 'failed') return false;
  return tellManager(env, [stop.command]) === undefined;
};

export interface ServiceState {
  readonly manager: Service['manager'];
  readonly name: string;
  readonly of: 'user' | 'machine';
  /** In the manager's words, where it tells. */
  readonly state: string | null;
  /** Whether the gateway that runs in the home is the one of the service; null where the system does not tell. */
  readonly isRunner: boolean | null;
}

/** Linux puts every process of a unit into a group that has the unit's name. */
const runsUnit = (pid: number, name: string): boolean | null => {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8').split('\n').some((line) => line.endsWith(`/${name}.service`));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};

/** How the service of a home is; undefined when none is installed. */
export const serviceState = (env: Environment, home: string, pid: number | undefined): ServiceState | undefined => {
  const service = serviceAtWork(env, home);
  if (service === undefined) return undefined;
  const { manager, name, system, stop } = service;
  return { manager, name, of: system ? 'machine' : 'user', state: stop === undefined ? null : ask(env, stop.state).said || null, isRunner: pid === undefined ? null : runsUnit(pid, name) };
};
