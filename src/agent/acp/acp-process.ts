import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { Readable, Writable } from 'node:stream';
import type { ClientConnection, ClientContext, InitializeResponse, RequestPermissionOutcome, RequestPermissionRequest } from '@agentclientprotocol/sdk';
import { slept } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { listOf, recordOf, textOf } from '../models/wires/json-fields.ts';
import { ToolError } from '../tools/contract.ts';
import { endGroup } from '../tools/terminal/kill-group.ts';
import type { ClientFiles } from './client-files.ts';
import { readUpdate } from './read-update.ts';
import type { AcpUpdate } from './read-update.ts';

export interface AcpProcessDeps {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Absent: file access is not offered. */
  readonly files?: Partial<ClientFiles>;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Who hears what the agent says about one of its sessions. */
export interface SessionListener {
  /** Where the agent works in it. */
  readonly folder: string;
  update(update: AcpUpdate): void;
  permission(request: RequestPermissionRequest, signal: AbortSignal): Promise<RequestPermissionOutcome>;
}

/** The agent could not be started, or is gone. */
export class AgentGone extends Error {
  readonly stage: 'start' | 'work';

  constructor(stage: 'start' | 'work', message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'AgentGone';
    this.stage = stage;
  }
}

export interface AcpAbilities {
  readonly name: string;
  readonly loads: boolean;
  /** Takes a session up again without telling all of it. */
  readonly resumes: boolean;
  readonly closes: boolean;
  readonly images: boolean;
}

/** What is known about a session in this process. */
export interface LiveSession {
  readonly acpId: string;
  /** Resolves when the agent has let go of its last prompt; false when it did not in time. */
  settled: Promise<boolean>;
  /** What it has cost so far, as far as that is known. */
  costUsd: number | undefined;
  isBusy: boolean;
}

const startMs = 120_000;
/** Larger than this is no message but a fault. */
const maxMessageBytes = 16 * 1024 * 1024;
const maxStderrLine = 2_000;
const protocolVersion = 1;

const spawned = async (deps: AcpProcessDeps): Promise<ChildProcessWithoutNullStreams> => {
  const [program, ...args] = deps.command;
  try {
    await mkdir(deps.cwd, { recursive: true, mode: 0o700 });
    const child = spawn(program, args, { cwd: deps.cwd, env: deps.environment, stdio: 'pipe', detached: true, windowsHide: true });
    // A broken pipe is noticed by its end.
    child.stdin.on('error', (error) => deps.log.debug({ err: error }, 'acp.pipe_broken'));
    await once(child, 'spawn');
    return child;
  } catch (error) {
    throw new AgentGone('start', `${program} could not be started`, { cause: error });
  }
};

/** What the agent writes for whoever debugs it, line by line. */
const logErrors = (child: ChildProcessWithoutNullStreams, log: Logger): void => {
  let rest = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = (lines.pop() ?? '').slice(0, maxStderrLine);
    for (const line of lines) if (line.trim() !== '') log.debug({ line: line.slice(0, maxStderrLine) }, 'acp.stderr');
  });
};

const abilitiesOf = (answer: InitializeResponse, fallback: string): AcpAbilities => {
  const can = recordOf(answer.agentCapabilities);
  const session = recordOf(can?.['sessionCapabilities']);
  const info = recordOf(answer.agentInfo);
  return {
    name: textOf(info?.['title']) ?? textOf(info?.['name']) ?? fallback,
    loads: can?.['loadSession'] === true,
    resumes: recordOf(session?.['resume']) !== undefined,
    closes: recordOf(session?.['close']) !== undefined,
    images: recordOf(can?.['promptCapabilities'])?.['image'] === true,
  };
};

/** One run of the agent's program. Sessions share it. */
export class AcpProcess implements AsyncDisposable {
  /** By our own session ids. */
  readonly sessions = new Map<string, LiveSession>();
  /** Resolves when the program has ended, with how. */
  readonly ended: Promise<string>;
  turns = 0;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #deps: AcpProcessDeps;
  readonly #listeners = new Map<string, SessionListener>();
  #connection: ClientConnection | undefined;
  #abilities: AcpAbilities | undefined;
  #isOver = false;

