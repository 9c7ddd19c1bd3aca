import { z } from 'zod';
import { defineSection } from '../config/section.ts';
import type { ModelCall } from '../agent/contract.ts';
import { platformOf } from '../core/ids.ts';
import { eventTraceIdOf, spanIdOf, traceIdOf } from '../core/trace-id.ts';
import type { TurnEvent } from '../core/turn.ts';
import type { DeliveryOutcome } from '../delivery/dispatcher.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { readPairs } from '../lib/otlp.ts';
import type { OtlpOptions, Span, SpanExporter } from '../lib/otlp.ts';
import type { BegunTurn } from '../sessions/begin.ts';
import type { FinishedTurn } from '../sessions/lanes.ts';
import { receivedAtMs } from '../store/messages/inbox.ts';
import type { Store } from '../store/store.ts';
import { answeredEvent } from '../store/messages/trace.ts';
import type { AnsweredEvent } from '../store/messages/trace.ts';
import { attemptOf } from '../store/sessions/turns.ts';

const pairs = z.string().trim().refine((text) => readPairs(text) !== undefined, 'must be written name=value,name2=value2');

/** The `telemetry` section of config.yaml. */
export const telemetrySection = defineSection(
  'telemetry',
  z
    .strictObject({
      otlp_endpoint: z.url({ protocol: /^https?$/ }).meta({ env: 'OTEL_EXPORTER_OTLP_ENDPOINT' }).describe('Address of an OpenTelemetry collector (OTLP over HTTP), such as http://127.0.0.1:4318; traces of turns are sent there. A user and password in it are sent as a header').optional(),
      otlp_headers: z.record(z.string(), z.string().meta({ secret: true })).describe('Headers that the collector wants').default({}),
      otlp_traces_endpoint: z.url({ protocol: /^https?$/ }).meta({ env: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT' }).describe('Address that traces are sent to as it stands, in place of the one above').optional(),
      otlp_header_list: pairs.meta({ env: 'OTEL_EXPORTER_OTLP_HEADERS', secret: true }).describe('More headers, written name=value,name2=value2 with % codes').optional(),
      resource_attributes: pairs.meta({ env: 'OTEL_RESOURCE_ATTRIBUTES' }).describe('What else traces say about this gateway, written name=value,name2=value2 with % codes').optional(),
      service_name: z.string().trim().min(1).meta({ env: 'OTEL_SERVICE_NAME' }).describe('Under which name traces are found; without it `service.name` of the attributes, or `hermes-gateway`').optional(),
    })
    .prefault({}),
  'restart',
);

/** Where traces go, and with what; undefined when nobody wants them. */
export const otlpOptionsOf = (settings: z.output<typeof telemetrySection.schema>, version: string): OtlpOptions | undefined => {
  const { otlp_endpoint: base, otlp_traces_endpoint: whole, otlp_headers: headers, otlp_header_list: list = '', resource_attributes: written = '', service_name: name } = settings;
  const endpoint = whole ?? base;
  if (endpoint === undefined) return undefined;
  const resource = readPairs(written) ?? {};
  return { endpoint, ...(whole !== undefined && { isWhole: true }), headers: { ...headers, ...readPairs(list) }, resource, service: name ?? resource['service.name'] ?? 'hermes-gateway', version };
};

/** Turns and what they consist of as spans: waiting, calls of models, tools, deliveries; and what is answered without a turn, as commands are. No words of anybody are in them. */
export interface Traces {
  onModelCall(begun: BegunTurn, call: ModelCall): void;
  onEvent(begun: BegunTurn, event: TurnEvent): void;
  onFinished(turn: FinishedTurn): void;
  onDelivered(outcome: DeliveryOutcome): void;
  /** Everything that was told so far is on its way. */
  settled(): Promise<void>;
}

export interface TracesOptions {
  readonly exporter: Pick<SpanExporter, 'add'>;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Of one attempt of a turn. */
interface Root {
  readonly traceId: string;
  readonly spanId: string;
}

const rootOf = (turn: { readonly sessionId: string; readonly turnId: number; readonly attempts: number }): Root => {
  const traceId = traceIdOf(turn);
  return { traceId, spanId: spanIdOf(traceId, `attempt ${turn.attempts}`) };
};

const rootOfBegun = ({ session, turn }: BegunTurn): Root => rootOf({ sessionId: session.id, turnId: turn.id, attempts: turn.attempts });

/** What happened below a turn and has just ended. */
const below = (root: Root, part: { readonly id: string; readonly ms: number; readonly nowMs: number } & Pick<Span, 'name' | 'failed' | 'values'>): Span => {
  const { id, ms, nowMs, ...facts } = part;
  return { traceId: root.traceId, spanId: spanIdOf(root.traceId, `${root.spanId}:${id}`), parentId: root.spanId, startMs: nowMs - ms, endMs: nowMs, ...facts };
};

const turnSpan = ({ begun, result, ms }: FinishedTurn, nowMs: number): Span => {
  const { target } = begun.turn;
  return {
    ...rootOfBegun(begun),
    name: 'turn',
    startMs: nowMs - ms,
    endMs: nowMs,
    failed: result.reason === 'model_error' || result.reason === 'internal_error' || result.reason === 'deadline',
    values: {
      'hermes.platform': platformOf(target.account),
      'hermes.account': target.account,
      'hermes.agent': begun.session.agent,
      'hermes.session': begun.session.id,
      'hermes.turn': begun.turn.id,
      'hermes.attempt': begun.turn.attempts,
      'hermes.reason': result.reason,
      'gen_ai.request.model': result.model ?? undefined,
      'gen_ai.usage.input_tokens': result.usage.inputTokens,
      'gen_ai.usage.output_tokens': result.usage.outputTokens,
      'hermes.cost_usd': result.usage.cost?.usd,
    },
  };
};

const rootOfEvent = (event: AnsweredEvent): Root => {
  const traceId = eventTraceIdOf(event);
  return { traceId, spanId: spanIdOf(traceId, 'event') };
};

/** From its arrival until what it asked for was done. */
const eventSpan = (event: AnsweredEvent, nowMs: number): Span => ({
  ...rootOfEvent(event),
  name: event.class === 'control' ? 'command' : event.class,
  startMs: event.receivedAtMs,
  endMs: Math.max(event.receivedAtMs, event.doneAtMs ?? nowMs),
  failed: event.state !== 'done',
  values: { 'hermes.platform': platformOf(event.account), 'hermes.account': event.account, 'hermes.inbox': event.id },
});

const deliverySpan = (root: Root, { account, outcome, code, callMs, delivery, attempt }: DeliveryOutcome, nowMs: number): Span => {
  const values = { 'hermes.platform': platformOf(account), 'hermes.account': account, 'hermes.delivery': delivery, 'hermes.attempt': attempt, 'hermes.outcome': outcome, 'error.type': code };
  return below(root, { id: `out ${delivery} ${attempt} ${nowMs}`, name: 'deliver', nowMs, ms: callMs, failed: outcome !== 'sent', values });
};

const modelValues = ({ model, code, usage }: ModelCall): Span['values'] => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.request.model': model,
  'gen_ai.usage.input_tokens': usage?.inputTokens,
  'gen_ai.usage.output_tokens': usage?.outputTokens,
  'error.type': code,
});

export const newTraces = ({ exporter, store, clock, log }: TracesOptions): Traces => {
  const looking = new Set<Promise<void>>();
  let modelCalls = 0;
  /** What has to be looked up costs nobody time, and what cannot be is missing. */
  const lookUp = (work: () => Promise<void>): void => {
    const looked = work()
      .catch((error: unknown) => log.warn({ err: error }, 'traces.not_read'))
      .finally(() => looking.delete(looked));
    looking.add(looked);
  };
  const waited = async ({ begun, ms }: FinishedTurn, nowMs: number): Promise<void> => {
    const [first] = begun.inboxIds;
    // Whoever goes on after a restart has not waited for its turn.
    if (first === undefined || begun.turn.attempts > 1) return;
    const receivedMs = await store.read((db) => receivedAtMs(db, first));
    const startedMs = nowMs - ms;
    if (receivedMs !== undefined && receivedMs <= startedMs) exporter.add(below(rootOfBegun(begun), { id: 'wait', name: 'wait', nowMs: startedMs, ms: startedMs - receivedMs, failed: false, values: { 'hermes.inbox': first } }));
  };
  const delivered = async (outcome: DeliveryOutcome, nowMs: number): Promise<void> => {
    const event = outcome.turnId === null ? await store.read((db) => answeredEvent(db, outcome.delivery)) : undefined;
    const turnId = outcome.turnId ?? event?.turnId ?? null;
    const turn = turnId === null ? undefined : await store.read((db) => attemptOf(db, turnId));
    if (turn !== undefined && turnId !== null) exporter.add(deliverySpan(rootOf({ ...turn, turnId }), outcome, nowMs));
    else if (event !== undefined) {
      if (event.isFirst && outcome.attempt === 1) exporter.add(eventSpan(event, nowMs));
      exporter.add(deliverySpan(rootOfEvent(event), outcome, nowMs));
    }
  };
  return {
    onModelCall(begun, call) {
      modelCalls += 1;
      exporter.add(below(rootOfBegun(begun), { id: `model ${modelCalls}`, name: `chat ${call.model}`, nowMs: clock.now(), ms: call.durationMs, failed: call.code !== undefined, values: modelValues(call) }));
    },
    onEvent(begun, event) {
      if (event.type !== 'tool_finished') return;
      exporter.add(below(rootOfBegun(begun), { id: `tool ${event.callId}`, name: `tool ${event.name}`, nowMs: clock.now(), ms: event.durationMs, failed: !event.ok, values: { 'gen_ai.tool.name': event.name } }));
    },
    onFinished(turn) {
      const nowMs = clock.now();
      exporter.add(turnSpan(turn, nowMs));
      lookUp(() => waited(turn, nowMs));
    },
    onDelivered(outcome) {
      const nowMs = clock.now();
      lookUp(() => delivered(outcome, nowMs));
    },
    async settled() {
      await Promise.all(looking);
    },
  };
};
