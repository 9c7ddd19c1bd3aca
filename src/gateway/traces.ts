import { createHash } from 'node:crypto';
import { z } from 'zod';
import { defineSection } from '../config/section.ts';
import { platformOf } from '../core/ids.ts';
import type { TurnEvent } from '../core/turn.ts';
import type { Clock } from '../lib/clock.ts';
import type { Span, SpanExporter } from '../lib/otlp.ts';
import type { BegunTurn } from '../sessions/begin.ts';
import type { FinishedTurn } from '../sessions/lanes.ts';

/** The `telemetry` section of config.yaml. */
export const telemetrySection = defineSection(
  'telemetry',
  z
    .strictObject({
      otlp_endpoint: z.url({ protocol: /^https?$/ }).meta({ env: 'OTEL_EXPORTER_OTLP_ENDPOINT' }).describe('Address of an OpenTelemetry collector (OTLP over HTTP), such as http://127.0.0.1:4318; traces of turns are sent there').optional(),
      otlp_headers: z.record(z.string(), z.string().meta({ secret: true })).describe('Headers that the collector wants').default({}),
      service_name: z.string().trim().min(1).meta({ env: 'OTEL_SERVICE_NAME' }).describe('Under which name traces are found').default('hermes-gateway'),
    })
    .prefault({}),
  'restart',
);

const hex = (text: string, digits: number): string => createHash('sha256').update(text).digest('hex').slice(0, digits);

/** The same for every attempt of a turn, so that all of them are found together. */
export const traceIdOf = ({ turn, session }: BegunTurn): string => hex(`${session.id}:${turn.id}`, 32);

const rootIdOf = ({ turn, session }: BegunTurn): string => hex(`${session.id}:${turn.id}:${turn.attempts}`, 16);

/** Turns and their tools as spans. No words of anybody are in them. */
export interface Traces {
  onEvent(begun: BegunTurn, event: TurnEvent): void;
  onFinished(turn: FinishedTurn): void;
}

export const newTraces = (exporter: Pick<SpanExporter, 'add'>, clock: Clock): Traces => {
  const root = ({ begun, result, ms }: FinishedTurn): Span => {
    const { target } = begun.turn;
    const endMs = clock.now();
    return {
      traceId: traceIdOf(begun),
      spanId: rootIdOf(begun),
      name: 'turn',
      startMs: endMs - ms,
      endMs,
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
  return {
    onEvent(begun, event) {
      if (event.type !== 'tool_finished') return;
      const endMs = clock.now();
      exporter.add({ traceId: traceIdOf(begun), spanId: hex(`${traceIdOf(begun)}:${begun.turn.attempts}:${event.callId}`, 16), parentId: rootIdOf(begun), name: `tool ${event.name}`, startMs: endMs - event.durationMs, endMs, failed: !event.ok, values: { 'gen_ai.tool.name': event.name } });
    },
    onFinished: (turn) => exporter.add(root(turn)),
  };
};
