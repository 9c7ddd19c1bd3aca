import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { slept } from '../../../lib/clock.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import { changeProcess, forgetProcess, keepProcess, processEnded, processRuns, processesOf } from '../../../store/agents/processes.ts';
import type { StoredProcess } from '../../../store/agents/processes.ts';
import type { Store } from '../../../store/store.ts';
import { ToolError } from '../contract.ts';
import { endGroup } from './kill-group.ts';
import { OutputFile } from './output-file.ts';
import { endNotice, lostNotice } from './process-notices.ts';
import { processStart } from './process-start.ts';
import { newProcess } from './process-entry.ts';
import type { BackgroundProcess } from './process-entry.ts';
import type { Launch } from './sandbox.ts';
import { readExitCode, startProcess } from './start-process.ts';
import { newHitBreaker } from './watch-limits.ts';
import { newWatch, readWatch, scanOutput } from './watch-output.ts';

export interface ProcessNotice {
  readonly sessionId: string;
  /** The same again is the same notice. */
  readonly key: string;
  readonly text: string;
}

export interface ProcessesDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where output is kept; made when it is missing. */
  readonly folder: string;
  /** This machine and this home: what another one has started is not ours to look after. */
  readonly owner: string;
  redact(text: string): string;
  /** Starts a turn in the conversation; resolves when that is certain. Told twice, it happens once. */
  notify(notice: ProcessNotice): Promise<void>;
  /** Takes a notice back that nobody has taken up, because the model knows already. */
  withdraw?(key: string): Promise<void>;
}

export interface StartSpec {
  readonly sessionId: string;
  readonly command: string;
  readonly cwd: string;
  readonly launch: Launch;
  readonly notify: boolean;
  readonly watch: readonly string[];
}

const maxProcesses = 64;
const keptMs = 30 * 60_000;
const lookEveryMs = 1000;

const endKey = (id: string): string => `process:${id}:end`;

/** The programs that run in the background of conversations. They outlive the gateway, and what they owe is told once by whichever gateway finds them. */
export class Processes {
  readonly #deps: ProcessesDeps;
  readonly #all = new Map<string, BackgroundProcess>();
  readonly #breaker = newHitBreaker();
  #stopping = new AbortController();
  #watching: Promise<void> = Promise.resolve();
  #beginning = 0;
  /** Ends that are being told in this moment. */
  readonly #ending = new Set<Promise<void>>();

  constructor(deps: ProcessesDeps) {
    this.#deps = deps;
  }

