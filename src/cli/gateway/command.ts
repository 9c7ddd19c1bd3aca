import { existsSync } from 'node:fs';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { flushCompileCache } from 'node:module';
import { dirname } from 'node:path';
import { Command, Option } from 'commander';
import { prepareHome, resolveHome } from '../../config/home.ts';
import { ConfigError } from '../../core/errors.ts';
import { writeAtomically } from '../../lib/write-atomically.ts';
import { runningTrouble } from '../configuration/config-trouble.ts';
import { Exit, paint } from '../environment.ts';
import type { Terminal } from '../environment.ts';
import { logsCommand } from '../logs.ts';
import { noteAct } from '../note-act.ts';
import { refuseUnknown } from '../arguments/refuse-unknown.ts';
import { requireHome } from '../home/require-home.ts';
import { readAlone, requireConfig } from '../configuration/settings.ts';
import { statusCommand } from '../status.ts';
import { dumpGateway } from './dump.ts';
import { installedServices, isManagerAtWork, ownerOf, prepareLogs, serviceAtWork, startService, stopService, tellManager, untilManagerAnswers } from './installed-service.ts';
import { knownHomes } from './known-homes.ts';
import { listCommand } from './list.ts';
import { endAfterTurn, refuseInside } from './inside-turn.ts';
import { holderOf } from './process.ts';
import { serviceFor } from './service.ts';
import type { Service } from './service.ts';
import { sharedEnvironment, unseenByService } from './shell-variables.ts';
import { settledHolder, startDetached } from './start.ts';
import type { Started, StartWish } from './start.ts';
import { restartGateway, stopGateway } from './stop.ts';

interface AllOption {
  readonly all?: true;
}

const asRoot = (): Option => new Option('--as-root', 'also in the home of somebody else, where root would otherwise not let an agent run');

const startMs = 60_000;
const usualDrainMs = 60_000;

const inHome = (terminal: Terminal, home: string): Terminal => ({ ...terminal, env: { ...terminal.env, HERMES_HOME: home } });

const homesFor = (terminal: Terminal, options: AllOption): readonly string[] => (options.all === true ? knownHomes(terminal.env) : [resolveHome(terminal.env)]);

const drainMsOf = async (terminal: Terminal, home: string): Promise<number> => {
  const there = inHome(terminal, home);
  const settings = (await readAlone(there)).agent ?? (await requireConfig(there)).sections.agent;
  return settings.restart_drain_timeout * 1000;
};

/** A gateway goes on with the configuration that it has, and can be ended, while the file is broken. */
const drainMsOrUsual = (terminal: Terminal, home: string): Promise<number> =>
  drainMsOf(terminal, home).catch((error: unknown) => {
    if (error instanceof ConfigError) return usualDrainMs;
    throw error;
  });

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

const run = (terminal: Terminal, names: () => readonly string[]): Command => {
  const command = new Command('run')
    .description('Run in the foreground until Ctrl-C or SIGTERM')
    .option('--replace', 'take over from the gateway that runs in this home, and end it')
    .addOption(asRoot())
    .addOption(new Option('--background', 'print nothing more once it has started').hideHelp())
    .allowExcessArguments()
    .addHelpText('after', '\nExamples:\n  hermes gateway run\n  hermes gateway run --replace\n  HERMES_HOME=/srv/hermes hermes gateway run');
  return command.action(async (options: { readonly replace?: true; readonly asRoot?: true; readonly background?: true }) => {
    refuseUnknown(command, names());
    if (options.replace === true) refuseInside(terminal, resolveHome(terminal.env), 'hermes gateway run --replace');
    // Loaded only when it is used: looking at the status must not load a whole gateway.
    const { runGateway } = await import('../run.ts');
    // Lets go of the compile cache, as the launcher does when it has loaded its part (`bin/compile-cache.js`).
    flushCompileCache();
    await runGateway(terminal, { replace: options.replace === true, asRoot: options.asRoot === true, background: options.background === true });
  });
};

