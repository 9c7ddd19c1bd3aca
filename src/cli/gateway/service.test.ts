import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { test } from 'node:test';
import { DOMParser } from 'linkedom';
import { silentLogger } from '../../lib/logger.ts';
import { until } from '../../../test/support/whole.ts';
import { installedServices } from './installed-service.ts';
import { notifySystemd } from './notify-systemd.ts';
import { serviceFor } from './service.ts';

const env = { HOME: '/home/ada', PATH: '/usr/bin' };
const options = { env, home: '/home/ada/.hermes', system: false, user: 'ada', drainMs: 90_000 };

const linesOf = (given: typeof options): ReadonlySet<string> => new Set(serviceFor(given, 'linux')?.text.split('\n'));

test('systemd restarts it after a crash and after 75, not after 78 or an orderly end, and gives running turns and a slow start their time', () => {
  const service = serviceFor(options, 'linux');
  assert.equal(service?.path, '/home/ada/.config/systemd/user/hermes-gateway.service');
  const lines = linesOf(options);
  for (const line of ['Type=notify', 'WatchdogSec=90', 'Restart=on-failure', 'RestartForceExitStatus=75', 'RestartPreventExitStatus=78', 'TimeoutStartSec=900', 'TimeoutStopSec=135', 'KillMode=mixed', 'OOMPolicy=continue', 'WantedBy=default.target']) assert.ok(lines.has(line), line);
  assert.ok(service?.install.some((command) => command.join(' ') === 'systemctl --user enable --now hermes-gateway'));
  assert.deepEqual(service.forget, [['systemctl', '--user', 'daemon-reload']]);
});

test('a service of the machine runs as the owner of the home', () => {
  const lines = linesOf({ ...options, system: true });
  for (const line of ['User=ada', 'WantedBy=multi-user.target', 'Wants=network-online.target']) assert.ok(lines.has(line), line);
  assert.ok(serviceFor({ ...options, system: true }, 'linux')?.install.every((command) => !command.includes('--user')));
});

test('another home has a service of its own, and signs of systemd in its name mean nothing', () => {
  const home = '/srv/a b%h$X"q\\n';
  assert.match(serviceFor({ ...options, home }, 'linux')?.name ?? '', /^hermes-gateway-[0-9a-f]{8}$/);
  const lines = linesOf({ ...options, home });
  assert.ok(lines.has('Environment="HERMES_HOME=/srv/a b%%h$X\\"q\\\\n"'), [...lines].join('\n'));
  assert.ok(lines.has('WorkingDirectory=/srv/a b%%h$X"q\\n'), [...lines].join('\n'));
});

test('the service looks for other gateways of this user where commands do', () => {
  const lines = linesOf({ ...options, env: { ...env, XDG_STATE_HOME: '/srv/state', HERMES_GATEWAY_LOCK_DIR: '' } as typeof env });
  assert.ok(lines.has('Environment="XDG_STATE_HOME=/srv/state"'));
  assert.equal([...lines].filter((line) => line.startsWith('Environment=')).length, 3);
});

/** A property list as what it says. */
const valueOf = (node: Element): unknown => {
  const inner = [...node.children];
  switch (node.tagName) {
    case 'dict':
      return Object.fromEntries(inner.flatMap((key, i) => (i % 2 === 0 ? [[key.textContent, valueOf(inner[i + 1] as Element)]] : [])));
    case 'array':
      return inner.map(valueOf);
    case 'integer':
      return Number(node.textContent);
    case 'true':
    case 'false':
      return node.tagName === 'true';
    default:
      return node.textContent;
  }
};

test('launchd gets a property list that starts it with the session, and again after every end that was not in order', () => {
  const home = '/srv/a&b <c>';
  const service = serviceFor({ ...options, home }, 'darwin');
  assert.match(service?.path ?? '', /^\/home\/ada\/Library\/LaunchAgents\/ai\.hermes\.gateway-[0-9a-f]{8}\.plist$/);
  const root = new DOMParser().parseFromString(service?.text ?? '', 'text/xml').querySelector('plist > dict') as unknown as Element;
  const { ProgramArguments: program, ...list } = valueOf(root) as Record<string, unknown>;
  assert.deepEqual((program as readonly string[]).slice(-3), ['gateway', 'run', '--background']);
  assert.deepEqual(list, {
    Label: service?.name,
    EnvironmentVariables: { HERMES_HOME: home, PATH: '/usr/bin' },
    WorkingDirectory: home,
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
    ThrottleInterval: 10,
    ExitTimeOut: 135,
    ProcessType: 'Adaptive',
    StandardOutPath: join(home, 'logs', 'console.log'),
    StandardErrorPath: join(home, 'logs', 'console.log'),
  });
  assert.deepEqual([service?.install.at(-1)?.slice(0, 2), service?.uninstall.at(-1)?.slice(0, 2)], [['launchctl', 'bootstrap'], ['launchctl', 'bootout']]);
  assert.match(serviceFor({ ...options, system: true }, 'darwin')?.text ?? '', /<key>UserName<\/key><string>ada<\/string>/);
  assert.equal(serviceFor(options, 'win32'), undefined);
});

test('the service of a home is found under either name, and that of another home is not taken for it', { skip: process.platform === 'win32' && 'there is no service manager that we know' }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-service-'));
  t.after(() => rm(folder, { recursive: true }));
  const here = { HOME: folder, PATH: '/usr/bin' };
  const write = async (home: string): Promise<string> => {
    const service = serviceFor({ ...options, env: here, home });
    assert.ok(service);
    await mkdir(dirname(service.path), { recursive: true });
    await writeFile(service.path, service.text);
    return service.name;
  };
  const usual = join(folder, '.hermes');
  assert.deepEqual(installedServices(here, usual), []);
  const names = [await write(usual), await write('/srv/other')];
  assert.deepEqual(installedServices(here, usual).map(({ name, system }) => [name, system]), [[names[0], false]]);
  assert.deepEqual(installedServices(here, '/srv/other').map(({ name }) => name), [names[1]]);
  assert.deepEqual(installedServices(here, '/srv/nothing'), []);
});

test('systemd is told when it is up, again and again that it lives, and how long its end may take', { skip: process.platform === 'win32' && 'there is no systemd' }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-notify-'));
  t.after(() => rm(folder, { recursive: true }));
  // As that of systemd 252, which many machines have, it refuses options that it does not know.
  await writeFile(join(folder, 'systemd-notify'), `#!/bin/sh\nfor word; do case $word in --ready | --status=* | [A-Z]*=*) ;; *) exit 1 ;; esac; done\necho "$*" >> '${folder}/told'\n`);
  await chmod(join(folder, 'systemd-notify'), 0o755);
  const told = async (): Promise<string> => readFile(join(folder, 'told'), 'utf8').catch(() => '');
  const given = { PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}`, NOTIFY_SOCKET: '/run/systemd/notify', WATCHDOG_USEC: '60000' };
  using notice = notifySystemd(given, silentLogger);
  notice.waiting('Waits');
  await until(async () => (await told()) === '--status=Waits\n', 'the first word');
  notice.ready('Runs');
  await until(async () => (await told()).split('WATCHDOG=1\n').length > 2, 'two signs of life');
  assert.ok((await told()).includes('--ready --status=Runs\n'));
  notice.stopping('Ends', 35_000);
  await until(async () => (await told()).includes('STOPPING=1 --status=Ends EXTEND_TIMEOUT_USEC=35000000\n'), 'the end');
});
