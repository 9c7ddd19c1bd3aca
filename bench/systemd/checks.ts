import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { calls, raw, says } from '../../src/agent/models/chat-simulator.ts';
import { until } from '../../test/support/whole.ts';
import { answered, check, expect, isShown, kill, launcher, pidIn, untilActive } from './trial.ts';
import type { Trial } from './trial.ts';

export const tryInstall = async (trial: Trial): Promise<void> => {
  const { machine, name, system, world } = trial;
  await check('systemd-analyze finds nothing wrong with the unit', async () => {
    const { code, text } = await machine.run(['systemd-analyze', ...(system ? [] : ['--user']), 'verify', `/tmp/verify/${name}.service`], { env: { XDG_RUNTIME_DIR: '/run' } });
    expect(code === 0 && text.trim() === '', text);
  });
  await check(`hermes gateway install writes, enables and starts ${name}`, async () => {
    const { code, text } = await trial.hermes('gateway', 'install', ...(system ? ['--system'] : []));
    expect(code === 0, text);
    expect((await trial.systemctl('is-enabled', name)).text.trim() === 'enabled', 'it is not enabled');
    expect((await trial.show('SubState')) === 'running', await trial.show('SubState'));
    expect(Number(await trial.show('MainPID')) === (await pidIn(trial)), 'the main process is not the gateway');
    expect((await machine.run(['stat', '-c', '%U', `/proc/${await trial.show('MainPID')}`])).text.trim() === 'ada', 'it does not run as the owner of the home');
    return text.trim();
  });
  await check('it is active only after it has said that it is ready', async () => {
    const entries = (await trial.journal('json')).trim().split('\n').map((line) => JSON.parse(line) as Record<string, string>);
    const started = entries.find((entry) => entry['MESSAGE']?.includes('"gateway.started"'));
    const active = Number(await trial.show('ActiveEnterTimestampMonotonic'));
    expect(Number(started?.['__MONOTONIC_TIMESTAMP']) < active, `started ${started?.['__MONOTONIC_TIMESTAMP']}, active ${active}`);
    expect(started?.['PRIORITY'] === '6', `the journal counts it as ${started?.['PRIORITY']}`);
    return trial.show('StatusText');
  });
  await check('it answers, and hermes gateway status names the service', async () => {
    await answered(trial, 'hello');
    const { text } = await trial.hermes('gateway', 'status');
    expect(text.includes(`Service  ${name}, active (systemd, of ${system ? 'the machine' : 'this user'})\n`), text);
    return /^Service.*$/m.exec(text)?.[0];
  });
  await check('a second service for the same home is refused', async () => {
    const { code, text } = await trial.hermes('gateway', 'install', '--force', ...(system ? [] : ['--system']));
    expect(code === 78 && text.includes('is a service for this home already'), text);
  });
  await check('nothing secret is in the journal', async () => {
    const text = await trial.journal();
    for (const secret of [String(world.telegram.options['token']), 'sk-simulated-model-key', '/login#']) expect(!text.includes(secret), `${secret} is`);
  });
};

export const tryCrashes = async (trial: Trial): Promise<void> => {
  await check('kill -9 brings it back, and what was written meanwhile is answered', async () => {
    const before = await pidIn(trial);
    await kill(trial, 'KILL', before ?? 0);
    await trial.world.say('are you there?');
    await untilActive(trial, 'a new process', before);
    await until(() => isShown(trial.world, 're: are you there?'), 'an answer', 60_000);
    return `restarts counted by systemd: ${await trial.show('NRestarts')}`;
  });
  await check('a process that is frozen is started anew by the watchdog', async () => {
    const before = await pidIn(trial);
    await kill(trial, 'STOP', before ?? 0);
    await untilActive(trial, 'a new process', before);
    expect((await trial.journal()).includes('Watchdog timeout'), 'it was not the watchdog');
    await answered(trial, 'thawed');
  });
  await check('an event loop that stands still is started anew, and where it stood is written down', async () => {
    const before = await pidIn(trial);
    await kill(trial, 'IO', before ?? 0);
    await untilActive(trial, 'a new process', before);
    const folder = join(trial.world.home, 'logs');
    const reports = (await readdir(folder)).filter((name) => name.startsWith('stuck.'));
    const texts = await Promise.all(reports.map((name) => readFile(join(folder, name), 'utf8')));
    expect(texts.some((text) => text.includes('standStill')), `nothing names the place: ${reports.join(', ')}`);
    await answered(trial, 'moving again');
  });
};

