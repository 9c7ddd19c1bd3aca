import { Worker } from 'node:worker_threads';
import type { Logger } from '../../lib/logger.ts';

/** What `hermes gateway dump` looks for. */
export const isStuckFile = (name: string): boolean => /^stuck\.[^/]*\.txt$/.test(name);

interface Watched {
  /** Counted up by the main thread while it is alive. */
  readonly beats: SharedArrayBuffer;
  readonly folder: string;
  readonly beatMs: number;
  /** Stuck for so long, the main thread is asked where it is. */
  readonly tellAfterMs: number;
  /** Stuck for so long, the process ends. */
  readonly endAfterMs: number;
  readonly pid: number;
}

/**
 * Runs in a thread of its own and is handed there as text, so that nothing has to be loaded: it may use nothing from outside. A thread costs a few
 * megabytes, and is the only thing that still runs when JavaScript does not come back.
 */
const watchMainThread = (watched: Watched): void => {
  const { Session } = process.getBuiltinModule('node:inspector');
  const { readdirSync, rmSync, writeFileSync, writeSync } = process.getBuiltinModule('node:fs');
  // A report of the process has a part for each thread, and each part would have the environment in it.
  process.report.excludeEnv = true;
  const kept = 5;
  const beats = new Int32Array(watched.beats);
  let seen = Atomics.load(beats, 0);
  let seenMs = performance.now();
  let lookedMs = seenMs;
  let told = false;

  const keep = (lines: readonly string[]): void => {
    const old = readdirSync(watched.folder).filter((name) => name.startsWith('stuck.')).toSorted().slice(0, 1 - kept);
    for (const name of old) rmSync(`${watched.folder}/${name}`, { force: true });
    writeFileSync(`${watched.folder}/stuck.${new Date().toISOString().replaceAll(/[:.]/g, '')}.txt`, `${lines.join('\n')}\n`, { mode: 0o600 });
  };

  const tell = (): void => {
    const session = new Session();
    const files = new Map<string, string>();
    session.connectToMainThread();
    session.on('Debugger.scriptParsed', ({ params }) => void files.set(params.scriptId, params.url));
    session.once('Debugger.paused', ({ params }) => {
      keep(params.callFrames.map(({ functionName, location }) => `at ${functionName || '(anonymous)'} (${files.get(location.scriptId) ?? '?'}:${location.lineNumber + 1})`));
      session.post('Debugger.resume');
      session.disconnect();
    });
    session.post('Debugger.enable');
    session.post('Debugger.pause');
  };

  setInterval(() => {
    const nowMs = performance.now();
    // The whole process, or the machine, had stopped: that is nobody's fault.
    if (nowMs - lookedMs > 5 * watched.beatMs) seenMs = nowMs;
    lookedMs = nowMs;
    const beat = Atomics.load(beats, 0);
    if (beat !== seen) {
      seen = beat;
      seenMs = nowMs;
      told = false;
    }
    const stuckMs = nowMs - seenMs;
    if (stuckMs > watched.tellAfterMs && !told) {
      told = true;
      tell();
    }
    if (stuckMs < watched.endAfterMs) return;
    writeSync(2, `The gateway was stuck for ${Math.round(stuckMs / 1000)} s and ends itself; ${watched.folder} has a file stuck.*.txt that says where. Nothing that was received is lost: start it again.\n`);
    process.kill(watched.pid, 'SIGKILL');
  }, watched.beatMs);
};

const beatMs = 1000;
const blockedMs = 2000;

/**
 * Looks after the event loop. A step that takes long is written down when it is over; one that takes very long is asked from outside where it is;
 * and a process that does not come back at all is ended, so that whoever runs it can start it again.
 */
export const watchLoop = (folder: string, log: Logger, limits: { readonly tellAfterMs: number; readonly endAfterMs: number } = { tellAfterMs: 5_000, endAfterMs: 300_000 }): Disposable => {
  const beats = new Int32Array(new SharedArrayBuffer(4));
  let last = performance.now();
  const timer = setInterval(() => {
    Atomics.add(beats, 0, 1);
    const now = performance.now();
    const lateMs = now - last - beatMs;
    last = now;
    if (lateMs > blockedMs) log.warn({ blocked_ms: Math.round(lateMs) }, 'loop.blocked');
  }, beatMs).unref();
  const watched: Watched = { beats: beats.buffer, folder, beatMs, pid: process.pid, ...limits };
  const thread = new Worker(`(${watchMainThread.toString()})(require('node:worker_threads').workerData)`, { eval: true, env: {}, workerData: watched, resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1, stackSizeMb: 1, codeRangeSizeMb: 1 } });
  thread.unref();
  thread.on('error', (error) => log.error({ err: error }, 'loop.watchdog_failed'));
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      void thread.terminate();
    },
  };
};
