import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { backoffMs } from '../lib/backoff.ts';
import { slept } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { HookReport, Observer } from './observer.ts';
import { isWorthALine, newCounts } from './observer.ts';
import type { HookRun } from './loaded-hook.ts';
import type { OutgoingWebhookOptions } from './options.ts';
import { signWebhook } from './sign-webhook.ts';
import { TellingQueue } from './telling-queue.ts';

export interface OutgoingWebhookDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly fetch: typeof fetch;
  /** Takes our own secrets out of a text. */
  redact(text: string): string;
  onRun(run: HookRun): void;
}

interface Envelope {
  readonly id: string;
  readonly event: string;
  readonly body: string;
}

/** `again`: another try may succeed, not before `afterMs` if it says so. */
type Outcome = { readonly type: 'sent' } | { readonly type: 'again' | 'refused'; readonly problem: string; readonly afterMs?: number };

const idOf = (name: string): string => `webhooks_out.${name}`;

const mostWaiting = 1000;
const retry = { baseMs: 1_000, capMs: 60_000 };
const longestWaitMs = 300_000;

const redacted = (value: unknown, redact: (text: string) => string): unknown => {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((item) => redacted(item, redact));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redacted(item, redact)]));
};

/** Seconds or a date. */
const retryAfterMs = (header: string | null, nowMs: number): number | undefined => {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - nowMs;
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, longestWaitMs) : undefined;
};

const outcomeOf = (response: Response, nowMs: number): Outcome => {
  const { status } = response;
  if (response.ok) return { type: 'sent' };
  const afterMs = retryAfterMs(response.headers.get('retry-after'), nowMs);
  const again = status === 408 || status === 425 || status === 429 || status >= 500;
  return { type: again ? 'again' : 'refused', problem: `it answered ${status}`, ...(afterMs !== undefined && { afterMs }) };
};

/** Sends events to another program: signed, in order, each until it is taken or has been tried often enough. What waits is lost when the process ends. */
export class OutgoingWebhook implements Observer {
  readonly id: string;
  readonly agent: string | undefined;
  readonly events: readonly string[];
  readonly #options: OutgoingWebhookOptions;
  readonly #deps: OutgoingWebhookDeps;
  readonly #queue: TellingQueue<Envelope>;
  readonly #counts = newCounts();

  constructor(name: string, options: OutgoingWebhookOptions, deps: OutgoingWebhookDeps) {
    this.id = idOf(name);
    this.agent = options.agent;
    this.events = options.events;
    this.#options = options;
    this.#deps = deps;
    this.#queue = new TellingQueue({ clock: deps.clock, most: mostWaiting, tell: (envelope, signal) => this.#deliver(envelope, signal), onDropped: (count, why) => this.#dropped(count, why) });
  }

  /** Whether this is the webhook of that name, with those settings. */
  is(name: string, options: OutgoingWebhookOptions): boolean {
    return this.id === idOf(name) && isDeepStrictEqual(this.#options, options);
  }

  observe(event: string, context: unknown): void {
    this.#queue.add(this.#seal(event, context));
  }

  /** One try, for whoever wants to see whether it works; answers what was wrong. */
  async tryOnce(event: string, context: unknown, signal: AbortSignal): Promise<string | undefined> {
    const outcome = await this.#send(this.#seal(event, context), signal);
    return outcome.type === 'sent' ? undefined : outcome.problem;
  }

  report(): HookReport {
    const { calls, failures, dropped, lastProblem } = this.#counts;
    return { id: this.id, agent: this.agent, events: this.events, calls, failures, dropped, waiting: this.#queue.waiting, lastProblem };
  }

  close(graceMs: number): Promise<void> {
    return this.#queue.close(graceMs);
  }

  #seal(event: string, context: unknown): Envelope {
    const id = randomUUID();
    const content = { id, event_type: event, created_at: new Date(this.#deps.clock.now()).toISOString(), context: redacted(context, (text) => this.#deps.redact(text)) };
    return { id, event, body: JSON.stringify(content) };
  }

  async #deliver(envelope: Envelope, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps;
    const { max_attempts: most } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      this.#counts.calls += 1;
      const outcome = await this.#send(envelope, signal);
      if (outcome.type === 'sent') {
        log.debug({ hook: this.id, event: envelope.event, delivery: envelope.id, attempt }, 'webhook_out.sent');
        return this.#deps.onRun({ hook: this.id, event: envelope.event, outcome: 'ok' });
      }
      this.#counts.lastProblem = outcome.problem;
      const waitMs = outcome.afterMs ?? backoffMs(attempt, retry);
      const goesOn = outcome.type === 'again' && attempt < most && !signal.aborted;
      log.warn({ hook: this.id, event: envelope.event, delivery: envelope.id, attempt, problem: outcome.problem, ...(goesOn && { again_in_ms: waitMs }) }, goesOn ? 'webhook_out.failed' : 'webhook_out.given_up');
      if (!goesOn || !(await slept(clock, waitMs, signal))) break;
    }
    this.#counts.failures += 1;
    this.#deps.onRun({ hook: this.id, event: envelope.event, outcome: 'failed' });
  }

  async #send({ id, event, body }: Envelope, signal: AbortSignal): Promise<Outcome> {
    const { clock } = this.#deps;
    const { url, secret, timeout } = this.#options;
    const headers = { 'Content-Type': 'application/json', 'User-Agent': 'hermes-gateway', 'X-Request-ID': id, 'X-Hermes-Event': event, ...signWebhook(body, { secret, nowMs: clock.now() }) };
    try {
      const response = await this.#deps.fetch(url, { method: 'POST', body, headers, redirect: 'manual', signal: AbortSignal.any([signal, AbortSignal.timeout(timeout * 1000)]) });
      await response.body?.cancel();
      return outcomeOf(response, clock.now());
    } catch (error) {
      // The address may carry a credential, and an error of `fetch` names it.
      const late = error instanceof Error && error.name === 'TimeoutError';
      return { type: 'again', problem: late ? `no answer within ${timeout} s` : 'it cannot be reached' };
    }
  }

  #dropped(count: number, why: 'full' | 'closed'): void {
    this.#counts.dropped += count;
    this.#deps.onRun({ hook: this.id, event: '', outcome: 'dropped' });
    if (isWorthALine(this.#counts.dropped, why)) this.#deps.log.warn({ hook: this.id, dropped: this.#counts.dropped, why }, 'webhook_out.overwhelmed');
  }
}