  /** Begins to look after what is started from now on. */
  async start(): Promise<void> {
    await mkdir(this.#deps.folder, { recursive: true, mode: 0o700 });
    this.#stopping = new AbortController();
    this.#watching = this.#watch(this.#stopping.signal);
  }

  /** Finds again what an earlier gateway has left. Only for whoever is the only gateway of its home: what another has begun in this moment would be taken for lost. */
  async adopt(): Promise<void> {
    const { store, owner } = this.#deps;
    for (const stored of await store.read((db) => processesOf(db, owner))) if (!this.#all.has(stored.id)) await this.#adopt(stored);
    await this.#sweep();
  }

  /** Looks after nothing any more; what runs goes on. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#watching;
    await Promise.all(this.#ending);
    for (const each of this.#all.values()) each.stdin?.destroy();
    this.#all.clear();
  }

  async begin(spec: StartSpec): Promise<BackgroundProcess> {
    this.#beginning += 1;
    try {
      await this.#makeRoom();
      return await this.#begin(spec);
    } finally {
      this.#beginning -= 1;
    }
  }

  async #begin(spec: StartSpec): Promise<BackgroundProcess> {
    const { store, owner } = this.#deps;
    const id = `proc_${randomBytes(6).toString('hex')}`;
    const watch = spec.watch.length === 0 ? undefined : newWatch(spec.watch);
    const { sessionId, command, cwd, notify } = spec;
    await store.write((tx) => keepProcess(tx, { id, owner, sessionId, command, cwd, notify, watch: watch === undefined ? null : JSON.stringify(watch) }));
    const started = await this.#launch(id, spec);
    const { cleanup } = spec.launch;
    const began = (await processStart(started.pid)) ?? null;
    try {
      await store.write((tx) => processRuns(tx, id, { pid: started.pid, started: began }));
    } catch (error) {
      // What is not written down nobody could find and end.
      await endGroup(started.pid, { clock: this.#deps.clock, cleanup });
      throw error;
    }
    const fresh = newProcess({ id, sessionId, command, cwd, notify, pid: started.pid, started: began, startedAtMs: this.#deps.clock.now(), output: this.#output(id), ...(watch !== undefined && { watch }), ...(cleanup !== undefined && { cleanup }) });
    fresh.stdin = started.stdin;
    fresh.stdin.on('error', (error) => this.#deps.log.debug({ err: error, process: id }, 'process.input_failed'));
    this.#all.set(id, fresh);
    const { signal } = this.#stopping;
    fresh.ended = started.ended.then((code) => (signal.aborted ? undefined : this.#followEnd(fresh, code)));
    return fresh;
  }

  /** Those of one conversation, oldest first. */
  of(sessionId: string): readonly BackgroundProcess[] {
    return [...this.#all.values()].filter((each) => each.sessionId === sessionId);
  }

  /** By its id or the start of it. */
  find(sessionId: string, name: string): BackgroundProcess {
    const own = this.of(sessionId);
    const [found, ...others] = own.filter((each) => each.id === name).concat(own.filter((each) => each.id !== name && name !== '' && each.id.startsWith(name)));
    if (found === undefined) throw new ToolError('bad_arguments', `There is no background process ${JSON.stringify(name)} in this conversation. Known: ${own.map((each) => each.id).join(', ') || 'none'}.`);
    if (found.id !== name && others.length > 0) throw new ToolError('bad_arguments', `${JSON.stringify(name)} is the beginning of several ids: ${[found, ...others].map((each) => each.id).join(', ')}.`);
    return found;
  }

  /** Whether something of the conversation still runs. */
  hasLive(sessionId: string): boolean {
    return this.of(sessionId).some((each) => each.end === undefined);
  }

  /** The model knows how it ended: nobody has to be told any more. */
  async markSeen(known: BackgroundProcess): Promise<void> {
    if (known.end === undefined || known.seen) return;
    known.seen = true;
    await this.#deps.store.write((tx) => changeProcess(tx, known.id, { seen: true, notify: false }));
    if (known.told) await this.#deps.withdraw?.(endKey(known.id));
  }

  /** Ends it and all that it has started. Its end is not told: whoever asks for it knows. */
  async kill(running: BackgroundProcess): Promise<void> {
    if (running.end !== undefined) return;
    running.seen = true;
    const isStillIt = running.stdin !== undefined || (await processStart(running.pid)) === running.started;
    if (isStillIt) await endGroup(running.pid, { clock: this.#deps.clock, cleanup: running.cleanup });
    if (running.stdin === undefined) await this.#end(running, (await readExitCode(this.#exitFile(running.id))) ?? null, 'ended');
    else await running.ended;
    await this.#deps.store.write((tx) => changeProcess(tx, running.id, { seen: true, notify: false }));
  }

  /** Ends everything that a conversation has running; answers how many. */
  async killOf(sessionId: string): Promise<number> {
    const running = this.of(sessionId).filter((each) => each.end === undefined);
    await Promise.all(running.map((each) => this.kill(each)));
    return running.length;
  }

  #output(id: string): OutputFile {
    return new OutputFile(join(this.#deps.folder, `${id}.log`));
  }

  #exitFile(id: string): string {
    return join(this.#deps.folder, `${id}.exit`);
  }

  async #launch(id: string, spec: StartSpec): Promise<Awaited<ReturnType<typeof startProcess>>> {
    try {
      return await startProcess(spec.launch, { output: this.#output(id).path, exit: this.#exitFile(id) });
    } catch (error) {
      await this.#deps.store.write((tx) => forgetProcess(tx, id));
      throw new ToolError('failed', `The process could not be started: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }

  async #makeRoom(): Promise<void> {
    if (this.#all.size + this.#beginning <= maxProcesses) return;
    const oldest = [...this.#all.values()].filter((each) => each.end !== undefined && !each.owes).toSorted((a, b) => (a.end?.atMs ?? 0) - (b.end?.atMs ?? 0))[0];
    if (oldest === undefined) throw new ToolError('unavailable', `${maxProcesses} background processes are running already. End some of them first (process with action kill).`);
    await this.#forget(oldest);
  }

  async #forget(ended: BackgroundProcess): Promise<void> {
    this.#all.delete(ended.id);
    await ended.output.remove();
    await rm(this.#exitFile(ended.id), { force: true });
    await this.#deps.store.write((tx) => forgetProcess(tx, ended.id));
  }

  async #adopt(stored: StoredProcess): Promise<void> {
    const { id, sessionId, command, cwd, notify, startedAtMs } = stored;
    const watch = readWatch(stored.watch);
    const found = newProcess({ id, sessionId, command, cwd, notify, pid: stored.pid ?? 0, started: stored.started, startedAtMs, output: this.#output(id), ...(watch !== undefined && { watch }) });
    found.seen = stored.seen;
    this.#all.set(id, found);
    if (stored.state === 'ended' || stored.state === 'lost') {
      found.end = { exitCode: stored.exitCode, atMs: stored.endedAtMs ?? startedAtMs, state: stored.state };
      return;
    }
    if (stored.pid !== null && stored.started !== null && (await processStart(stored.pid)) === stored.started) return;
    const code = await readExitCode(this.#exitFile(id));
    found.wasAway = true;
    await this.#end(found, code ?? null, stored.state === 'starting' && code === undefined ? 'lost' : 'ended');
  }

  /** Files of processes that nobody knows any more. */
  async #sweep(): Promise<void> {
    const { folder } = this.#deps;
    const strange = (await readdir(folder)).filter((name) => name.startsWith('proc_') && !this.#all.has(name.split('.', 1)[0] ?? ''));
    for (const name of strange) await rm(join(folder, name), { force: true });
  }

  async #end(process: BackgroundProcess, exitCode: number | null, state: 'ended' | 'lost'): Promise<void> {
    if (process.end !== undefined) return;
    process.end = { exitCode, atMs: this.#deps.clock.now(), state };
    process.wake();
    await this.#deps.store.write((tx) => processEnded(tx, process.id, { state, exitCode }));
    await this.#look(process);
  }

  /** Never rejects: what could not be told now is told by a later look. */
  async #followEnd(process: BackgroundProcess, exitCode: number): Promise<void> {
    const work = this.#end(process, exitCode, 'ended').catch((error: unknown) => this.#deps.log.error({ err: error, process: process.id }, 'process.end_failed'));
    this.#ending.add(work);
    await work;
    this.#ending.delete(work);
  }

  /** Tells what is owed about a process that has ended. */
  async #tellEnd(process: BackgroundProcess): Promise<void> {
    const { end, id, command, sessionId, wasAway } = process;
    if (!process.owes || end === undefined || process.isAwaited) return;
    const text = end.state === 'lost' ? lostNotice({ id, command }) : endNotice({ id, command, exitCode: end.exitCode, wasAway, output: this.#deps.redact(await process.output.text()) });
    await this.#deps.notify({ sessionId, key: endKey(id), text: this.#deps.redact(text) });
    process.told = true;
    process.notify = false;
    await this.#deps.store.write((tx) => changeProcess(tx, id, { notify: false }));
  }

  /** One look at a time, so that nothing is told twice. */
  #look(process: BackgroundProcess): Promise<void> {
    const look = process.looked.then(() => this.#lookNow(process));
    process.looked = Promise.allSettled([look]).then(() => undefined);
    return look;
  }

  async #lookNow(process: BackgroundProcess): Promise<void> {
    if (process.watch !== undefined) {
      const { store, clock, notify, redact } = this.#deps;
      await scanOutput(process, {
        clock,
        breaker: this.#breaker,
        redact,
        tell: (key, text) => notify({ sessionId: process.sessionId, key, text: redact(text) }),
        keep: (watch, notifyAtEnd) => store.write((tx) => changeProcess(tx, process.id, { watch: watch === undefined ? null : JSON.stringify(watch), notify: notifyAtEnd })),
      });
    }
    await this.#tellEnd(process);
  }

  async #tick(process: BackgroundProcess): Promise<void> {
    const { clock } = this.#deps;
    if (process.end === undefined && process.stdin === undefined && (await processStart(process.pid)) !== process.started) {
      await this.#end(process, (await readExitCode(this.#exitFile(process.id))) ?? null, 'ended');
    }
    await this.#look(process);
    if (process.end === undefined) await process.output.trim();
    else if (!process.owes && clock.now() - process.end.atMs > keptMs) await this.#forget(process);
  }

  async #watch(signal: AbortSignal): Promise<void> {
    do {
      for (const process of this.#all.values()) {
        try {
          await this.#tick(process);
        } catch (error) {
          this.#deps.log.error({ err: error, process: process.id }, 'process.look_failed');
        }
      }
    } while (await slept(this.#deps.clock, lookEveryMs, signal));
  }
}
