import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceFor } from './service.ts';

const env = { HOME: '/home/ada', PATH: '/usr/bin' };
const options = { env, home: '/home/ada/.hermes', system: false, drainMs: 90_000 };

test('systemd restarts it after a crash and after 75, not after 78, and gives running turns their time', () => {
  const service = serviceFor(options, 'linux');
  assert.equal(service?.path, '/home/ada/.config/systemd/user/hermes-gateway.service');
  const lines = new Set(service?.text.split('\n'));
  for (const line of ['Type=notify', 'Restart=always', 'RestartForceExitStatus=75', 'RestartPreventExitStatus=78', 'TimeoutStopSec=120', 'KillMode=mixed', 'WantedBy=default.target']) assert.ok(lines.has(line), line);
  assert.ok(service?.install.some((command) => command.join(' ') === 'systemctl --user enable --now hermes-gateway'));
});

test('another home has a service of its own, and signs of systemd in its name mean nothing', () => {
  const service = serviceFor({ ...options, home: '/srv/a b%h$X' }, 'linux');
  assert.match(service?.name ?? '', /^hermes-gateway-[0-9a-f]{8}$/);
  assert.match(service?.text ?? '', /^Environment="HERMES_HOME=\/srv\/a b%%h\$\$X"$/m);
  assert.match(serviceFor({ ...options, system: true }, 'linux')?.text ?? '', /^User=.+$/m);
});

test('launchd gets a property list, and elsewhere there is no service', () => {
  const service = serviceFor({ ...options, home: '/srv/a&b' }, 'darwin');
  assert.match(service?.path ?? '', /^\/home\/ada\/Library\/LaunchAgents\/ai\.hermes\.gateway-[0-9a-f]{8}\.plist$/);
  assert.match(service?.text ?? '', /<key>HERMES_HOME<\/key><string>\/srv\/a&amp;b<\/string>/);
  assert.equal(serviceFor(options, 'win32'), undefined);
});