/** By the service that was installed for the home, or else as a process of its own. */
const startAnyhow = async (terminal: Terminal, home: string, options: StartWish = {}): Promise<Started> => {
  const service = serviceAtWork(terminal.env, home);
  if (options.replace === true) {
    if (service !== undefined) throw new ConfigError(`The gateway of ${home} is the service ${service.name}, and one beside it would not be looked after. hermes gateway restart starts it anew.`);
    return startDetached(inHome(terminal, home), home, options);
  }
  if (service === undefined || holderOf(home).type !== 'nobody') return startDetached(inHome(terminal, home), home, options);
  const pid = startService(terminal.env, home, service);
  await settledHolder(home);
  return { pid, isNew: true };
};

/** Success alone would hide that it does not run with what its files say. */
const tellTrouble = async (terminal: Terminal, home: string, pid: number): Promise<void> => {
  const trouble = await runningTrouble(inHome(terminal, home), pid);
  if (trouble !== undefined) terminal.writeError(`The configuration of ${home} ${trouble.text}. ${trouble.fix} ${trouble.fix === 'hermes config check' ? 'says what is wrong' : 'takes it over'}.\n`);
};

const start = (terminal: Terminal): Command =>
  new Command('start')
    .description('Start in the background and wait until it runs')
    .option('--all', 'in every home in which this user has run a gateway')
    .option('--replace', 'take over from a gateway that runs, and end it')
    .addOption(asRoot())
    .addHelpText('after', '\nExamples:\n  hermes gateway start\n  hermes gateway start --replace\n  hermes gateway start --all')
    .action((options: AllOption & { readonly replace?: true; readonly asRoot?: true }) => {
      const { env, leftOut } = options.all === true ? sharedEnvironment(terminal.env) : { env: terminal.env, leftOut: [] };
      if (leftOut.length > 0) terminal.writeError(`Not given to any of them, because it is for one gateway: ${leftOut.join(', ')}. What a gateway needs stands in its own .env.\n`);
      return eachHome(terminal, options, async (home) => {
        if (options.replace === true) refuseInside(terminal, home, 'hermes gateway start --replace');
        const { pid, isNew } = await startAnyhow({ ...terminal, env }, home, options);
        if (isNew && options.replace !== true) noteAct(home, 'gateway start', `process ${pid}`);
        await tellTrouble({ ...terminal, env }, home, pid);
        if (!isNew) return `The gateway of ${home} already runs as process ${pid}. hermes gateway restart starts it anew, hermes gateway start --replace lets a new one take over.`;
        return `The gateway of ${home} runs as process ${pid}. hermes status shows what it does, hermes login opens its page, hermes gateway stop ends it.`;
      });
    });

const stop = (terminal: Terminal): Command =>
  new Command('stop')
    .description('Let it finish what it can and end it; the rest continues after the next start')
    .option('--all', 'in every home of this user')
    .option('--force', 'end it at once if it takes too long')
    .addHelpText('after', '\nExamples:\n  hermes gateway stop\n  hermes gateway stop --force')
    .action((options: AllOption & { readonly force?: true }) =>
      eachHome(terminal, options, async (home) => {
        const planned = await endAfterTurn(terminal, home, 'stop');
        if (planned !== undefined) {
          noteAct(home, 'gateway stop', 'when the turn has ended');
          return planned;
        }
        const service = serviceAtWork(terminal.env, home);
        if (service !== undefined && stopService(terminal.env, service)) {
          noteAct(home, 'gateway stop', service.name);
          return `The gateway of ${home} has ended. Its service ${service.name} starts it with the machine; hermes gateway start does so now.`;
        }
        const stopped = await stopGateway(home, { drainMs: await drainMsOrUsual(terminal, home), force: options.force === true });
        if (stopped !== 'not running') noteAct(home, 'gateway stop', stopped === 'killed' ? 'by force' : undefined);
        return stopped === 'not running' ? `No gateway runs in ${home}.` : `The gateway of ${home} has ${stopped === 'killed' ? 'been ended by force' : 'ended'}.`;
      }),
    );

