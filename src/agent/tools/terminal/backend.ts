import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { ConfigError } from '../../../core/errors.ts';
import type { Dialect } from '../../approvals/shell/call.ts';
import { findProgram } from './find-program.ts';
import type { TerminalSettings } from './options.ts';
import { findTerminal } from './pty.ts';
import type { WithTerminal } from './pty.ts';
import { bubblewrapArgs, dockerArgs, readFolders } from './sandbox.ts';
import type { Launch } from './sandbox.ts';

const run = promisify(execFile);

/** Where commands run. */
export interface Backend {
  /** The shell, as it is named where commands run. */
  readonly shell: string;
  readonly dialect: Dialect;
  /** It can reach nothing of the machine but a folder of its own. */
  readonly isolated: boolean;
  /** Gives a program a terminal there, where that can be done. */
  readonly terminal: WithTerminal | undefined;
  /** How to start a program there. */
  launch(program: readonly [string, ...string[]], at: { readonly cwd: string; readonly env: Readonly<Record<string, string>> }): Launch;
}

export interface BackendDeps {
  readonly settings: TerminalSettings;
  /** The folder of the agent; made when it is missing. */
  readonly workspace: string;
  readonly userHome: string;
  /** Of the gateway, to find programs by. */
  readonly path: string;
  /** A variable of the gateway's own environment; none unless said. */
  environment?(name: string): string | undefined;
}

/** What the client of Docker finds its daemon by. */
const dockerVariables = ['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG', 'DOCKER_TLS', 'DOCKER_TLS_VERIFY', 'DOCKER_CERT_PATH', 'DOCKER_API_VERSION', 'XDG_CONFIG_HOME', 'XDG_RUNTIME_DIR', 'SSH_AUTH_SOCK'];

const local = async (path: string): Promise<Backend> => {
  if (process.platform === 'win32') throw new ConfigError('terminal: commands cannot be run on Windows itself. Run the gateway in WSL, or turn the terminal off.');
  const bash = await findProgram('bash', path);
  const shell = bash ?? (await findProgram('sh', path));
  if (shell === undefined) throw new ConfigError('terminal: neither bash nor sh was found in PATH. Install one of them, or turn the terminal off.');
  return { shell, dialect: bash === undefined ? 'posix' : 'bash', isolated: false, terminal: await findTerminal(path), launch: (argv, { cwd, env }) => ({ argv, cwd, env }) };
};

/** The last line of what a program complained about. */
const complaint = (error: unknown): string => {
  const text = error instanceof Error && 'stderr' in error && typeof error.stderr === 'string' ? error.stderr : String(error);
  return text.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
};

const mustRun = async ({ argv: [program, ...args], env }: Pick<Launch, 'argv' | 'env'>, fix: string): Promise<void> => {
  try {
    await run(program, args, { timeout: 20_000, env });
  } catch (error) {
    throw new ConfigError(`${fix} (${complaint(error)})`, { cause: error });
  }
};

const bubblewrap = async ({ settings, workspace, userHome, path }: BackendDeps): Promise<Backend> => {
  const program = await findProgram('bwrap', path);
  if (program === undefined) throw new ConfigError('terminal.backend is bubblewrap, but bwrap was not found. Install it (for example `apt install bubblewrap`), or set terminal.backend to local.');
  const inside = await local(path);
  const folders = readFolders(settings.container_folders, userHome);
  const launch: Backend['launch'] = (argv, { cwd, env }) => ({ argv: [program, ...bubblewrapArgs(argv, { cwd, env, workspace, folders, name: '' }, settings)], cwd: workspace, env: {} });
  await mustRun(launch([inside.shell, '-c', ':'], { cwd: workspace, env: { PATH: path } }), 'terminal.backend is bubblewrap, but a sandbox cannot be started here. Allow unprivileged user namespaces, or set terminal.backend to local.');
  return { ...inside, isolated: folders.every((folder) => !folder.writable), launch };
};

const clientVariables = (environment: BackendDeps['environment']): Readonly<Record<string, string>> =>
  Object.fromEntries(
    dockerVariables.flatMap((name) => {
      const value = environment?.(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );

const docker = async ({ settings, workspace, userHome, path, environment }: BackendDeps): Promise<Backend> => {
  const program = await findProgram('docker', path);
  if (program === undefined) throw new ConfigError('terminal.backend is docker, but docker was not found. Install it, or set terminal.backend to local.');
  // The client needs its own settings to reach the daemon, the same for each call; a container gets none of them.
  const client = { PATH: path, HOME: userHome, ...clientVariables(environment) };
  await mustRun({ argv: [program, 'version', '--format', '{{.Server.Version}}'], env: client }, 'terminal.backend is docker, but its daemon cannot be reached. Start it and let this user use it, or set terminal.backend to local.');
  const folders = readFolders(settings.container_folders, userHome);
  return {
    shell: 'sh',
    dialect: 'posix',
    terminal: undefined,
    isolated: folders.every((folder) => !folder.writable),
    launch(argv, { cwd, env }) {
      const name = `hermes-${randomBytes(6).toString('hex')}`;
      return { argv: [program, ...dockerArgs(argv, { cwd, env, workspace, folders, name }, settings)], cwd: workspace, env: client, cleanup: { argv: [program, 'kill', name], env: client } };
    },
  };
};

/** Finds out what the chosen backend needs and whether it works here; a `ConfigError` names the fix. */
export const openBackend = async (deps: BackendDeps): Promise<Backend> => {
  await mkdir(deps.workspace, { recursive: true, mode: 0o700 });
  switch (deps.settings.backend) {
    case 'local':
      return local(deps.path);
    case 'bubblewrap':
      return bubblewrap(deps);
    case 'docker':
      return docker(deps);
    default:
      throw deps.settings.backend satisfies never;
  }
};
