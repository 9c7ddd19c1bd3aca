import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Command } from 'commander';
import { resolveHome } from '../../config/home.ts';
import { ConfigError } from '../../core/errors.ts';
import { writeAtomically } from '../../lib/write-atomically.ts';
import { Exit, json, paint, span, table } from '../environment.ts';
import type { Terminal } from '../environment.ts';
import { logsCommand } from '../logs.ts';
import { requireConfig } from '../settings.ts';
import { statusCommand } from '../status.ts';
import { dumpGateway } from './dump.ts';
import { knownHomes } from './known-homes.ts';
import { holderOf } from './process.ts';
import { serviceFor } from './service.ts';
import type { Service } from './service.ts';
import { startDetached } from './start.ts';
import { restartGateway, stopGateway } from './stop.ts';

interface AllOption {
  readonly all?: true;
}

const startMs = 60_000;

const inHome = (terminal: Terminal, home: string): Terminal => ({ ...terminal, env: { ...terminal.env, HERMES_HOME: home } });

const homesFor = (terminal: Terminal, options: AllOption): readonly string[] => (options.all === true ? knownHomes(terminal.env) : [resolveHome(terminal.env)]);

const drainMsOf = async (terminal: Terminal, home: string): Promise<number> => (await requireConfig(inHome(terminal, home))).sections.agent.restart_drain_timeout * 1000;

/** One home after the other; what fails in one is said, and the others have their turn. */
const eachHome = async (terminal: Terminal, options: AllOption, act: (home: string) => Promise<string>): Promise<void> => {
  const homes = homesFor(terminal, options);
  if (homes.length === 0) terminal.write('This user has run no gateway yet.\n');
  let failed = false;
  for (const home of homes) {
    try {
      terminal.write(`${await act(home)}\n`);
    } catch (error) {
      if (homes.length === 1) throw error;
      if (!(error instanceof ConfigError) && !(error instanceof Exit)) throw error;
      failed = true;
      if (error instanceof ConfigError) terminal.writeError(`${home}: ${error.message}\n`);
    }
  }
  if (failed) throw new Exit(1);
};

const run = (terminal: Terminal): Command =>
  new Command('run')
    .description('Run in the foreground until Ctrl-C or SIGTERM')
    .option('--replace', 'end the gateway that runs in this home first, and take over what it was doing')
    .addHelpText('after', '\nExamples:\n  hermes gateway run\n  hermes gateway run --replace\n  HERMES_HOME=/srv/hermes hermes gateway run')
    .action(async (options: { readonly replace?: true }) => {
      // Loaded only when it is used: looking at the status must not load a whole gateway.
      const { runGateway } = await import('../run.ts');
      await runGateway(terminal, { replace: options.replace === true });
    });

const start = (terminal: Terminal): Command =>
  new Command('start')
    .description('Start in the background and wait until it runs')
    .option('--all', 'in every home in which this user has run a gateway')
    .addHelpText('after', '\nExamples:\n  hermes gateway start\n  hermes gateway start --all')
    .action((options: AllOption) =>
      eachHome(terminal, options, async (home) => {
        const pid = await startDetached(inHome(terminal, home), home);
        return `The gateway of ${home} runs as process ${pid}. hermes status shows what it does, hermes login opens its page, hermes gateway stop ends it.`;
      }),
    );

const stop = (terminal: Terminal): Command =>
  new Command('stop')
    .description('Let it finish what it can and end it; the rest continues after the next start')
    .option('--all', 'in every home of this user')
    .option('--force', 'end it at once if it takes too long')
    .addHelpText('after', '\nExamples:\n  hermes gateway stop\n  hermes gateway stop --force')
    .action((options: AllOption & { readonly force?: true }) =>
      eachHome(terminal, options, async (home) => {
        const stopped = await stopGateway(home, { drainMs: await drainMsOf(terminal, home), force: options.force === true });
        return stopped === 'not running' ? `No gateway runs in ${home}.` : `The gateway of ${home} has ${stopped === 'killed' ? 'been ended by force' : 'ended'}.`;
      }),
    );

const restart = (terminal: Terminal): Command =>
  new Command('restart')
    .description('Let it end and come back, in its terminal or under its service; start it when none runs')
    .option('--all', 'in every home of this user that has one running')
    .addHelpText('after', '\nExamples:\n  hermes gateway restart\n  hermes gateway restart --all')
    .action((options: AllOption) =>
      eachHome(terminal, options, async (home) => {
        const pid = await restartGateway(home, { drainMs: await drainMsOf(terminal, home), startMs });
        if (pid !== undefined) return `The gateway of ${home} has started anew as process ${pid}.`;
        if (options.all === true) return `No gateway runs in ${home}.`;
        return `The gateway of ${home} did not run; it runs now as process ${await startDetached(inHome(terminal, home), home)}.`;
      }),
    );