const restart = (terminal: Terminal): Command =>
  new Command('restart')
    .description('Let it end and come back, in its terminal or under its service; start it when none runs')
    .option('--all', 'in every home of this user that has one running')
    .addOption(asRoot())
    .addHelpText('after', '\nExamples:\n  hermes gateway restart\n  hermes gateway restart --all')
    .action((options: AllOption & { readonly asRoot?: true }) =>
      eachHome(terminal, options, async (home) => {
        requireHome(inHome(terminal, home));
        const planned = await endAfterTurn(terminal, home, 'restart');
        if (planned !== undefined) {
          noteAct(home, 'gateway restart', 'when the turn has ended');
          return planned;
        }
        const pid = await restartGateway(home, { drainMs: await drainMsOrUsual(terminal, home), startMs });
        if (pid === undefined && options.all === true) return `No gateway runs in ${home}.`;
        const now = pid ?? (await startAnyhow(terminal, home, options)).pid;
        noteAct(home, 'gateway restart', `process ${now}`);
        await tellTrouble(terminal, home, now);
        return pid === undefined ? `The gateway of ${home} did not run; it runs now as process ${now}.` : `The gateway of ${home} has started anew as process ${now}.`;
      }),
    );

const dump = (terminal: Terminal): Command =>
  new Command('dump')
    .description('Let the running gateway write down where it stands, also when it is stuck')
    .addHelpText('after', '\nExample:\n  hermes gateway dump')
    .action(async () => {
      const { http } = await readAlone(terminal);
      const dump = await dumpGateway(resolveHome(terminal.env), { http });
      if (dump.type === 'stuck') return terminal.write(`The gateway is stuck:\n${dump.stack}\nThis is ${dump.path}. hermes gateway stop --force ends it; nothing that was received is lost.\n`);
      const { path, report } = dump;
      const active = Map.groupBy(report.libuv.filter(({ is_active: isActive }) => isActive === true), ({ type }) => type);
      const handles = [...active].map(([type, list]) => `${list.length} ${type}`).join(', ');
      return terminal.write(`${[...(report.javascriptStack.stack ?? ['(idle)']), '', `heap ${Math.round(report.javascriptHeap.usedMemory / 1_000_000)} MB; ${handles}`, `The whole report, without the environment: ${path}`].join('\n')}\n`);
    });

const serviceOf = async (terminal: Terminal, system: boolean): Promise<Service> => {
  const home = resolveHome(terminal.env);
  const service = serviceFor({ env: terminal.env, home, system, user: ownerOf(home), drainMs: await drainMsOf(terminal, home) });
  if (service === undefined) throw new ConfigError('hermes knows systemd and launchd. On Windows let the Task Scheduler start `hermes gateway run` at logon; docs/operations.md has the steps.');
  return service;
};

/** What would make two gateways, one that nobody finds, or one that runs as root by mistake. */
const refuseInstall = (terminal: Terminal, service: Service, options: { readonly system?: true; readonly force?: true }): void => {
  const home = resolveHome(terminal.env);
  const sudoer = terminal.env['SUDO_USER'] ?? '';
  if (options.system === true && !['', 'root'].includes(sudoer) && (terminal.env['HERMES_HOME'] ?? '') === '') throw new ConfigError(`With sudo this would be the gateway of root, in ${home}. For the one of ${sudoer}: sudo HERMES_HOME="$HOME/.hermes" hermes gateway install --system`);
  const other = installedServices(terminal.env, home).find(({ path }) => path !== service.path);
  if (other !== undefined) throw new ConfigError(`${other.path} is a service for this home already. Remove it first: hermes gateway uninstall${other.system ? ' --system' : ''}`);
  if (existsSync(service.path) && options.force !== true) throw new ConfigError(`${service.path} is there already. hermes gateway install --force replaces it.`);
  if (!isManagerAtWork(service)) throw new ConfigError(`${service.manager} does not run this machine. hermes gateway start runs the gateway in the background; in a container the container is the service.`);
  if (holderOf(home).type !== 'nobody') throw new ConfigError('A gateway runs in this home. End it first (hermes gateway stop); the service starts its own.');
};

