import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

const isAbsent = (error: unknown): boolean => error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH');

const readIfThere = async (path: string): Promise<string | undefined> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
};

/** State and start of a process from `/proc/<pid>/stat`; its name may hold blanks and brackets. */
export const parseStat = (text: string): { readonly state: string; readonly start: string } | undefined => {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  const start = fields[19];
  return state === undefined || start === undefined ? undefined : { state, start };
};

const onLinux = async (pid: number): Promise<string | undefined> => {
  const stat = parseStat((await readIfThere(`/proc/${pid}/stat`)) ?? '');
  if (stat === undefined || stat.state === 'Z' || stat.state === 'X') return undefined;
  const boot = (await readIfThere('/proc/sys/kernel/random/boot_id')) ?? '';
  return `${boot.trim()}:${stat.start}`;
};

const elsewhere = async (pid: number): Promise<string | undefined> => {
  try {
    const { stdout } = await run('ps', ['-o', 'stat=,lstart=', '-p', String(pid)]);
    const text = stdout.trim();
    return text === '' || text.startsWith('Z') ? undefined : text.replace(/^\S+\s+/, '');
  } catch (error) {
    // `ps` leaves with 1 when there is no such process.
    if (error instanceof Error && 'code' in error && error.code === 1) return undefined;
    throw error;
  }
};

/** When the process with this id began, the same text for as long as it lives and never the same for another; undefined when it is gone. */
export const processStart = (pid: number): Promise<string | undefined> => (process.platform === 'linux' ? onLinux(pid) : elsewhere(pid));
