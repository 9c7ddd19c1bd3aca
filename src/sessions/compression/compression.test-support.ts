import assert from 'node:assert/strict';
import { alternate } from '../../agent/alternation.ts';
import type { CompleteText, TextRequest } from '../../agent/models/complete-text.ts';
import { ModelError } from '../../core/errors.ts';
import type { ModelErrorCode } from '../../core/errors.ts';
import { noUsage } from '../../core/transcript.ts';
import type { TranscriptMessage } from '../../core/transcript.ts';
import { systemClock } from '../../lib/clock.ts';
import { silentLogger } from '../../lib/logger.ts';
import { claimLane, enqueueLane, turnLane } from '../../store/lanes/lanes.ts';
import type { Claim } from '../../store/lanes/lanes.ts';
import { createSession } from '../../store/sessions/sessions.ts';
import type { Store } from '../../store/store.ts';
import { appendMessage, newestMessages, pageOfMessages } from '../../store/sessions/transcripts.ts';
import type { CompressionJob, CompressionParts } from './job.ts';
import { roomLimits } from './limits.ts';
import { compressionSection } from './options.ts';
import type { CompressionOptions } from './options.ts';
import { readContext } from '../load-context.ts';
import type { LoadedContext } from '../load-context.ts';

/** Every `FACT-…` in a text, each once, in order. */
export const factsIn = (text: string): readonly string[] => [...new Set(text.match(/FACT-\w+/g))];

/** Summarises by keeping every fact that it reads, and says how often it was asked. */
export interface FactKeeper {
  readonly complete: CompleteText;
  readonly requests: readonly TextRequest[];
  /** The next calls fail, one each. */
  failNext(...codes: readonly ModelErrorCode[]): void;
  /** What happens while the model is at work. */
  during(work: () => Promise<unknown>): void;
}

export const newFactKeeper = (write: (facts: readonly string[]) => string = (facts) => `## To remember exactly\n${facts.join('\n')}`): FactKeeper => {
  const requests: TextRequest[] = [];
  const failures: ModelErrorCode[] = [];
  let meanwhile: () => Promise<unknown> = () => Promise.resolve();
  return {
    requests,
    failNext: (...codes) => void failures.push(...codes),
    during: (work) => void (meanwhile = work),
    complete: async (request, signal) => {
      requests.push(request);
      await meanwhile();
      signal.throwIfAborted();
      const code = failures.shift();
      if (code !== undefined) throw new ModelError(code, 'as the test wants it');
      return { text: write(factsIn(request.prompt)), usage: { ...noUsage, inputTokens: 10, outputTokens: 1 }, model: 'keeper' };
    },
  };
};

export const compressionOptions = (written: Readonly<Record<string, unknown>> = {}): CompressionOptions => compressionSection.schema.parse(written);

export const compressionParts = (store: Store, keeper: FactKeeper, more: Partial<CompressionParts> = {}): CompressionParts => ({
  store,
  clock: systemClock,
  log: silentLogger,
  options: compressionOptions(),
  complete: keeper.complete,
  redact: (text) => text.replaceAll(/sk-\w+/g, '***'),
  keepResultsOf: ['todo'],
  ...more,
});

/** A new conversation whose lane is held. */
export const holdSession = (store: Store, id = 's'): Promise<Claim> =>
  store.write(async (tx) => {
    await createSession(tx, { id, agent: 'main', account: 'telegram', chatType: 'dm' });
    await enqueueLane(tx, { lane: turnLane(id), kind: 'turn' });
    return (await claimLane(tx, { lane: turnLane(id), owner: 'node', leaseMs: 60_000 })) ?? assert.fail('the lane is taken');
  });

export const append = (store: Store, messages: readonly TranscriptMessage[], id = 's'): Promise<readonly number[]> =>
  store.write(async (tx) => {
    const ids: number[] = [];
    for (const message of messages) ids.push(await appendMessage(tx, { sessionId: id, turnId: null }, message));
    return ids;
  });

/** Exchanges of about a hundred tokens each, every tenth with a fact. */
export const exchanges = (count: number, first = 1): readonly TranscriptMessage[] =>
  Array.from({ length: count }, (_, i): readonly TranscriptMessage[] => {
    const n = first + i;
    const fact = n % 10 === 0 ? ` Remember FACT-${n}.` : '';
    return [
      { role: 'user', content: `Question ${n}.${fact} ${'word '.repeat(30)}` },
      { role: 'assistant', content: `Answer ${n}. ${'word '.repeat(30)}` },
    ];
  }).flat();

/** One round of a tool with a result of so many bytes. */
export const toolRound = (id: string, resultBytes: number, name = 'read_file'): readonly TranscriptMessage[] => [
  { role: 'assistant', content: '', toolCalls: [{ id, name, arguments: `{"path":"${id}"}` }] },
  { role: 'tool', content: `${id} `.padEnd(resultBytes, 'x'), toolCallId: id, toolName: name },
];

/** A job for a model with so large a window, without prompt and tools. */
export const compressionJob = (claim: Claim, contextTokens: number, more: Partial<CompressionJob> & { readonly options?: CompressionOptions } = {}): CompressionJob => {
  const { options = compressionOptions(), ...changes } = more;
  const room = roomLimits(options, { model: 'm', contextTokens, systemBytes: 0, toolBytes: 0 });
  return { sessionId: 's', claim, room, cause: 'threshold', goalTokens: room.thresholdTokens, level: 0, scale: 1, ...changes };
};

export const never: AbortSignal = new AbortController().signal;

/** Sixteen thousand tokens: half for the answer, three quarters of the rest before anything happens. */
export const windowTokens = 16_000;

export const load = (store: Store): Promise<LoadedContext> => readContext(store, 's', { fixedTokens: 0, budgetTokens: 100_000 });

export const textOf = (rows: readonly TranscriptMessage[]): string => rows.map((row) => row.content).join('\n');

export const everything = async (store: Store): Promise<readonly string[]> =>
  (await store.read((db) => pageOfMessages(db, 's', { afterId: 0, limit: 100_000, activeOnly: false }))).map((row) => `${row.id} ${row.message.content}`);

export const activeIds = async (store: Store): Promise<readonly number[]> => (await store.read((db) => newestMessages(db, 's', { limit: 10_000 }))).map((row) => row.id);

/** No result without its call and no call without its results, and roles that take turns. */
export const isWellFormed = (rows: readonly TranscriptMessage[]): void => {
  const sent = alternate(rows);
  const results = (list: readonly TranscriptMessage[]): readonly string[] => list.flatMap((row) => (row.role === 'tool' ? [row.content] : []));
  assert.deepEqual(results(sent), results(rows));
  const asked = rows.flatMap((row) => (row.toolCalls ?? []).map((call) => call.id));
  assert.deepEqual(asked, rows.flatMap((row) => row.toolCallId ?? []));
};