const install = (terminal: Terminal): Command =>
  new Command('install')
    .description('Let this machine start the gateway and keep it running (systemd, launchd)')
    .option('--system', 'for the machine instead of this user; needs to be root')
    .option('--force', 'replace a service that is there')
    .option('--print', 'only print what would be written')
    .addHelpText('after', '\nExamples:\n  hermes gateway install\n  hermes gateway install --print\n  sudo HERMES_HOME="$HOME/.hermes" hermes gateway install --system')
    .action(async (options: { readonly system?: true; readonly force?: true; readonly print?: true }) => {
      const service = await serviceOf(terminal, options.system === true);
      const unseen = await unseenByService(terminal);
      if (unseen.length > 0) terminal.writeError(`The service does not see what only this shell says: ${unseen.join(', ')}. hermes config set keeps it; hermes setup --save-env keeps the keys that it uses.\n`);
      if (options.print === true) return terminal.write(`${paint(terminal, 'dim', `# ${service.path}`)}\n${service.text}`);
      refuseInstall(terminal, service, options);
      await prepareHome(resolveHome(terminal.env));
      await prepareLogs(resolveHome(terminal.env));
      await mkdir(dirname(service.path), { recursive: true });
      await writeAtomically(service.path, service.text);
      // Nothing in it is secret, and service managers frown at files that not everybody can read.
      await chmod(service.path, 0o644);
      const missed = tellManager(terminal.env, service.wishes);
      await untilManagerAnswers(service);
      const refused = tellManager(terminal.env, service.install);
      if (refused !== undefined) throw new ConfigError(`${service.path} is written, but ${service.manager} did not take it: ${refused}`);
      noteAct(resolveHome(terminal.env), 'gateway install', service.path);
      if (missed !== undefined) terminal.writeError(`It runs only while you are logged in, because ${missed}. An admin can change that with: sudo ${service.wishes.map((command) => command.join(' ')).join('; ')}\n`);
      return terminal.write(`${service.name} runs and starts with the machine. hermes gateway status shows it, hermes gateway uninstall${options.system === true ? ' --system' : ''} removes it.\n`);
    });

const uninstall = (terminal: Terminal): Command =>
  new Command('uninstall')
    .description('End the service and forget it; nothing in the home is touched')
    .option('--system', 'the one of the machine')
    .addHelpText('after', '\nExample:\n  hermes gateway uninstall')
    .action(async (options: { readonly system?: true }) => {
      const home = resolveHome(terminal.env);
      const services = installedServices(terminal.env, home);
      const service = services.find(({ system }) => system === (options.system === true));
      if (service === undefined) throw new ConfigError(`There is no such service for ${home}.${services.length === 0 ? '' : ` There is ${services.map(({ path }) => path).join(', ')}.`}`);
      const refused = tellManager(terminal.env, service.uninstall);
      await rm(service.path, { force: true });
      const left = refused ?? tellManager(terminal.env, service.forget);
      if (left !== undefined) terminal.writeError(`${service.manager} said: ${left}\n`);
      noteAct(home, 'gateway uninstall', service.path);
      terminal.write(`${service.name} is removed.\n`);
    });

export const gatewayCommand = (terminal: Terminal): Command => {
  const command = new Command('gateway').description('Run the gateway, in this terminal, in the background or as a service');
  command.addCommand(run(terminal, () => command.commands.map((each) => each.name())), { isDefault: true });
  for (const each of [start(terminal), stop(terminal), restart(terminal), statusCommand(terminal), listCommand(terminal), logsCommand(terminal), dump(terminal), install(terminal), uninstall(terminal)]) command.addCommand(each);
  return command;
};
