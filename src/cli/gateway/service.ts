import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../config/variables.ts';
import { fingerprintOf } from './known-homes.ts';
import { launcher } from './start.ts';

export type ServiceCommand = readonly string[];

/** A service of this machine that keeps a gateway running, as the machine's own service manager wants it. */
export interface Service {
  readonly manager: 'systemd' | 'launchd';
  readonly name: string;
  readonly path: string;
  readonly text: string;
  /** The line of the text that says for which home it is. */
  readonly homeLine: string;
  /** Make it known and start it. Those of `wishes` may be refused without harm to what runs now. */
  readonly install: readonly ServiceCommand[];
  readonly wishes: readonly ServiceCommand[];
  readonly start: ServiceCommand;
  /** Absent where a signal to the process is all there is. `state` prints `inactive` or `failed` when there is nothing to stop; whoever may not stop it by the manager is not asked for a password, but sends the signal. */
  readonly stop?: { readonly state: ServiceCommand; readonly command: ServiceCommand };
  /** End it, and after its file is gone, forget it. */
  readonly uninstall: readonly ServiceCommand[];
  readonly forget: readonly ServiceCommand[];
}

export interface ServiceOptions {
  readonly env: Environment;
  readonly home: string;
  /** For the whole machine instead of this user. */
  readonly system: boolean;
  /** Who the gateway runs as in a service of the machine: a name or a number. */
  readonly user: string;
  /** What running turns get at the end. */
  readonly drainMs: number;
}

/** The process ends itself this long after the drain at the latest; a service manager waits longer than that before it kills. */
const endMarginSeconds = 45;

/** The longest wait of a gateway that was started too often is five minutes; a large database is checked and migrated within the rest. */
const startSeconds = 900;

const ownFolder = (env: Environment): string => (env['HOME'] ?? '') || homedir();

const stopSeconds = (drainMs: number): number => Math.max(60, Math.ceil(drainMs / 1000) + endMarginSeconds);

/** The usual home has the plain name; others are told apart by what stands for them. */
const suffixOf = ({ env, home }: ServiceOptions): string => (home === join(ownFolder(env), '.hermes') ? '' : `-${fingerprintOf(home).slice(0, 8)}`);

/** Systemd reads `%` as its own everywhere. Quotes keep spaces. */
const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%')}"`;

/** Only in arguments of a command `$` begins a variable. */
const argument = (text: string): string => quoted(text.replaceAll('$', '$$$$'));

