import { backoffMs } from '../../../lib/backoff.ts';
import { slept } from '../../../lib/clock.ts';
import { ToolError } from '../contract.ts';
import type { ToolContext } from '../contract.ts';
import { openConnection } from './connection.ts';
import type { Connection, ConnectionDeps, Offers, ServerRequest } from './connection.ts';
import { LoginNeeded, reasonText, SessionForgotten } from './failure.ts';

export type ServerStatus =
  | { readonly state: 'connecting' }
  | { readonly state: 'ready' }
  /** Disconnected because nobody used it; the next call connects. */
  | { readonly state: 'resting' }
  | { readonly state: 'waiting'; readonly reason: string; readonly retryAtMs: number }
  | { readonly state: 'login'; readonly reason: string };

export interface ServerDeps extends Omit<ConnectionDeps, 'browser' | 'toolsChanged'> {
  /** What it offered when it was last connected. */
  readonly remembered: Offers;
  /** It offers something else than before. */
  changed(offers: Offers): void;
  readonly random?: () => number;
}

/** A connection that lasted longer was a good one. */
const goodConnectionMs = 60_000;
const lookAgainMs = 1_000;
const longestRetryMs = 300_000;

/** A configured server with its life: connected in the background, restarted when it ends, never waited for but by a call. */
export class McpServer {
  readonly name: string;
  readonly #deps: ServerDeps;
  readonly #stopped = new AbortController();
  readonly #beside = new Set<Promise<void>>();
  #woken = new AbortController();
  #moved = new AbortController();
  #status: ServerStatus = { state: 'connecting' };
  #offers: Offers;
  #connection: Connection | undefined;
  #failures = 0;
  /** Why it could not be reached, as far as that was said: the same is not said again. */
  #complaint: string | undefined;
  #busy = 0;
  #usedAtMs: number;

  constructor(deps: ServerDeps) {
    this.name = deps.name;
    this.#deps = deps;
    this.#offers = deps.remembered;
    this.#usedAtMs = deps.clock.now();
    this.#inBackground(this.#live());
  }

  get status(): ServerStatus {
    return this.#status;
  }

  /** What it offers as far as we know, also while it is away. */
  get offers(): Offers {
    return this.#offers;
  }

  /** Makes a request of a tool call; waits for a connection that is being made. Fails with a `ToolError`, or with the signal's reason. */
  async use<T>(context: ToolContext, signal: AbortSignal, request: ServerRequest<T>): Promise<T> {
    this.#busy += 1;
    try {
      return await this.#attempt(context, signal, request, true);
    } finally {
      this.#busy -= 1;
      this.#usedAtMs = this.#deps.clock.now();
    }
  }

  /** Connects anew, now. */
  reconnect(): void {
    this.#failures = 0;
    if (this.#connection === undefined) this.#begin();
    else this.#inBackground(this.#drop(this.#connection, 'it was told to connect anew'));
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#connection?.close('the gateway ends');
    await Promise.all(this.#beside);
  }

  async #attempt<T>(context: ToolContext, signal: AbortSignal, request: ServerRequest<T>, mayRepeat: boolean): Promise<T> {
    const connection = await this.#connected(signal);
    try {
      return await connection.use(context, signal, request);
    } catch (error) {
      if (error instanceof SessionForgotten && mayRepeat) {
        await this.#drop(connection, error.message);
        return this.#attempt(context, signal, request, false);
      }
      if (error instanceof ToolError && error.code === 'failed') this.#inBackground(this.#examine(connection));
      if (error instanceof LoginNeeded) this.#inBackground(this.#drop(connection, error.message));
      if (error instanceof LoginNeeded || error instanceof SessionForgotten) throw this.#unavailable(error.message, error);
      throw error;
    }
  }

  #unavailable(reason: string, cause?: Error): ToolError {
    return new ToolError('unavailable', `The MCP server ${this.name} is unavailable: ${reason}.`, cause === undefined ? undefined : { cause });
  }

