import { posix } from 'node:path';
import { partOfHome } from '../tools/files/part-of-home.ts';
import type { PartOfHome } from '../tools/files/part-of-home.ts';
import { foldPath } from '../tools/files/path-policy.ts';
import { credentialFilesOfUser, credentialFolders, credentialNames, harmlessNames, startupFilesAnywhere, startupFilesOfUser } from '../tools/files/protected-paths.ts';
import { unknown } from './shell/call.ts';

/** Folders that a machine cannot do without. */
const systemFolders: readonly string[] = [
  '/bin', '/boot', '/dev', '/etc', '/home', '/lib', '/lib32', '/lib64', '/libx32', '/nix', '/opt', '/proc', '/root', '/run', '/sbin', '/snap', '/srv', '/sys', '/usr', '/var',
  '/Applications', '/Library', '/System', '/Users', '/Volumes', '/private', '/usr/bin', '/usr/include', '/usr/lib', '/usr/lib64', '/usr/libexec', '/usr/local', '/usr/sbin', '/usr/share', '/var/lib', '/var/log', '/var/spool',
];

/** Where only an administrator has business. */
const systemRoots: readonly string[] = ['/bin', '/boot', '/etc', '/lib', '/lib32', '/lib64', '/libx32', '/proc', '/sbin', '/sys', '/usr', '/var/lib', '/var/log', '/var/spool', '/Library', '/System'];

const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);

/** `*`, `.*`, `.[!.]*` and the like: everything in a folder. */
const isEverything = (name: string): boolean => name !== '' && /[*?]/.test(name) && /^[.*?[\]!^{},]*$/.test(name);

/** The root, a system folder, somebody's home, or everything in one of them. */
export const isVital = (path: string, home: string): boolean => {
  const folder = isEverything(posix.basename(path)) ? posix.dirname(path) : path;
  if (folder === '/' || systemFolders.includes(folder) || isBelow(home, folder)) return true;
  if (/^\/(?:home|Users)\/[^/]+$/.test(folder)) return true;
  return /^\/[^/]*[*?[][^/]*$/.test(folder);
};

export const isSystemPath = (path: string): boolean => systemRoots.some((folder) => isBelow(path, folder));

const harmlessDevice = /^\/dev\/(?:null|zero|full|u?random|std(?:in|out|err)|tty|ptmx|(?:fd|pts|shm)(?:\/.*)?)$/;

/** A disk, the memory, or any other device that is no plain stream. */
export const isRawDevice = (path: string): boolean => (path.startsWith('/dev/') && !harmlessDevice.test(path) && !/^\/dev\/(?:tcp|udp)\//.test(path)) || path === '/proc/sysrq-trigger' || path === '/proc/kcore';

const asPattern = (name: string): RegExp => new RegExp(`^${name.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')).join('.*')}$`);

const secretNames = credentialNames.map(asPattern);
const plainNames = new Set([...harmlessNames, 'known_hosts']);

/** Whether a path is one of these below some folder, or inside one of them. */
const isAtOrIn = (path: string, tails: readonly string[]): boolean => tails.some((tail) => path.endsWith(`/${tail}`) || path.includes(`/${tail}/`));

const secretsOfTheSystem = /^\/etc\/(?:g?shadow-?|sudoers|sudoers\.d|ssl\/private|master\.passwd|krb5\.keytab)(?:\/.*)?$|^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:environ|mem)$|^(?:\/var)?\/run\/(?:secrets|credentials)(?:\/.*)?$/;

/** A file or folder that holds secrets. */
export const isCredential = (written: string): boolean => {
  const path = written.toLowerCase();
  const name = posix.basename(path);
  if (plainNames.has(name) || name.endsWith('.pub')) return false;
  return secretNames.some((pattern) => pattern.test(name)) || isAtOrIn(path, credentialFolders) || isAtOrIn(path, credentialFilesOfUser) || secretsOfTheSystem.test(path);
};

const startupOfTheSystem = /^\/etc\/(?:cron[^/]*|profile|profile\.d|bash\.bashrc|environment|ld\.so\.preload|rc\.local|init\.d|systemd|xdg\/autostart|pam\.d)(?:\/.*)?$|^\/var\/(?:spool|lib)\/cron(?:\/.*)?$/;
const startupFiles: readonly string[] = [...startupFilesOfUser.filter((name) => name !== 'bin'), ...startupFilesAnywhere, '.ssh/authorized_keys', '.ssh/authorized_keys2', '.ssh/config', '.ssh/rc', 'library/launchdaemons'];

/** A file that something runs or obeys later by itself. */
export const isStartupFile = (written: string): boolean => {
  const path = written.toLowerCase();
  return isAtOrIn(path, startupFiles) || startupOfTheSystem.test(path);
};

/** Where the gateway lives, as commands may name it. */
export interface GatewayPlace {
  readonly home: string;
  /** Other names of it, and the home of the agent that acts. */
  readonly homes?: readonly string[] | undefined;
  /** Folders that were opened to the agent. One around a home does not open the home. */
  readonly open?: readonly string[] | undefined;
}

/** What a shell fills in, or what is only known while it runs, may be anything. */
const isOpenEnded = (name: string): boolean => /[*?[{]/.test(name) || name.includes(unknown);

/** What a path is to the gateway: nothing when it lies outside or was opened; `home` for a whole home. */
const partOfGateway = (written: string, { home, homes = [], open = [] }: GatewayPlace): PartOfHome | 'home' | undefined => {
  const path = foldPath(written);
  const [own] = [home, ...homes].map(foldPath).filter((folder) => isBelow(path, folder)).toSorted((a, b) => b.length - a.length);
  if (own === undefined || open.map(foldPath).some((folder) => folder !== own && isBelow(folder, own) && isBelow(path, folder))) return undefined;
  const relative = path.slice(own.length + 1);
  if (/^(?:profiles(?:\/[^/]*)?)?$/.test(relative)) return 'home';
  return isOpenEnded(relative.replace(/^profiles\/[^/]+\//, '').split('/', 1)[0] ?? '') ? 'secret' : partOfHome(relative);
};

/** What the gateway itself stands on: everything in its home that was not given to the agent. */
export const isGatewayFile = (path: string, place: GatewayPlace): boolean => !['open', undefined].includes(partOfGateway(path, place));

/** Files of the gateway that may hold credentials or conversations. */
export const isGatewaySecret = (path: string, place: GatewayPlace): boolean => partOfGateway(path, place) === 'secret' || (isGatewayFile(path, place) && /\/(?:config\.ya?ml|hooks(?:\/.*)?)$/i.test(path));

/** Files of the gateway that are nobody else's business. */
export const isGatewayPrivate = (path: string, place: GatewayPlace): boolean => partOfGateway(path, place) === 'private';

export const isGatewayHome = (path: string, place: GatewayPlace): boolean => partOfGateway(path, place) === 'home';
