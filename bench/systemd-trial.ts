import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ensureBuilt } from '../src/http/ensure-built.ts';
import { capturingLogger } from '../src/lib/logger.ts';
import { newWorld } from '../test/support/whole.ts';
import { tryBroken, tryCrashes, tryEnds, tryInstall, tryRestarts, trySandbox, tryUninstall } from './systemd/checks.ts';
import { startSystemdMachine } from './systemd/machine.ts';
import type { SystemdMachine } from './systemd/machine.ts';
import { answered, check, expect, newTrial, repository, tally, uid, untilActive, usual } from './systemd/trial.ts';
import type { Trial } from './systemd/trial.ts';

/**
 * Tries `hermes gateway install` under a real systemd, as a service of the machine and of a user: start, readiness, watchdog, crashes, restarts, orderly
 * ends, a start of the machine, and that nothing is left behind. Systemd comes from Debian into `--root` (by root, with debootstrap) and is the
 * first process of namespaces of its own; Telegram and the model are simulated. Run by hand: `node bench/systemd-trial.ts [--root <folder>]`.
 */
const trySystem = async (trial: Trial, folder: string): Promise<void> => {
  console.log(`\nA service of the machine: ${trial.name}`);
  await tryInstall(trial);
  await tryCrashes(trial);
  await tryRestarts(trial);
  await tryEnds(trial);
  await tryBroken(trial);
  await trySandbox(trial, folder);
};

/** In a home whose name systemd would read in its own way, by a person who came without a session. */
const tryUser = async (trial: Trial): Promise<void> => {
  console.log(`\nA service of a user: ${trial.name}, in ${trial.world.home}`);
  await tryInstall(trial);
  await check('it lingers: it runs without anybody being logged in', async () => expect((await trial.machine.run(['ls', '/var/lib/systemd/linger'])).text.includes('ada'), 'it does not'));
  await tryCrashes(trial);
  await tryRestarts(trial);
  await tryEnds(trial);
  await trial.systemctl('start', trial.name);
};

const trial = async (machine: SystemdMachine, folder: string): Promise<void> => {
  console.log(machine.version);
  await machine.run(['useradd', '--create-home', '--uid', String(uid), 'ada']);
  process.env['TMPDIR'] = folder;
  await using first = await newWorld(usual);
  process.env['TMPDIR'] = join(folder, 'we ird%h$X"q\\n');
  await mkdir(process.env['TMPDIR'], { mode: 0o755 });
  await using second = await newWorld(usual);
  const system = await newTrial(machine, first, { system: true, folder });
  await trySystem(system, folder);
  const user = await newTrial(machine, second, { system: false, folder });
  await tryUser(user);
  console.log('\nBoth');
  await check('both come back with the machine', async () => {
    await machine.reboot();
    for (const each of [system, user]) {
      await untilActive(each, each.name);
      await answered(each, 'good morning');
    }
  });
  await tryUninstall(system);
  await tryUninstall(user);
};

/** Packages and Node may be elsewhere. */
const outsideRepository = async (): Promise<readonly string[]> => [await realpath(join(repository, 'node_modules')), dirname(process.execPath)].filter((path) => !path.startsWith(`${repository}/`));

const rootArgument = process.argv.indexOf('--root');
const root = (rootArgument === -1 ? undefined : process.argv[rootArgument + 1]) ?? '/var/tmp/hermes-systemd-root';
const folder = await mkdtemp('/srv/hermes-systemd-trial-').catch(() => undefined);
try {
  if (folder !== undefined) {
    await chmod(folder, 0o755);
    await writeFile(join(folder, 'stuck.mjs'), "const standStill = () => {\n  for (;;) Math.random();\n};\nprocess.on('SIGIO', standStill);\n");
    await ensureBuilt({ root: repository, log: capturingLogger().log, environment: process.env });
    await chmod(join(repository, 'web', 'dist'), 0o755);
  }
  await using machine = folder === undefined ? undefined : await startSystemdMachine(root, [folder, repository, ...(await outsideRepository())]);
  if (machine === undefined || folder === undefined) console.log('Nothing was tried: this needs Linux, root, cgroups in their second form, and debootstrap or a Debian with systemd in --root.');
  else {
    await trial(machine, folder);
    console.log(tally.failed === 0 ? '\nEverything held.' : `\n${tally.failed} did not hold.`);
  }
} finally {
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
}
process.exitCode = tally.failed === 0 ? 0 : 1;
