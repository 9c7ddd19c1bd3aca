import assert from 'node:assert/strict';
import { ModelError } from '../../core/errors.ts';
import type { TranscriptMessage } from '../../core/transcript.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Clock, ManualClock } from '../../lib/clock.ts';
import { silentLogger } from '../../lib/logger.ts';
import type { ChatSimulator } from './chat-simulator.ts';
import type { Finish, ModelEvent, ModelProvider, ModelRequest } from './contract.ts';
import { newEndpoint } from './endpoints/endpoint.ts';
import type { EndpointOptions } from './endpoints/endpoint.ts';
import { quirksOf } from './endpoints/providers.ts';
import type { WireContext } from './wires/wire.ts';

export const apiKey = 'key-0123456789-very-secret';

export const question: ModelRequest = { model: 'm', system: 'Be kind.', messages: [{ role: 'user', content: 'hello' }], tools: [] };

export const look = { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: { x: { type: 'number' } } } };

export const never = new AbortController().signal;

export const endpoint = (options: Pick<EndpointOptions, 'wire' | 'baseUrl'> & Partial<EndpointOptions>, clock: Clock = systemClock): ModelProvider =>
  newEndpoint({ name: 'test', keys: [apiKey], requestTimeoutMs: 60_000, stallTimeoutMs: 60_000, ...options }, { clock, log: silentLogger });

export const ask = (model: ModelProvider, request = question, signal = never): Promise<ModelEvent[]> => Array.fromAsync(model.stream(request, signal));

export const said = (events: readonly ModelEvent[], type: 'text' | 'reasoning' = 'text'): string => events.map((event) => (event.type === type ? event.delta : '')).join('');

export const finishOf = (events: readonly ModelEvent[]): Finish => {
  const last = events.at(-1);
  assert.ok(last?.type === 'finish', 'the last event is the finish');
  assert.equal(events.filter(({ type }) => type === 'finish').length, 1);
  return last;
};

/** The row that a turn would keep of an answer. */
export const rowOf = (events: readonly ModelEvent[]): TranscriptMessage => {
  const { toolCalls, replay } = finishOf(events);
  const reasoning = said(events, 'reasoning');
  return { role: 'assistant', content: said(events), ...(toolCalls.length > 0 && { toolCalls }), ...(reasoning !== '' && { reasoning }), ...(replay !== undefined && { replay }) };
};

/** The error of a call that must fail, with the text that came before it. */
export const failure = async (model: ModelProvider, options: { readonly request?: ModelRequest; readonly signal?: AbortSignal; onEvent?(event: ModelEvent): void } = {}): Promise<{ error: ModelError; text: string }> => {
  const events: ModelEvent[] = [];
  try {
    for await (const event of model.stream(options.request ?? question, options.signal ?? never)) {
      events.push(event);
      options.onEvent?.(event);
    }
  } catch (error) {
    assert.ok(error instanceof ModelError, String(error));
    return { error, text: said(events) };
  }
  throw new Error('the call did not fail');
};

/** Lets time pass until the work has ended. */
export const elapsing = async <T>(clock: ManualClock, work: Promise<T>): Promise<T> => {
  const course = { isOver: false };
  const ended = work.finally(() => (course.isOver = true));
  while (!course.isOver) await clock.advance(10);
  return ended;
};

/** Resolves when the endpoint has been asked so often. */
export const askedTimes = async ({ requests }: Pick<ChatSimulator, 'requests'>, times: number): Promise<void> => {
  while (requests.length < times) await new Promise((resolve) => setImmediate(resolve));
};

/** What a request depends on beside what is asked, for an endpoint without peculiarities. */
export const plainContext: WireContext = { images: new Map(), maker: 'wire:host:m', conceded: new Set(), quirks: quirksOf('127.0.0.1'), cacheTtl: '5m' };
