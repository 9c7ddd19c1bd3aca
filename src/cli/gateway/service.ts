import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../config/variables.ts';
import { fingerprintOf } from './known-homes.ts';
import { launcher } from './start.ts';

/** A service of this machine that keeps a gateway running, as the machine's own service manager wants it. */
export interface Service {
  readonly manager: 'systemd' | 'launchd';
  readonly name: string;
  readonly path: string;
  readonly text: string;
  /** Commands that make it known and start it, and those that end and forget it. */
  readonly install: readonly (readonly string[])[];
  readonly uninstall: readonly (readonly string[])[];
}

export interface ServiceOptions {
  readonly env: Environment;
  readonly home: string;
  /** For the whole machine instead of this user. */
  readonly system: boolean;
  /** What running turns get at the end. */
  readonly drainMs: number;
}

const ownFolder = (env: Environment): string => (env['HOME'] ?? '') || homedir();

/** The usual home has the plain name; others are told apart by what stands for them. */
const suffixOf = ({ env, home }: ServiceOptions): string => (home === join(ownFolder(env), '.hermes') ? '' : `-${fingerprintOf(home).slice(0, 8)}`);

/** Systemd reads `%` and, in a command, `$` as its own; both are doubled. Quotes keep spaces. */
const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%').replaceAll('$', '$$$$')}"`;

const pathOf = (env: Environment): string => env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin';

const unitText = (options: ServiceOptions): string => {
  const { env, home, system, drainMs } = options;
  return [
    '[Unit]',
    'Description=Hermes gateway',
    'After=network-online.target',
    'Wants=network-online.target',
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    'Type=notify',
    'NotifyAccess=all',
    'WatchdogSec=90',
    `ExecStart=${quoted(process.execPath)} ${quoted(launcher)} gateway run`,
    `Environment=${quoted(`HERMES_HOME=${home}`)}`,
    `Environment=${quoted(`PATH=${pathOf(env)}`)}`,
    ...(system ? [`User=${userInfo().username}`] : []),
    `WorkingDirectory=${home.replaceAll('%', '%%')}`,
    'Restart=always',
    'RestartSec=5',
    'RestartForceExitStatus=75',
    'RestartPreventExitStatus=78',
    'KillMode=mixed',
    'KillSignal=SIGTERM',
    `TimeoutStopSec=${Math.max(60, Math.ceil(drainMs / 1000) + 30)}`,
    'UMask=0077',
    '',
    '[Install]',
    `WantedBy=${system ? 'multi-user.target' : 'default.target'}`,
    '',
  ].join('\n');
};

const systemdService = (options: ServiceOptions): Service => {
  const name = `hermes-gateway${suffixOf(options)}`;
  const folder = options.system ? '/etc/systemd/system' : join((options.env['XDG_CONFIG_HOME'] ?? '') || join(ownFolder(options.env), '.config'), 'systemd', 'user');
  const control = (...args: readonly string[]): readonly string[] => ['systemctl', ...(options.system ? [] : ['--user']), ...args];
  const linger = options.system ? [] : [['loginctl', 'enable-linger', userInfo().username]];
  return {
    manager: 'systemd',
    name,
    path: join(folder, `${name}.service`),
    text: unitText(options),
    install: [control('daemon-reload'), control('enable', '--now', name), ...linger],
    uninstall: [control('disable', '--now', name), control('daemon-reload')],
  };
};

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const plistText = ({ env, home }: ServiceOptions, label: string): string => {
  const text = (value: string): string => `<string>${escaped(value)}</string>`;
  const console = text(join(home, 'logs', 'console.log'));
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0"><dict>',
    `  <key>Label</key>${text(label)}`,
    `  <key>ProgramArguments</key><array>${[process.execPath, launcher, 'gateway', 'run'].map(text).join('')}</array>`,
    `  <key>EnvironmentVariables</key><dict><key>HERMES_HOME</key>${text(home)}<key>PATH</key>${text(pathOf(env))}</dict>`,
    `  <key>WorkingDirectory</key>${text(home)}`,
    '  <key>RunAtLoad</key><true/>',
    '  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>',
    '  <key>ThrottleInterval</key><integer>10</integer>',
    '  <key>ExitTimeOut</key><integer>60</integer>',
    `  <key>StandardOutPath</key>${console}`,
    `  <key>StandardErrorPath</key>${console}`,
    '</dict></plist>',
    '',
  ].join('\n');
};

const launchdService = (options: ServiceOptions): Service => {
  const label = `ai.hermes.gateway${suffixOf(options)}`;
  const domain = options.system ? 'system' : `gui/${userInfo().uid}`;
  const path = join(options.system ? '/Library/LaunchDaemons' : join(ownFolder(options.env), 'Library', 'LaunchAgents'), `${label}.plist`);
  return {
    manager: 'launchd',
    name: label,
    path,
    text: plistText(options, label),
    install: [['launchctl', 'bootstrap', domain, path]],
    uninstall: [['launchctl', 'bootout', `${domain}/${label}`]],
  };
};

/** Undefined where we know no service manager. */
export const serviceFor = (options: ServiceOptions, platform: NodeJS.Platform = process.platform): Service | undefined => {
  if (platform === 'linux') return systemdService(options);
  return platform === 'darwin' ? launchdService(options) : undefined;
};
