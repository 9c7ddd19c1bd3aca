import type { TerminalSettings } from './options.ts';

/** How a program is started. */
export interface Launch {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Ends what may be left when the process here is killed. */
  readonly cleanup?: Pick<Launch, 'argv' | 'env'>;
}

export interface SandboxFolder {
  readonly path: string;
  readonly writable: boolean;
}

/** Where a program is to run. Paths inside and outside of a sandbox are the same. */
export interface SandboxPlace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The folder that belongs to the agent; also the home in the sandbox. */
  readonly workspace: string;
  readonly folders: readonly SandboxFolder[];
  /** Names the container, so that it can be found again. */
  readonly name: string;
}

/** Read as `/path` or `/path:ro`; `~` is the user's folder. */
export const readFolders = (texts: readonly string[], userHome: string): readonly SandboxFolder[] =>
  texts.map((text) => {
    const path = text.replace(/:(?:ro|rw)$/, '').replace(/^~(?=\/|$)/, userHome);
    return { path, writable: !text.endsWith(':ro') };
  });

/** What the programs of a usual system need, read-only. `-try` leaves out what a machine does not have. */
const systemFolders: readonly string[] = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/opt', '/nix/store', '/etc/alternatives', '/etc/ld.so.cache', '/etc/ld.so.conf', '/etc/ld.so.conf.d', '/etc/ssl/certs', '/etc/ca-certificates', '/etc/pki/tls/certs', '/etc/passwd', '/etc/group', '/etc/nsswitch.conf', '/etc/localtime', '/etc/terminfo'];
const networkFiles: readonly string[] = ['/etc/resolv.conf', '/etc/hosts', '/etc/services', '/etc/protocols'];

/** A namespace of its own for everything: a system that can be read, and the folders named. */
export const bubblewrapArgs = (program: readonly string[], place: SandboxPlace, settings: Pick<TerminalSettings, 'container_network'>): readonly string[] => [
  '--unshare-all',
  ...(settings.container_network ? ['--share-net'] : []),
  '--die-with-parent',
  '--new-session',
  '--clearenv',
  ...Object.entries({ ...place.env, HOME: place.workspace, TMPDIR: '/tmp' }).flatMap(([name, value]) => ['--setenv', name, value]),
  ...[...systemFolders, ...(settings.container_network ? networkFiles : [])].flatMap((path) => ['--ro-bind-try', path, path]),
  '--proc', '/proc',
  '--dev', '/dev',
  '--tmpfs', '/tmp',
  '--bind', place.workspace, place.workspace,
  ...place.folders.flatMap(({ path, writable }) => [writable ? '--bind' : '--ro-bind', path, path]),
  '--chdir', place.cwd,
  '--',
  ...program,
];

type DockerSettings = Pick<TerminalSettings, 'docker_image' | 'container_network' | 'container_cpu' | 'container_memory' | 'container_pids'>;

const mount = ({ path, writable }: SandboxFolder): string => `type=bind,"source=${path}","target=${path}"${writable ? '' : ',readonly'}`;

/** A container for one command, without rights, gone when the command is. */
export const dockerArgs = (program: readonly string[], place: SandboxPlace, settings: DockerSettings): readonly string[] => [
  'run', '--rm', '--init', '--interactive',
  '--name', place.name,
  '--cap-drop', 'ALL', '--cap-add', 'DAC_OVERRIDE', '--cap-add', 'CHOWN', '--cap-add', 'FOWNER',
  '--security-opt', 'no-new-privileges',
  '--pids-limit', String(settings.container_pids),
  '--cpus', String(settings.container_cpu),
  '--memory', `${settings.container_memory}m`,
  '--network', settings.container_network ? 'bridge' : 'none',
  '--tmpfs', '/tmp:rw,nosuid,size=512m',
  ...[{ path: place.workspace, writable: true }, ...place.folders].flatMap((folder) => ['--mount', mount(folder)]),
  '--workdir', place.cwd,
  ...Object.entries({ ...place.env, HOME: place.workspace }).filter(([name]) => name !== 'PATH').flatMap(([name, value]) => ['--env', `${name}=${value}`]),
  settings.docker_image,
  ...program,
];