/** What the service must see as the commands do that are typed here: programs, and where this user's gateways know of each other. */
const environmentOf = ({ env, home }: ServiceOptions): Readonly<Record<string, string>> => {
  const passed = ['XDG_STATE_HOME', 'HERMES_GATEWAY_LOCK_DIR'].flatMap((name) => ((env[name] ?? '') === '' ? [] : [[name, env[name] ?? ''] as const]));
  return { HERMES_HOME: home, PATH: env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin', ...Object.fromEntries(passed) };
};

const systemdHomeLine = (home: string): string => `Environment=${quoted(`HERMES_HOME=${home}`)}`;

const unitText = (options: ServiceOptions): string => {
  const { home, system, user, drainMs } = options;
  const { HERMES_HOME: _home, ...others } = environmentOf(options);
  return [
    '[Unit]',
    'Description=Hermes gateway',
    ...(system ? ['After=network-online.target', 'Wants=network-online.target'] : []),
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    'Type=notify',
    'NotifyAccess=all',
    'WatchdogSec=90',
    `ExecStart=${quoted(process.execPath)} ${argument(launcher)} gateway run`,
    systemdHomeLine(home),
    ...Object.entries(others).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`),
    ...(system ? [`User=${user}`] : []),
    `WorkingDirectory=${home.replaceAll('%', '%%')}`,
    // Not `always`: whoever ends it by `hermes gateway stop` does not want it back.
    'Restart=on-failure',
    'RestartSec=5',
    'RestartForceExitStatus=75',
    'RestartPreventExitStatus=78',
    'KillMode=mixed',
    'KillSignal=SIGTERM',
    `TimeoutStartSec=${startSeconds}`,
    `TimeoutStopSec=${stopSeconds(drainMs)}`,
    // A program of the agent that runs out of memory is no reason to end the gateway.
    'OOMPolicy=continue',
    'LimitCORE=0',
    'UMask=0077',
    '',
    '[Install]',
    `WantedBy=${system ? 'multi-user.target' : 'default.target'}`,
    '',
  ].join('\n');
};

const systemdService = (options: ServiceOptions, suffix: string): Service => {
  const name = `hermes-gateway${suffix}`;
  const folder = options.system ? '/etc/systemd/system' : join((options.env['XDG_CONFIG_HOME'] ?? '') || join(ownFolder(options.env), '.config'), 'systemd', 'user');
  const control = (...args: readonly string[]): ServiceCommand => ['systemctl', ...(options.system ? [] : ['--user']), ...args];
  return {
    manager: 'systemd',
    name,
    path: join(folder, `${name}.service`),
    text: unitText(options),
    homeLine: systemdHomeLine(options.home),
    install: [control('daemon-reload'), control('enable', '--now', name)],
    wishes: options.system ? [] : [['loginctl', 'enable-linger', userInfo().username]],
    start: control('start', name),
    stop: { state: control('show', '--property=ActiveState', '--value', name), command: control('--no-ask-password', 'stop', name) },
    uninstall: [control('disable', '--now', name)],
    forget: [control('daemon-reload')],
  };
};

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const string = (value: string): string => `<string>${escaped(value)}</string>`;

const launchdHomeLine = (home: string): string => `<key>HERMES_HOME</key>${string(home)}`;

const plistText = (options: ServiceOptions, label: string): string => {
  const { home, system, user, drainMs } = options;
  const { HERMES_HOME: _home, ...others } = environmentOf(options);
  const console = string(join(home, 'logs', 'console.log'));
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0"><dict>',
    `  <key>Label</key>${string(label)}`,
    `  <key>ProgramArguments</key><array>${[process.execPath, launcher, 'gateway', 'run', '--background'].map(string).join('')}</array>`,
    '  <key>EnvironmentVariables</key><dict>',
    `    ${launchdHomeLine(home)}`,
    ...Object.entries(others).map(([name, value]) => `    <key>${name}</key>${string(value)}`),
    '  </dict>',
    ...(system ? [`  <key>UserName</key>${string(user)}`] : []),
    `  <key>WorkingDirectory</key>${string(home)}`,
    '  <key>RunAtLoad</key><true/>',
    '  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>',
    '  <key>ThrottleInterval</key><integer>10</integer>',
    `  <key>ExitTimeOut</key><integer>${stopSeconds(drainMs)}</integer>`,
    '  <key>ProcessType</key><string>Adaptive</string>',
    `  <key>StandardOutPath</key>${console}`,
    `  <key>StandardErrorPath</key>${console}`,
    '</dict></plist>',
    '',
  ].join('\n');
};

const launchdService = (options: ServiceOptions, suffix: string): Service => {
  const label = `ai.hermes.gateway${suffix}`;
  const domain = options.system ? 'system' : `gui/${userInfo().uid}`;
  const path = join(options.system ? '/Library/LaunchDaemons' : join(ownFolder(options.env), 'Library', 'LaunchAgents'), `${label}.plist`);
  return {
    manager: 'launchd',
    name: label,
    path,
    text: plistText(options, label),
    homeLine: launchdHomeLine(options.home),
    // One that was disabled once cannot be bootstrapped.
    install: [['launchctl', 'enable', `${domain}/${label}`], ['launchctl', 'bootstrap', domain, path]],
    wishes: [],
    start: ['launchctl', 'kickstart', `${domain}/${label}`],
    uninstall: [['launchctl', 'bootout', `${domain}/${label}`]],
    forget: [],
  };
};

const named = (options: ServiceOptions, suffix: string, platform: NodeJS.Platform): Service | undefined => {
  if (platform === 'linux') return systemdService(options, suffix);
  return platform === 'darwin' ? launchdService(options, suffix) : undefined;
};

/** Undefined where we know no service manager. */
export const serviceFor = (options: ServiceOptions, platform: NodeJS.Platform = process.platform): Service | undefined => named(options, suffixOf(options), platform);

/** Under which names a service for this home may be found; whose home is the usual one depends on who has installed it. */
export const servicesNamedFor = (options: ServiceOptions, platform: NodeJS.Platform = process.platform): readonly Service[] =>
  ['', `-${fingerprintOf(options.home).slice(0, 8)}`].flatMap((suffix) => named(options, suffix, platform) ?? []);