export const tryRestarts = async (trial: Trial): Promise<void> => {
  await check('/restart leaves with 75, comes back and says so once', async () => {
    const before = await pidIn(trial);
    await trial.world.say('/restart');
    await untilActive(trial, 'a new process', before);
    await until(() => isShown(trial.world, '✅ I am back'), 'the report');
    expect(/status=75/.test(await trial.journal()), 'systemd has not seen a 75');
    expect(trial.world.shown().filter((text) => text.startsWith('✅ I am back')).length === 1, 'it was said more than once');
  });
  await check('hermes gateway restart comes back under the service', async () => {
    const { code, text } = await trial.hermes('gateway', 'restart');
    expect(code === 0, text);
    expect((await untilActive(trial, 'the service')) === (await pidIn(trial)), 'another process than the service runs');
    return text.trim();
  });
};

export const tryEnds = async (trial: Trial): Promise<void> => {
  const { world, name } = trial;
  await check('systemctl stop lets a running turn end, and says it in the chat', async () => {
    const asked = world.model.requests.length;
    world.model.next(async (response, request) => {
      await sleep(2500);
      await says('a slow answer')(response, request);
    });
    await world.say('take your time');
    await until(() => world.model.requests.length > asked, 'the model to be asked');
    const startedMs = Date.now();
    await trial.systemctl('stop', name);
    expect(isShown(world, 'a slow answer'), world.shown().join('\n'));
    expect((await trial.show('Result')) === 'success' && (await trial.show('ExecMainStatus')) === '0', `${await trial.show('Result')} ${await trial.show('ExecMainStatus')}`);
    return `after ${((Date.now() - startedMs) / 1000).toFixed(1)} s`;
  });
  await check('hermes gateway start starts the service, not a process beside it', async () => {
    const { code, text } = await trial.hermes('gateway', 'start');
    expect(code === 0, text);
    expect((await untilActive(trial, 'the service')) === (await pidIn(trial)), 'another process than the service runs');
  });
  await check('a turn that takes longer than its grace goes on after the next start, once', async () => {
    const asked = world.model.requests.length;
    world.model.next(raw([], { then: 'silence' }));
    await world.say('take forever');
    await until(() => world.model.requests.length > asked, 'the model to be asked');
    const startedMs = Date.now();
    await trial.systemctl('stop', name);
    const seconds = (Date.now() - startedMs) / 1000;
    expect((await trial.show('Result')) === 'success', await trial.show('Result'));
    await trial.systemctl('start', name);
    await until(() => isShown(world, 're: take forever'), 'the answer', 60_000);
    expect(world.shown().filter((text) => text === 're: take forever').length === 1, 'it was answered more than once');
    return `the end took ${seconds.toFixed(1)} s`;
  });
  await check('hermes gateway stop ends it, and it stays away', async () => {
    const { code, text } = await trial.hermes('gateway', 'stop');
    expect(code === 0, text);
    await sleep(4000);
    expect((await trial.show('ActiveState')) === 'inactive' && (await pidIn(trial)) === undefined, await trial.show('ActiveState'));
    expect((await trial.hermes('gateway', 'stop')).text.startsWith('No gateway runs'), 'it would be stopped twice');
    return text.trim();
  });
  await check('the owner of the home, who is not root, ends it as well, and it stays away', async () => {
    await trial.systemctl('start', name);
    const { code, text } = await trial.machine.run([process.execPath, launcher, 'gateway', 'stop'], { user: 'ada', env: { HERMES_HOME: world.home } });
    expect(code === 0, text);
    await until(async () => (await trial.show('ActiveState')) === 'inactive', 'the end');
    await sleep(3000);
    expect((await trial.show('ActiveState')) === 'inactive', await trial.show('ActiveState'));
  });
};

