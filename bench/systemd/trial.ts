import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { until } from '../../test/support/whole.ts';
import type { World } from '../../test/support/whole.ts';
import type { Ran, SystemdMachine } from './machine.ts';

/** Where this program is. */
export const repository = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
export const launcher = join(repository, 'bin', 'hermes.js');
/** Of ada, who has the homes. */
export const uid = 4711;

/** How many checks have not held. */
export const tally = { failed: 0 };

/** One line of the table; what went wrong in it does not keep the others from their turn. */
export const check = async (what: string, act: () => Promise<string | undefined | void>): Promise<void> => {
  try {
    const more = await act();
    console.log(`✔ ${what}${typeof more === 'string' ? ` (${more})` : ''}`);
  } catch (error) {
    tally.failed += 1;
    console.log(`✖ ${what}\n    ${(error instanceof Error ? error.message : String(error)).trim().replaceAll('\n', '\n    ')}`);
  }
};

export const expect = (holds: boolean, otherwise: string): void => {
  if (!holds) throw new Error(otherwise);
};

/** One home with its service, as the person sees it who typed the commands. */
export interface Trial {
  readonly machine: SystemdMachine;
  readonly world: World;
  readonly system: boolean;
  readonly name: string;
  hermes(...args: readonly string[]): Promise<Ran>;
  systemctl(...args: readonly string[]): Promise<Ran>;
  show(property: string): Promise<string>;
  journal(form?: 'cat' | 'json'): Promise<string>;
  configure(changes?: Readonly<Record<string, unknown>>): Promise<void>;
}

/** Besides what every world has. */
export const usual = { approvals: { destructive_slash_confirm: false } };

/** Shorter than the unit's own, so that a trial takes minutes; and a signal that makes the event loop stand still. */
const quicker = (folder: string): string => `[Service]\nWatchdogSec=9\nRestartSec=1\nEnvironment=NODE_OPTIONS=--import=${folder}/stuck.mjs\n`;

/** Makes the home ada's and writes what makes the trial quick, before anything is installed. */
export const newTrial = async (machine: SystemdMachine, world: World, options: { readonly system: boolean; readonly folder: string }): Promise<Trial> => {
  const { system, folder } = options;
  const as = system ? {} : { user: 'ada' };
  const hermes: Trial['hermes'] = (...args) => machine.run([process.execPath, launcher, ...args], { ...as, env: { HERMES_HOME: world.home } });
  const mode = system ? [] : ['--user'];
  const runtime = system ? {} : { XDG_RUNTIME_DIR: `/run/user/${uid}` };
  const systemctl: Trial['systemctl'] = (...args) => machine.run(['systemctl', ...mode, ...args], { ...as, env: runtime });
  const own = (): Promise<unknown> => promisify(execFile)('chown', ['-R', `${uid}:${uid}`, world.home]);
  await own();
  const printed = await hermes('gateway', 'install', '--print', ...(system ? ['--system'] : []));
  const path = /^# (.+)$/m.exec(printed.text)?.[1] ?? '';
  const name = /([^/]+)\.service$/.exec(path)?.[1] ?? '';
  expect(name !== '', printed.text);
  const extra = `${system ? '/etc/systemd/system' : '/home/ada/.config/systemd/user'}/${name}.service.d`;
  await writeFile(join(folder, 'quicker.conf'), quicker(folder));
  await machine.run(['sh', '-c', `mkdir -p "${extra}" && cp "${folder}/quicker.conf" "${extra}/trial.conf" && chmod 644 "${extra}/trial.conf"`], as);
  await machine.run(['sh', '-c', `mkdir -p /tmp/verify && cat > "/tmp/verify/${name}.service" <<'END'\n${printed.text}\nEND`]);
  return {
    machine,
    world,
    system,
    name,
    hermes,
    systemctl,
    show: async (property) => (await systemctl('show', `--property=${property}`, '--value', name)).text.trim(),
    journal: async (form = 'cat') => (await machine.run(['journalctl', '--no-pager', `--output=${form}`, ...(system ? [`--unit=${name}`] : [`_SYSTEMD_USER_UNIT=${name}.service`, '+', `USER_UNIT=${name}.service`])])).text,
    async configure(changes = {}) {
      await world.configure({ ...usual, ...changes });
      await own();
    },
  };
};

/** What stands in `gateway.pid`. */
export const pidIn = async ({ world }: Trial): Promise<number | undefined> => Number(await readFile(join(world.home, 'gateway.pid'), 'utf8').catch(() => '')) || undefined;

/** Waits until the service runs, by another process than this one; answers its number. */
export const untilActive = async (trial: Trial, what: string, notPid?: number): Promise<number> => {
  await until(async () => (await trial.show('ActiveState')) === 'active' && (await pidIn(trial)) !== notPid, what, 90_000);
  return Number(await trial.show('MainPID'));
};

export const isShown = (world: World, text: string): boolean => world.shown().some((each) => each.startsWith(text));

/** Says it and waits for the answer, which has to come once. */
export const answered = async (trial: Trial, text: string): Promise<void> => {
  await trial.world.say(text);
  await until(() => isShown(trial.world, `re: ${text}`), `an answer to ${text}`, 60_000);
  expect(trial.world.shown().filter((each) => each === `re: ${text}`).length === 1, 'it was answered more than once');
};

export const kill = async ({ machine }: Trial, signal: string, pid: number): Promise<void> => void (await machine.run(['sh', '-c', `kill -${signal} ${pid}`]));
