import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from '../../src/lib/clock.ts';

const execute = promisify(execFile);

export interface Ran {
  readonly code: number;
  /** What it printed, on both ways. */
  readonly text: string;
}

/** A small Linux of its own, with systemd as its first process, in namespaces of this machine. Network and shared folders are this machine's. */
export interface SystemdMachine extends AsyncDisposable {
  readonly version: string;
  run(command: readonly string[], options?: { readonly user?: string; readonly env?: Readonly<Record<string, string>> }): Promise<Ran>;
  /** Ends it in order and starts it again, with the same disk. */
  reboot(): Promise<void>;
}

const packages = 'systemd,systemd-sysv,dbus,dbus-user-session,libpam-systemd,polkitd,libatomic1';

/** About 300 MB, kept for the next trial. */
const install = async (root: string): Promise<void> => {
  console.log(`installing a Debian with systemd into ${root}; this takes a minute or two`);
  await execute('debootstrap', ['--variant=minbase', `--include=${packages}`, 'trixie', root, 'http://deb.debian.org/debian'], { maxBuffer: 2 ** 28 });
};

const exists = (path: string): Promise<boolean> => access(path).then(() => true, () => false);

/** Runs as the first process of the namespaces: puts the file systems together and becomes systemd. */
const bootScript = `set -eu
root=$1; disk=$2; shift 2
r=$disk/root
mkdir -p "$disk/upper" "$disk/work" "$r"
mount -t overlay overlay -o "lowerdir=$root,upperdir=$disk/upper,workdir=$disk/work" "$r"
mount -t proc proc "$r/proc"
mount --bind "$r/proc/sys" "$r/proc/sys"
mount -o remount,bind,ro "$r/proc/sys"
mount -t sysfs -o ro,nosuid,nodev,noexec sysfs "$r/sys"
mount -t cgroup2 cgroup2 "$r/sys/fs/cgroup"
mount -t tmpfs -o mode=755,nosuid tmpfs "$r/dev"
mkdir "$r/dev/pts" "$r/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$r/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$r/dev/shm"
mknod -m 666 "$r/dev/null" c 1 3
mknod -m 666 "$r/dev/zero" c 1 5
mknod -m 666 "$r/dev/full" c 1 7
mknod -m 666 "$r/dev/random" c 1 8
mknod -m 666 "$r/dev/urandom" c 1 9
mknod -m 666 "$r/dev/tty" c 5 0
ln -s pts/ptmx "$r/dev/ptmx"
ln -s /proc/self/fd "$r/dev/fd"
mount -t tmpfs -o mode=755 tmpfs "$r/run"
mount -t tmpfs -o mode=1777 tmpfs "$r/tmp"
for folder in "$@"; do mkdir -p "$r$folder"; mount --bind "$folder" "$r$folder"; done
mkdir -p "$r/old"
cd "$r"
pivot_root . old
umount -l /old
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --log-target=journal --show-status=no
`;

/** Where the groups of processes are, in their second form; systemd gets one below it. */
const cgroupFolder = async (): Promise<string | undefined> =>
  (await readFile('/proc/self/mounts', 'utf8'))
    .split('\n')
    .map((line) => line.split(' '))
    .find(([, , type]) => type === 'cgroup2')?.[1];

const removeGroups = async (folder: string): Promise<void> => {
  for (const entry of await readdir(folder, { withFileTypes: true })) if (entry.isDirectory()) await removeGroups(join(folder, entry.name));
  await rmdir(folder);
};

const run = (command: readonly string[]): Promise<Ran> =>
  new Promise((resolve) => {
    const [program = '', ...args] = command;
    execFile(program, args, { maxBuffer: 2 ** 26 }, (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code ?? 1), text: `${stdout}${stderr}` }));
  });

const inside = (pid: number): readonly string[] => ['nsenter', '-t', String(pid), '-m', '-p', '-u', '-i', '-C', '-r', '-w'];

interface Booted {
  /** Of systemd, as this machine counts. */
  readonly pid: number;
  readonly ended: Promise<unknown>;
}

const firstChild = async (pid: number): Promise<number | undefined> => Number((await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')).trim().split(' ')[0]) || undefined;

const boot = async (at: { readonly root: string; readonly disk: string; readonly group: string; readonly shared: readonly string[] }): Promise<Booted> => {
  const script = join(at.disk, 'boot.sh');
  await writeFile(script, bootScript);
  const start = 'echo $$ > "$0/cgroup.procs"; exec unshare --mount --pid --fork --uts --ipc --cgroup --propagation private sh "$@"';
  const child = spawn('sh', ['-c', start, at.group, script, at.root, at.disk, ...at.shared], { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(child, 'exit');
  for (let tries = 0; tries < 600; tries += 1) {
    const pid = child.pid === undefined ? undefined : await firstChild(child.pid);
    if (pid !== undefined) {
      const { text } = await run([...inside(pid), 'systemctl', 'is-system-running']);
      if (/^(running|degraded)$/m.test(text)) return { pid, ended };
    }
    if (child.exitCode !== null) break;
    await systemClock.sleep(100);
  }
  child.kill('SIGKILL');
  throw new Error('systemd did not start in namespaces of its own');
};

const asUser = (user: string | undefined): readonly string[] => (user === undefined ? [] : ['runuser', '-u', user, '--']);

/** Starts such a machine; undefined when this one cannot have it. */
export const startSystemdMachine = async (root: string, shared: readonly string[]): Promise<SystemdMachine | undefined> => {
  const groups = await cgroupFolder();
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || groups === undefined) return undefined;
  if (!(await exists(join(root, 'lib/systemd/systemd')))) {
    if (!(await exists('/usr/sbin/debootstrap'))) return undefined;
    await install(root);
  }
  const disk = await mkdtemp(join(tmpdir(), 'hermes-systemd-disk-'));
  const group = join(groups, basename(disk));
  await mkdir(group);
  const at = { root, disk, group, shared };
  let booted = await boot(at);
  const off = async (): Promise<void> => {
    await run([...inside(booted.pid), 'systemctl', 'poweroff']);
    const late = setTimeout(() => process.kill(booted.pid, 'SIGKILL'), 60_000);
    await booted.ended;
    clearTimeout(late);
  };
  const machine: SystemdMachine = {
    version: (await run([...inside(booted.pid), 'systemctl', '--version'])).text.split('\n')[0] ?? '',
    run: (command, { user, env = {} } = {}) => {
      const variables = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: user === undefined ? '/root' : `/home/${user}`, ...env };
      return run([...inside(booted.pid), ...asUser(user), 'env', '-i', ...Object.entries(variables).map(([name, value]) => `${name}=${value}`), ...command]);
    },
    async reboot() {
      await off();
      booted = await boot(at);
    },
    async [Symbol.asyncDispose]() {
      await off();
      await removeGroups(group);
      await rm(disk, { recursive: true, force: true });
    },
  };
  return machine;
};
