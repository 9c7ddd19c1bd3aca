import type { Logger } from './logger.ts';
import { percentDecoded } from './percent-decoded.ts';

export type SpanValue = string | number | boolean;

export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly parentId?: string;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly failed: boolean;
  readonly values: Readonly<Record<string, SpanValue | undefined>>;
}

export interface OtlpOptions {
  /** Of the collector, without `/v1/traces`. A user and password in it are sent as a header, a query stays at the end. */
  readonly endpoint: string;
  /** The endpoint is the whole address already. */
  readonly isWhole?: true;
  readonly headers: Readonly<Record<string, string>>;
  readonly service: string;
  readonly version: string;
  /** What else is to be known about whoever sends them. */
  readonly resource?: Readonly<Record<string, string>>;
}

/** `name=value,name2=value2`, with `%` codes, as the variables of OpenTelemetry are written; undefined for anything else. */
export const readPairs = (text: string): Readonly<Record<string, string>> | undefined => {
  const parts = text.split(',').map((part) => part.trim()).filter((part) => part !== '');
  const pairs = parts.map((part) => /^([^=\s]+)\s*=\s*(.*)$/s.exec(part));
  return pairs.includes(null) ? undefined : Object.fromEntries(pairs.map((pair) => [percentDecoded(pair?.[1] ?? ''), percentDecoded(pair?.[2] ?? '')]));
};

const sendEveryMs = 5000;
const mostWaiting = 2000;
const mostAtOnce = 500;
const timeoutMs = 10_000;
/** As the protocol has it: with any other refusal the same spans are refused again. */
const worthRepeating: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const valueOf = (value: SpanValue): Readonly<Record<string, unknown>> => {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
};

const attributes = (values: Readonly<Record<string, SpanValue | undefined>>): readonly unknown[] => Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: valueOf(value) }]));

const nanos = (ms: number): string => `${Math.round(ms * 1000)}000`;

const internal = 1;
const failedStatus = { code: 2 };

const wireSpan = (span: Span): unknown => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentId !== undefined && { parentSpanId: span.parentId }),
  name: span.name,
  kind: internal,
  startTimeUnixNano: nanos(span.startMs),
  endTimeUnixNano: nanos(span.endMs),
  attributes: attributes(span.values),
  ...(span.failed && { status: failedStatus }),
});

/** The body of an export: OTLP over HTTP in its JSON form. */
export const otlpBody = (spans: readonly Span[], { service, version, resource }: Pick<OtlpOptions, 'service' | 'version' | 'resource'>): string =>
  JSON.stringify({
    resourceSpans: [{ resource: { attributes: attributes({ ...resource, 'service.name': service, 'service.version': version }) }, scopeSpans: [{ scope: { name: service, version }, spans: spans.map(wireSpan) }] }],
  });

/** Where spans are sent to, and with what. */
export const exportTarget = ({ endpoint, isWhole, headers }: Pick<OtlpOptions, 'endpoint' | 'isWhole' | 'headers'>): { readonly url: string; readonly headers: Readonly<Record<string, string>> } => {
  const url = new URL(endpoint);
  const login = url.username === '' && url.password === '' ? undefined : Buffer.from(`${percentDecoded(url.username)}:${percentDecoded(url.password)}`).toString('base64');
  url.username = '';
  url.password = '';
  if (isWhole !== true) url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/traces`;
  return { url: url.href, headers: { 'content-type': 'application/json', ...(login !== undefined && { authorization: `Basic ${login}` }), ...headers } };
};

/** Sends spans to a collector now and then. A collector that is away costs spans, which are counted in the log, and nothing else. */
export class SpanExporter {
  readonly #options: OtlpOptions;
  readonly #log: Logger;
  #waiting: Span[] = [];
  #dropped = 0;
  /** Since the last time that it took some: how often it did not, and how many are gone by that. */
  #failures = 0;
  #lost = 0;
  #sending: Promise<void> | undefined;
  readonly #timer: NodeJS.Timeout;

  constructor(options: OtlpOptions, log: Logger) {
    this.#options = options;
    this.#log = log;
    this.#timer = setInterval(() => void this.#flush(), sendEveryMs).unref();
  }

  add(span: Span): void {
    if (this.#waiting.length < mostWaiting) this.#waiting.push(span);
    else this.#dropped += 1;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flush();
  }

  #flush(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined));
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const spans = this.#waiting.slice(0, mostAtOnce);
      if (!(await this.#post(spans))) return;
      this.#waiting = this.#waiting.slice(spans.length);
    }
    if (this.#dropped > 0) this.#log.warn({ spans: this.#dropped }, 'traces.dropped');
    this.#dropped = 0;
  }

  /** False when they are to be sent again. */
  async #post(spans: readonly Span[]): Promise<boolean> {
    try {
      const { url, headers } = exportTarget(this.#options);
      const response = await fetch(url, { method: 'POST', headers, body: otlpBody(spans, this.#options), signal: AbortSignal.timeout(timeoutMs), redirect: 'error' });
      await response.body?.cancel();
      if (response.ok) {
        this.#noteSuccess();
        return true;
      }
      const again = worthRepeating.has(response.status);
      if (!again) this.#lost += spans.length;
      this.#complain({ status: response.status }, 'traces.refused');
      return !again;
    } catch (error) {
      this.#complain({ err: error }, 'traces.not_sent');
      return false;
    }
  }

  /** A collector may be away for a night: after each line twice as many failures go by before the next. */
  #complain(facts: Readonly<Record<string, unknown>>, event: 'traces.refused' | 'traces.not_sent'): void {
    this.#failures += 1;
    if (Number.isInteger(Math.log2(this.#failures))) this.#log.warn({ ...facts, failures: this.#failures, ...(this.#lost > 0 && { lost: this.#lost }) }, event);
  }

  #noteSuccess(): void {
    if (this.#failures > 0) this.#log.info({ failures: this.#failures, ...(this.#lost > 0 && { lost: this.#lost }) }, 'traces.sent_again');
    this.#failures = 0;
    this.#lost = 0;
  }
}