const list = (terminal: Terminal): Command =>
  new Command('list')
    .description('Every home in which this user has run a gateway, and what runs there')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  hermes gateway list')
    .action((options: { readonly json?: true }) => {
      const rows = knownHomes(terminal.env).map((home) => ({ home, holder: holderOf(home) }));
      if (options.json === true) return terminal.write(json(rows.map(({ home, holder }) => ({ home, state: holder.type === 'nobody' ? 'stopped' : holder.type === 'terminal' ? 'terminal' : 'running', pid: holder.type === 'gateway' ? holder.pid : null }))));
      const state = (holder: (typeof rows)[number]['holder']): string => {
        if (holder.type === 'gateway') return paint(terminal, 'green', `running, process ${holder.pid}, ${span(Date.now() - holder.sinceMs)}`);
        return holder.type === 'terminal' ? 'hosted by a terminal chat' : paint(terminal, 'dim', 'stopped');
      };
      return terminal.write(rows.length === 0 ? 'This user has run no gateway yet.\n' : `${table(rows.map(({ home, holder }) => [home, state(holder)]))}\n`);
    });

const dump = (terminal: Terminal): Command =>
  new Command('dump')
    .description('Let the running gateway write down where it stands, also when it is stuck')
    .addHelpText('after', '\nExample:\n  hermes gateway dump')
    .action(async () => {
      const { path, report } = await dumpGateway(resolveHome(terminal.env));
      const active = Map.groupBy(report.libuv.filter(({ is_active: isActive }) => isActive === true), ({ type }) => type);
      const handles = [...active].map(([type, list]) => `${list.length} ${type}`).join(', ');
      terminal.write(`${[...(report.javascriptStack.stack ?? ['(idle)']), '', `heap ${Math.round(report.javascriptHeap.usedMemory / 1_000_000)} MB; ${handles}`, `The whole report, without the environment: ${path}`].join('\n')}\n`);
    });

const serviceOf = async (terminal: Terminal, system: boolean): Promise<Service> => {
  const home = resolveHome(terminal.env);
  const service = serviceFor({ env: terminal.env, home, system, drainMs: await drainMsOf(terminal, home) });
  if (service === undefined) throw new ConfigError('hermes knows systemd and launchd. On Windows let the Task Scheduler start `hermes gateway run` at logon; docs/operations.md has the steps.');
  return service;
};

/** Runs what the service manager needs; answers what it said when it refused. */
const tell = (commands: readonly (readonly string[])[]): string | undefined => {
  for (const [program = '', ...args] of commands) {
    const done = spawnSync(program, args, { encoding: 'utf8' });
    if (done.status !== 0) return `${[program, ...args].join(' ')}: ${(done.error?.message ?? done.stderr).trim()}`;
  }
  return undefined;
};

const install = (terminal: Terminal): Command =>
  new Command('install')
    .description('Let this machine start the gateway and keep it running (systemd, launchd)')
    .option('--system', 'for the machine instead of this user; needs to be root')
    .option('--force', 'replace a service that is there')
    .option('--print', 'only print what would be written')
    .addHelpText('after', '\nExamples:\n  hermes gateway install\n  hermes gateway install --print\n  sudo hermes gateway install --system')
    .action(async (options: { readonly system?: true; readonly force?: true; readonly print?: true }) => {
      const service = await serviceOf(terminal, options.system === true);
      if (options.print === true) return terminal.write(`${paint(terminal, 'dim', `# ${service.path}`)}\n${service.text}`);
      if (existsSync(service.path) && options.force !== true) throw new ConfigError(`${service.path} is there already. hermes gateway install --force replaces it.`);
      if (holderOf(resolveHome(terminal.env)).type !== 'nobody') throw new ConfigError('A gateway runs in this home. End it first (hermes gateway stop); the service starts its own.');
      await mkdir(dirname(service.path), { recursive: true });
      await writeAtomically(service.path, service.text);
      const refused = tell(service.install);
      if (refused !== undefined) throw new ConfigError(`${service.path} is written, but ${service.manager} did not take it: ${refused}`);
      return terminal.write(`${service.name} runs and starts with the machine. hermes gateway status shows it, hermes gateway uninstall removes it.\n`);
    });

const uninstall = (terminal: Terminal): Command =>
  new Command('uninstall')
    .description('End the service and forget it; nothing in the home is touched')
    .option('--system', 'the one of the machine')
    .addHelpText('after', '\nExample:\n  hermes gateway uninstall')
    .action(async (options: { readonly system?: true }) => {
      const service = await serviceOf(terminal, options.system === true);
      if (!existsSync(service.path)) throw new ConfigError(`There is no ${service.path}.`);
      const refused = tell(service.uninstall);
      await rm(service.path, { force: true });
      if (refused !== undefined) terminal.writeError(`${service.manager} said: ${refused}\n`);
      terminal.write(`${service.name} is removed.\n`);
    });

export const gatewayCommand = (terminal: Terminal): Command => {
  const command = new Command('gateway').description('Run the gateway, in this terminal, in the background or as a service');
  command.addCommand(run(terminal), { isDefault: true });
  for (const each of [start(terminal), stop(terminal), restart(terminal), statusCommand(terminal), list(terminal), logsCommand(terminal), dump(terminal), install(terminal), uninstall(terminal)]) command.addCommand(each);
  return command;
};
