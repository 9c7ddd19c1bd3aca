import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { attachPath } from '../../platforms/local/client.ts';
import type { Config } from '../configuration/settings.ts';
import { withinTime } from '../process/within-time.ts';

export type ProbedSocket = { readonly path: string; readonly answers: true } | { readonly path: string; readonly answers: false; readonly reason: string };

const answerMs = 2_000;

/** Whether a terminal could attach to the gateway of this home; undefined when the terminal is switched off there. */
export const probeSocket = async (home: string, config: Config, signal: AbortSignal): Promise<ProbedSocket | undefined> => {
  const local = config.accounts.find(({ account }) => account === 'local');
  if (local === undefined) return undefined;
  const { socket } = local.options as { readonly socket?: string };
  const path = attachPath({ home, account: local.account, socket, platform: process.platform, temporary: tmpdir(), userId: process.getuid?.() ?? 0 });
  const connection = createConnection(path);
  try {
    await withinTime(answerMs, signal, () => new Promise<void>((resolve, reject) => connection.once('connect', () => resolve()).once('error', reject)));
    return { path, answers: true };
  } catch (error) {
    signal.throwIfAborted();
    return { path, answers: false, reason: (error as NodeJS.ErrnoException).code ?? 'no answer' };
  } finally {
    connection.destroy();
  }
};
