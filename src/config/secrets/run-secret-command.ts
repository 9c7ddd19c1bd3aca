import { spawn } from 'node:child_process';
import { basename } from 'node:path';
import { killGroup } from '../../lib/kill-group.ts';
import { scrubbedEnvironment } from '../../lib/scrubbed-environment.ts';
import type { Environment } from '../variables.ts';
import type { SecretReading } from './secret-source.ts';

/** What password managers need to find their store and to be unlocked. */
const forManagers = /^(?:GNUPGHOME|GPG_\w+|SSH_AUTH_SOCK|SSH_AGENT_PID|DBUS_SESSION_BUS_ADDRESS|CREDENTIALS_DIRECTORY|PASSWORD_STORE_\w+|BW_SESSION|OP_\w+|VAULT_ADDR|VAULT_TOKEN|SOPS_AGE_KEY_FILE)$/;

const maxBytes = 64 * 1024;
const limitMs = 10_000;

const needsShell = (line: string): boolean => /[|&;<>()$`*?[\]{}~#\\!\n]/.test(line) || /^\s*\w+=/.test(line);

/** The words of a line that needs no shell; quotes keep words together. */
const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)].map(([word]) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_all, double: string | undefined, single: string | undefined) => double ?? single ?? ''));

const start = (line: string, options: { readonly cwd: string | undefined; readonly env: Environment }) => {
  const passthrough = Object.keys(options.env).filter((name) => forManagers.test(name));
  const settings = { cwd: options.cwd, env: { ...scrubbedEnvironment(options.env, { passthrough, withheld: new Set() }) }, detached: process.platform !== 'win32', windowsHide: true, stdio: ['ignore', 'pipe', 'ignore'] as ['ignore', 'pipe', 'ignore'] };
  if (needsShell(line)) return spawn(line, { ...settings, shell: true });
  const [program = '', ...words] = wordsOf(line);
  return spawn(program, words, settings);
};

/** What a command prints, without its last line break. What it says on its error output is never seen: it may repeat the secret. */
export const runSecretCommand = (line: string, options: { readonly cwd: string | undefined; readonly env: Environment; readonly timeoutMs?: number }): Promise<SecretReading> => {
  const name = basename(wordsOf(line)[0] ?? '');
  if (name === '') return Promise.resolve({ ok: false, message: 'the command is empty' });
  const failed = (message: string): SecretReading => ({ ok: false, message: `the command ${name} ${message}` });
  const { timeoutMs = limitMs } = options;
  return new Promise((resolve) => {
    const child = start(line, options);
    const pieces: Buffer[] = [];
    let bytes = 0;
    let verdict: SecretReading | undefined;
    const stop = (message: string): void => {
      verdict ??= failed(message);
      if (child.pid !== undefined) killGroup(child.pid);
    };
    const timer = setTimeout(() => stop(`did not answer within ${timeoutMs / 1000} s`), timeoutMs);
    // Nobody is left who would end it, or who wants its answer.
    const leave = (): void => stop('was called off');
    process.once('exit', leave);
    const settle = (reading: SecretReading): void => {
      clearTimeout(timer);
      process.off('exit', leave);
      resolve(reading);
    };
    child.stdout.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > maxBytes) stop(`printed more than ${maxBytes / 1024} KiB; this is not a secret`);
      else pieces.push(piece);
    });
    child.on('error', (error: NodeJS.ErrnoException) => {
      settle(failed(error.code === 'ENOENT' ? 'is not installed, or not in PATH' : `cannot be started (${error.code ?? 'unknown reason'})`));
    });
    child.on('close', (code, signal) => {
      const ended = code === 0 ? undefined : failed(`ended with ${code === null ? `signal ${signal}` : `code ${code}`}; run it by hand to see why`);
      settle(verdict ?? ended ?? readingOf(Buffer.concat(pieces), { name: `the command ${name}`, exposed: false }));
    });
  });
};

/** One line break at the end belongs to the file or the command, not to the secret. */
export const readingOf = (content: Buffer | string, source: { readonly name: string; readonly exposed: boolean }): SecretReading => {
  const value = content.toString().replace(/\r?\n$/, '');
  if (value.trim() === '') return { ok: false, message: `${source.name} gives nothing` };
  if (value.includes('\0')) return { ok: false, message: `${source.name} gives no text` };
  return { ok: true, value, exposed: source.exposed };
};
