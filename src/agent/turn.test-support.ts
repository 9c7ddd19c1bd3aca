import assert from 'node:assert/strict';
import type { TranscriptMessage } from '../core/transcript.ts';
import type { TurnEvent } from '../core/turn.ts';
import { manualClock } from '../lib/clock.ts';
import { silentLogger } from '../lib/logger.ts';
import type { TurnInput, TurnPlace } from './contract.ts';
import type { ChatSimulator } from './models/chat-simulator.ts';
import { newOpenAiProvider } from './models/endpoints/openai.ts';
import type { Tool } from './tools/contract.ts';
import { toolSet } from './tools/tool-set.ts';
import { newAgent } from './turn.ts';
import type { AgentDeps } from './turn.ts';

export const tool = (name: string, run: Tool['run'], parallelSafe = false): Tool => ({
  definition: { name, description: name, parameters: { type: 'object', properties: {} } },
  run,
  parallelSafe,
});

const look = tool('look', async (args) => `saw ${JSON.stringify(args)}`);

export const somewhere: TurnPlace = { agent: 'main', platform: 'telegram', target: { account: 'telegram', chatId: '42', chatType: 'dm' }, sender: { id: '7', isBot: false } };

export const hello: TurnInput = {
  sessionId: 's1',
  turnId: 't1',
  system: 'Be kind.',
  transcript: [{ role: 'user', content: 'hello' }],
  steering: () => [],
  asyncDelivery: true,
  limits: { activityMs: 1_800_000, totalMs: 7_200_000 },
  place: somewhere,
  ask: async () => ({ type: 'unattended' }),
};

export interface Run {
  readonly events: TurnEvent[];
  /** Events without deltas, each in a few words. */
  readonly outline: readonly string[];
  readonly messages: readonly TranscriptMessage[];
  readonly text: string;
  readonly end: Extract<TurnEvent, { type: 'end' }>;
}

const words = (event: TurnEvent): string => {
  switch (event.type) {
    case 'text':
    case 'reasoning':
      return event.type;
    case 'tool_started':
      return `started ${event.callId}`;
    case 'tool_finished':
      return `finished ${event.callId} ${event.ok ? 'ok' : 'failed'}`;
    case 'message':
      return `message ${event.message.role} ${event.message.toolCallId ?? event.message.finishReason ?? ''}`.trim();
    case 'usage':
      return 'usage';
    case 'retrying':
      return `retrying ${event.attempt} ${event.delayMs} ${event.reason}`;
    case 'end':
      return `end ${event.reason}`;
    default:
      return event satisfies never;
  }
};

const summary = (events: TurnEvent[]): Run => {
  const end = events.at(-1);
  assert.ok(end?.type === 'end', 'the last event is the end');
  assert.equal(events.filter(({ type }) => type === 'end').length, 1);
  return {
    events,
    outline: events.filter(({ type }) => type !== 'text' && type !== 'reasoning').map(words),
    messages: events.flatMap((event) => (event.type === 'message' ? [event.message] : [])),
    text: events.map((event) => (event.type === 'text' ? event.delta : '')).join(''),
    end,
  };
};

/** Runs a turn against a simulated endpoint; waiting for a retry takes no time. */
export const runAgainst = async (simulator: ChatSimulator, options: { input?: Partial<TurnInput>; deps?: Partial<AgentDeps>; tools?: readonly Tool[] } = {}): Promise<Run> => {
  const clock = manualClock();
  const provider = newOpenAiProvider({ baseUrl: simulator.baseUrl, requestTimeoutMs: 60_000, stallTimeoutMs: 60_000 }, { clock, log: silentLogger });
  const agent = newAgent({ provider, model: 'sim-1', tools: toolSet(options.tools ?? [look]), clock, log: silentLogger, maxRetries: 3, random: () => 0, ...options.deps });
  const events: TurnEvent[] = [];
  for await (const event of agent.run({ ...hello, ...options.input }, new AbortController().signal)) {
    events.push(event);
    if (event.type === 'retrying') setImmediate(() => void clock.advance(event.delayMs));
  }
  assert.equal(clock.waiting(), 0, 'no timer outlives the turn');
  return summary(events);
};

export const call = (id: string, name = 'look', args = '{}') => ({ id, name, arguments: args });