export const tryBroken = async (trial: Trial): Promise<void> => {
  const { name } = trial;
  await check('what has to be mended first (78, a page that everybody could open) is not tried again and again', async () => {
    await trial.configure({ http: { port: 0, host: '0.0.0.0' } });
    const before = await trial.show('NRestarts');
    const { code } = await trial.systemctl('start', name);
    await sleep(4000);
    const seen = [code === 0 ? 'started' : 'refused', await trial.show('ActiveState'), await trial.show('ExecMainStatus'), await trial.show('NRestarts')];
    const { text } = await trial.hermes('gateway', 'status');
    await trial.configure();
    await trial.systemctl('reset-failed', name);
    expect(seen.join() === ['refused', 'failed', '78', before].join(), seen.join());
    expect(text.includes(`Service  ${name}, failed`), text);
  });
  await check('what may pass (a port that is taken) is tried again until it works', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    await trial.configure({ http: { port: (taken.address() as AddressInfo).port } });
    const { code } = await trial.systemctl('start', name);
    taken.close();
    expect(code !== 0, 'it has started on a port that is taken');
    await untilActive(trial, 'the start on the port that is free again');
    await trial.systemctl('stop', name);
    await trial.configure();
  });
  await check('one that dies again and again waits before it starts, and systemd lets it wait', async () => {
    await trial.systemctl('start', name);
    const isWaiting = async (): Promise<boolean> => (await trial.show('StatusText')).startsWith('Died too often');
    for (let deaths = 0; deaths < 10 && !(await isWaiting()); deaths += 1) {
      const pid = await pidIn(trial);
      await kill(trial, 'KILL', pid ?? 0);
      await until(async () => (await isWaiting()) || ((await pidIn(trial)) !== pid && (await trial.show('ActiveState')) === 'active'), 'a new process or a wait', 60_000);
    }
    expect(await isWaiting(), 'it never waits');
    const said = await trial.show('StatusText');
    const state = await trial.show('ActiveState');
    await untilActive(trial, 'the end of the wait');
    expect(state === 'activating', state);
    return said;
  });
  await check('one that waits can be ended', async () => {
    const pid = await pidIn(trial);
    await kill(trial, 'KILL', pid ?? 0);
    await until(async () => (await trial.show('StatusText')).startsWith('Died too often'), 'the wait');
    const startedMs = Date.now();
    const { text } = await trial.hermes('gateway', 'stop');
    const state = await trial.show('ActiveState');
    expect(state === 'inactive', `${state}: ${text}`);
    return `after ${((Date.now() - startedMs) / 1000).toFixed(1)} s`;
  });
};

/** What docs/operations.md offers to whoever wants a narrower service. */
const sandbox = (home: string): string =>
  `[Service]\nNoNewPrivileges=yes\nProtectSystem=strict\nProtectHome=read-only\nReadWritePaths="${home}" /home/ada/.local/state\nPrivateTmp=yes\nPrivateDevices=yes\nProtectKernelTunables=yes\nProtectKernelModules=yes\nProtectControlGroups=yes\nRestrictSUIDSGID=yes\nLockPersonality=yes\n`;

export const trySandbox = async (trial: Trial, folder: string): Promise<void> => {
  const { machine, name, world } = trial;
  await writeFile(join(folder, 'sandbox.conf'), sandbox(world.home));
  await machine.run(['cp', join(folder, 'sandbox.conf'), `/etc/systemd/system/${name}.service.d/sandbox.conf`]);
  await trial.systemctl('daemon-reload');
  await check('with a sandbox around it tools still work in the workspace, and only there', async () => {
    const { code, text } = await trial.systemctl('start', name);
    expect(code === 0, text);
    const command = 'echo inside > note.txt; cat note.txt; echo outside > /home/ada/outside.txt || echo kept out';
    world.model.next(calls({ id: 'c1', name: 'terminal', arguments: JSON.stringify({ command }) }), says('Noted.'));
    await world.say('note it');
    await until(() => isShown(world, 'Noted.'), 'the answer', 30_000);
    const result = JSON.stringify(world.model.requests.at(-1)?.body.messages.findLast(({ role }) => role === 'tool'));
    expect(result.includes('inside') && result.includes('kept out'), result);
  });
  await machine.run(['rm', `/etc/systemd/system/${name}.service.d/sandbox.conf`]);
  await trial.systemctl('daemon-reload');
  await trial.systemctl('restart', name);
};

export const tryUninstall = async (trial: Trial): Promise<void> => {
  const { name, system, machine, world } = trial;
  await check(`hermes gateway uninstall leaves nothing of ${name}, and the home as it was`, async () => {
    await machine.run(['rm', '-r', `${system ? '/etc/systemd/system' : '/home/ada/.config/systemd/user'}/${name}.service.d`]);
    const { code, text } = await trial.hermes('gateway', 'uninstall', ...(system ? ['--system'] : []));
    expect(code === 0 && text === `${name} is removed.\n`, text);
    expect((await trial.show('LoadState')) === 'not-found', `systemd still knows it: ${await trial.show('LoadState')}`);
    const left = (await machine.run(['sh', '-c', 'find /etc/systemd /home/ada/.config -name "hermes-gateway*"'])).text.trim();
    expect(!left.includes(name), left);
    expect((await pidIn(trial)) === undefined, 'a gateway still runs');
    expect((await readdir(world.home)).includes('gateway.db'), 'the home is not whole');
  });
};
