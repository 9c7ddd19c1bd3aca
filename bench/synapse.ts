import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from '../src/lib/clock.ts';
import { freePort } from '../test/support/free-port.ts';

const run = promisify(execFile);
const module = 'synapse.app.homeserver';

/** A real homeserver on this machine. */
export interface Synapse extends AsyncDisposable {
  readonly baseUrl: string;
  readonly version: string;
  register(name: string, password: string): Promise<{ readonly userId: string; readonly token: string }>;
}

/** Where Python finds Synapse: on the machine itself, or in a folder with a Debian of its own. */
interface Place {
  readonly root: string;
  readonly command: readonly string[];
}

const versionAt = async ({ command }: Place): Promise<string | undefined> => {
  const [program = '', ...rest] = command;
  try {
    return (await run(program, [...rest, '-c', 'import synapse; print(synapse.__version__)'])).stdout.trim();
  } catch {
    return undefined;
  }
};

const inside = (root: string): Place => ({ root, command: ['chroot', root, 'python3'] });

/**
 * Debian has Synapse in `sid` only, so it goes into a folder of its own (about 700 MB). A mirror may be some days behind, and then its
 * signed list of packages counts as out of date; for a trial that is no harm.
 */
const install = async (root: string): Promise<void> => {
  console.log(`installing Synapse from Debian sid into ${root}; this takes a minute or two`);
  await run('debootstrap', ['--variant=minbase', 'sid', root, 'http://deb.debian.org/debian'], { maxBuffer: 2 ** 28 });
  const steps = 'apt-get -o Acquire::Check-Valid-Until=false update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends matrix-synapse';
  await run('chroot', [root, 'sh', '-c', steps], { maxBuffer: 2 ** 28 });
};

/** Undefined when there is none and none can be installed. */
const findPlace = async (root: string): Promise<Place | undefined> => {
  const places: Place[] = [{ root: '', command: ['python3'] }, inside(root)];
  for (const place of places) if ((await versionAt(place)) !== undefined) return place;
  const canInstall = process.getuid?.() === 0 && (await access('/usr/sbin/debootstrap').then(() => true, () => false));
  if (!canInstall) return undefined;
  await install(root);
  return inside(root);
};

const configOf = (folder: string, port: number): string =>
  JSON.stringify({
    server_name: 'trial.test',
    listeners: [{ port, bind_addresses: ['127.0.0.1'], type: 'http', tls: false, resources: [{ names: ['client'], compress: false }] }],
    database: { name: 'sqlite3', args: { database: `${folder}/homeserver.db` } },
    media_store_path: `${folder}/media`,
    signing_key_path: `${folder}/signing.key`,
    pid_file: `${folder}/homeserver.pid`,
    report_stats: false,
    enable_registration: true,
    enable_registration_without_verification: true,
    trusted_key_servers: [],
    // Otherwise it answers a repeated first sync from a cache.
    caches: { sync_response_cache_duration: 0 },
    rc_message: { per_second: 1000, burst_count: 1000 },
    rc_registration: { per_second: 1000, burst_count: 1000 },
    rc_login: { address: { per_second: 1000, burst_count: 1000 }, account: { per_second: 1000, burst_count: 1000 } },
  });

const register = async (baseUrl: string, name: string, password: string): Promise<{ userId: string; token: string }> => {
  const response = await fetch(`${baseUrl}/_matrix/client/v3/register`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ username: name, password, auth: { type: 'm.login.dummy' } }) });
  const answer = (await response.json()) as { user_id?: string; access_token?: string; error?: string };
  if (answer.user_id === undefined || answer.access_token === undefined) throw new Error(`${name} could not be registered: ${answer.error ?? response.status}`);
  return { userId: answer.user_id, token: answer.access_token };
};

/** Starts a homeserver with nothing in it; undefined when there is none on this machine and none can be installed. */
export const startSynapse = async (root: string): Promise<Synapse | undefined> => {
  const place = await findPlace(root);
  if (place === undefined) return undefined;
  const version = (await versionAt(place)) ?? '';
  await mkdir(join(place.root, '/tmp'), { recursive: true });
  const folder = await mkdtemp(join(place.root, '/tmp/hermes-synapse-'));
  const seen = folder.slice(place.root.length);
  const port = await freePort();
  await writeFile(join(folder, 'homeserver.yaml'), configOf(seen, port));
  const [program = '', ...rest] = place.command;
  await run(program, [...rest, '-m', module, '-c', `${seen}/homeserver.yaml`, '--generate-keys']);
  const child = spawn(program, [...rest, '-m', module, '-c', `${seen}/homeserver.yaml`], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  const baseUrl = `http://127.0.0.1:${port}`;
  const isUp = (): Promise<boolean> => fetch(`${baseUrl}/_matrix/client/versions`).then(({ ok }) => ok, () => false);
  for (let tries = 0; !(await isUp()); tries += 1) {
    if (tries > 300 || child.exitCode !== null) throw new Error('Synapse did not start');
    await systemClock.sleep(100);
  }
  return {
    baseUrl,
    version,
    register: (name, password) => register(baseUrl, name, password),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
};