  /** The connection, once there is one; a server that rests or wants a login is tried again for it. */
  async #connected(signal: AbortSignal): Promise<Connection> {
    const { clock, options } = this.#deps;
    const untilMs = clock.now() + options.connect_timeout * 1000;
    if (this.#status.state === 'resting' || this.#status.state === 'login') this.#begin();
    for (;;) {
      signal.throwIfAborted();
      if (this.#connection !== undefined) return this.#connection;
      const status = this.#status;
      if (status.state === 'waiting') throw this.#unavailable(`${status.reason}. The next attempt is in ${Math.ceil(Math.max(0, status.retryAtMs - clock.now()) / 1000)} s`);
      if (status.state === 'login') throw this.#unavailable(status.reason);
      const leftMs = untilMs - clock.now();
      if (leftMs <= 0 || this.#stopped.signal.aborted) throw this.#unavailable('it is still connecting');
      await slept(clock, leftMs, AbortSignal.any([signal, this.#moved.signal, this.#stopped.signal]));
    }
  }

  async #live(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      this.#enter({ state: 'connecting' });
      try {
        await this.#stay(await this.#connect());
      } catch (error) {
        if (this.#stopped.signal.aborted) return;
        await this.#fail(error);
      }
    }
  }

  async #connect(): Promise<Connection> {
    const { log } = this.#deps;
    const startedMs = this.#deps.clock.now();
    let opened: Connection | undefined;
    const toolsChanged = (): void => {
      // Before the connection stands, what it offers has not been asked for yet.
      if (opened !== undefined) this.#inBackground(this.#learn(opened));
    };
    opened = await openConnection({ ...this.#deps, toolsChanged }, this.#stopped.signal);
    try {
      await this.#learn(opened);
    } catch (error) {
      await opened.close('its tools could not be listed');
      throw error;
    }
    this.#complaint = undefined;
    log.info({ server: this.name, tools: this.#offers.tools.length, ms: this.#deps.clock.now() - startedMs }, 'mcp.connected');
    return opened;
  }

  async #learn(connection: Connection): Promise<void> {
    const offers = await connection.offers(this.#stopped.signal);
    if (JSON.stringify(offers) === JSON.stringify(this.#offers)) return;
    this.#offers = offers;
    this.#deps.changed(offers);
  }

  /** Until the connection is over, by itself or because nobody needs it. */
  async #stay(connection: Connection): Promise<void> {
    const { clock, log } = this.#deps;
    const bornMs = clock.now();
    const over = new AbortController();
    let lost: string | undefined;
    const watching = connection.closed.then((reason) => {
      lost = reason;
      over.abort();
    });
    this.#usedAtMs = bornMs;
    this.#connection = connection;
    this.#enter({ state: 'ready' });
    const enough = await this.#enough(bornMs, over.signal);
    this.#connection = undefined;
    await connection.close('it is not needed any more');
    await watching;
    if (this.#stopped.signal.aborted || enough === 'renew') return;
    if (enough === 'rest') {
      this.#enter({ state: 'resting' });
      await this.#sleep(Number.MAX_SAFE_INTEGER);
      return;
    }
    log.warn({ server: this.name, reason: lost }, 'mcp.lost');
    this.#failures = clock.now() - bornMs >= goodConnectionMs ? 0 : this.#failures + 1;
    if (this.#failures > 1) await this.#wait(lost ?? 'it ended');
  }

  /** Resolves when the connection has lasted or rested long enough; undefined when it is over by itself. */
  async #enough(bornMs: number, over: AbortSignal): Promise<'rest' | 'renew' | undefined> {
    const { clock, options } = this.#deps;
    while (!over.aborted && !this.#stopped.signal.aborted) {
      const restAtMs = this.#usedAtMs + (options.idle_timeout_seconds ?? Number.POSITIVE_INFINITY) * 1000;
      const renewAtMs = bornMs + (options.max_lifetime_seconds ?? Number.POSITIVE_INFINITY) * 1000;
      const dueMs = Math.min(restAtMs, renewAtMs) - clock.now();
      if (dueMs <= 0 && this.#busy === 0) return restAtMs <= renewAtMs ? 'rest' : 'renew';
      await slept(clock, Math.min(Math.max(dueMs, lookAgainMs), Number.MAX_SAFE_INTEGER), AbortSignal.any([over, this.#stopped.signal]));
    }
    return undefined;
  }

  async #fail(error: unknown): Promise<void> {
    const reason = reasonText(error, this.#deps.redact);
    if (reason !== this.#complaint) this.#deps.log.warn({ server: this.name, reason }, 'mcp.unreachable');
    this.#complaint = reason;
    if (error instanceof LoginNeeded) {
      this.#enter({ state: 'login', reason });
      await this.#sleep(Number.MAX_SAFE_INTEGER);
      return;
    }
    this.#failures += 1;
    await this.#wait(reason);
  }

  async #wait(reason: string): Promise<void> {
    const { clock, random } = this.#deps;
    const ms = backoffMs(this.#failures, { baseMs: 1_000, capMs: longestRetryMs, ...(random !== undefined && { random }) });
    this.#enter({ state: 'waiting', reason, retryAtMs: clock.now() + ms });
    await this.#sleep(ms);
  }

  /** A server that does not answer any more is not waited for until the next call. */
  async #examine(connection: Connection): Promise<void> {
    if (this.#connection === connection && !(await connection.answers(this.#stopped.signal))) await this.#drop(connection, 'it does not answer any more');
  }

  /** Nobody gets this connection any more. */
  async #drop(connection: Connection, reason: string): Promise<void> {
    if (this.#connection === connection) {
      this.#connection = undefined;
      this.#enter({ state: 'connecting' });
    }
    await connection.close(reason);
  }

  #enter(status: ServerStatus): void {
    this.#status = status;
    const before = this.#moved;
    this.#moved = new AbortController();
    before.abort();
  }

  /** Does not wait any longer with connecting. */
  #begin(): void {
    this.#enter({ state: 'connecting' });
    const before = this.#woken;
    this.#woken = new AbortController();
    before.abort();
  }

  async #sleep(ms: number): Promise<void> {
    await slept(this.#deps.clock, ms, AbortSignal.any([this.#stopped.signal, this.#woken.signal]));
  }

  #inBackground(work: Promise<void>): void {
    const watched = work
      .catch((error: unknown) => {
        if (!this.#stopped.signal.aborted) this.#deps.log.warn({ server: this.name, reason: reasonText(error, this.#deps.redact) }, 'mcp.failed');
      })
      .finally(() => this.#beside.delete(watched));
    this.#beside.add(watched);
  }
}