  private constructor(child: ChildProcessWithoutNullStreams, deps: AcpProcessDeps) {
    this.#child = child;
    this.#deps = deps;
    this.ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#isOver = true;
        resolve(signal === null ? `ended with code ${code}` : `was ended by ${signal}`);
      });
    });
    child.on('error', (error) => deps.log.warn({ err: error }, 'acp.process_failed'));
    logErrors(child, deps.log);
  }

  /** Rejects with `AgentGone` when the program cannot be started or does not speak the protocol. */
  static async start(deps: AcpProcessDeps): Promise<AcpProcess> {
    const process = new AcpProcess(await spawned(deps), deps);
    try {
      await process.#connect();
      return process;
    } catch (error) {
      await process[Symbol.asyncDispose]();
      if (error instanceof AgentGone) throw error;
      throw new AgentGone('start', `${deps.command[0]} does not speak the Agent Client Protocol`, { cause: error });
    }
  }

  get abilities(): AcpAbilities {
    if (this.#abilities === undefined) throw new Error('the agent has not introduced itself');
    return this.#abilities;
  }

  get agent(): ClientContext {
    if (this.#connection === undefined) throw new Error('the agent is not connected');
    return this.#connection.agent;
  }

  get isOver(): boolean {
    return this.#isOver || this.#connection?.signal.aborted === true;
  }

  listen(acpId: string, listener: SessionListener): Disposable {
    this.#listeners.set(acpId, listener);
    return {
      [Symbol.dispose]: () => {
        if (this.#listeners.get(acpId) === listener) this.#listeners.delete(acpId);
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connection?.close(new AgentGone('work', 'the gateway has ended the agent'));
    this.#child.stdin.destroy();
    if (this.#child.pid !== undefined && !this.#isOver) await endGroup(this.#child.pid, { clock: this.#deps.clock });
    await this.ended;
  }

  async #connect(): Promise<void> {
    const { client, ndJsonStream } = await import('@agentclientprotocol/sdk');
    const stream = ndJsonStream(Writable.toWeb(this.#child.stdin), Readable.toWeb(this.#child.stdout) as ReadableStream<Uint8Array>, { maxMessageBytes });
    const app = client({ name: 'hermes' })
      // Read by ourselves, and first of all: what is told before an answer has to be heard before it.
      .onNotification('session/update', (params: unknown) => recordOf(params), ({ params }) => this.#onUpdate(params))
      .onRequest('session/request_permission', ({ params, signal }) => this.#onPermission(params, signal));
    const { read, write } = this.#deps.files ?? {};
    if (read !== undefined) app.onRequest('fs/read_text_file', async ({ params }) => ({ content: await this.#fileWork(() => read(params, this.#folderOf(params.sessionId))) }));
    if (write !== undefined) app.onRequest('fs/write_text_file', ({ params }) => this.#fileWork(() => write(params, this.#folderOf(params.sessionId))));
    const connection = app.connect(stream);
    this.#connection = connection;
    void this.#follow(connection);
    await this.#introduce(connection);
  }

  /** Neither the connection nor the program outlives the other. */
  async #follow(connection: ClientConnection): Promise<void> {
    const how = await Promise.race([this.ended, connection.closed.then(() => undefined)]);
    connection.close(new AgentGone('work', how ?? 'closed its connection'));
    if (this.#child.pid !== undefined && !this.#isOver) await endGroup(this.#child.pid, { clock: this.#deps.clock });
  }

  async #introduce({ agent }: ClientConnection): Promise<void> {
    const { files, version, clock, command } = this.#deps;
    const late = new AbortController();
    const asked = agent.request('initialize', {
      protocolVersion,
      clientInfo: { name: 'hermes', title: 'Hermes', version },
      clientCapabilities: { fs: { readTextFile: files?.read !== undefined, writeTextFile: files?.write !== undefined }, terminal: false },
    });
    const timeout = slept(clock, startMs, late.signal).then((isLate) => {
      if (isLate) throw new AgentGone('start', `${command[0]} did not answer within ${startMs / 1000} s`);
      return undefined;
    });
    try {
      const answer = await Promise.race([asked, timeout]);
      if (answer?.protocolVersion !== protocolVersion) throw new AgentGone('start', `${command[0]} speaks version ${answer?.protocolVersion ?? '?'} of the protocol, not ${protocolVersion}`);
      this.#abilities = abilitiesOf(answer, command[0]);
    } finally {
      late.abort();
    }
  }

  #onUpdate(params: Readonly<Record<string, unknown>> | undefined): void {
    const update = readUpdate(params?.['update']);
    if (update !== undefined) this.#listeners.get(textOf(params?.['sessionId']) ?? '')?.update(update);
  }

  async #onPermission(request: RequestPermissionRequest, signal: AbortSignal): Promise<{ outcome: RequestPermissionOutcome }> {
    const listener = this.#listeners.get(request.sessionId);
    // Outside a turn there is nobody to ask.
    return { outcome: listener === undefined || listOf(request.options) === undefined ? { outcome: 'cancelled' } : await listener.permission(request, signal) };
  }

  #folderOf(acpId: string): string {
    return this.#listeners.get(acpId)?.folder ?? this.#deps.cwd;
  }

  async #fileWork<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      const { RequestError } = await import('@agentclientprotocol/sdk');
      throw RequestError.invalidParams(undefined, error.message);
    }
  }
}
