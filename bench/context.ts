import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/lib/clock.ts';
import { silentLogger } from '../src/lib/logger.ts';
import { readContext } from '../src/sessions/load-context.ts';
import { openStore } from '../src/store/open.ts';
import { archiveMessages } from '../src/store/sessions/archive.ts';
import { insertCompression } from '../src/store/sessions/compressions.ts';
import { createSession } from '../src/store/sessions/sessions.ts';
import { appendMessage, newestSketches } from '../src/store/sessions/transcripts.ts';
import type { Store } from '../src/store/store.ts';
import { median } from './quantile.ts';

export interface ContextPlan {
  /** Lengths of the conversations; the first is what the others are compared with. */
  readonly messages: readonly number[];
  readonly times: number;
}

export interface ContextResult {
  readonly messages: number;
  readonly loadMs: number;
  /** Against the shortest conversation. */
  readonly ratio: number;
}

const batch = 1000;
/** Messages that stand word for word when a conversation has just been summarised and has gone on for a while. */
const kept = 100;
const sentence = 'The quick brown fox jumps over the lazy dog and writes about it at some length. ';

const fill = async (store: Store, sessionId: string, messages: number): Promise<void> => {
  await store.write((tx) => createSession(tx, { id: sessionId, agent: 'main', account: 'bench', chatType: 'dm' }));
  for (let from = 0; from < messages; from += batch) {
    await store.write(async (tx) => {
      for (let n = from; n < Math.min(from + batch, messages); n += 1) {
        await appendMessage(tx, { sessionId, turnId: null }, { role: n % 2 === 0 ? 'user' : 'assistant', content: `${n} ${sentence}` });
      }
    });
  }
};

/** As the gateway leaves it: everything but the newest messages is summarised and archived. */
const summarise = (store: Store, sessionId: string): Promise<void> =>
  store.write(async (tx) => {
    const newest = await newestSketches(tx, sessionId, { limit: kept + 1 });
    const throughId = newest[kept]?.id;
    if (throughId === undefined) return;
    const compressionId = await insertCompression(tx, sessionId, { summary: sentence.repeat(50), headThroughId: 0, throughId, messages: 0, tokensBefore: 0, tokensAfter: 0, cause: 'threshold', how: 'model', model: null });
    await archiveMessages(tx, sessionId, { afterId: 0, throughId, keepIds: [], compressionId });
  });

/** How long it takes to load what the model is shown, from a short conversation and from a very long one. */
export const measureContext = async (plan: ContextPlan): Promise<readonly ContextResult[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-bench-context-'));
  const store = await openStore({ path: join(folder, 'gateway.db'), clock: systemClock, log: silentLogger, checkIntegrity: false });
  try {
    const samples = plan.messages.map((messages) => ({ messages, id: `bench-${messages}`, ms: [] as number[] }));
    for (const { id, messages } of samples) {
      await fill(store, id, messages);
      await summarise(store, id);
    }
    for (let i = 0; i < plan.times; i += 1) {
      for (const { id, ms } of samples) {
        const startedMs = performance.now();
        await readContext(store, id, { fixedTokens: 1000, budgetTokens: 100_000 });
        ms.push(performance.now() - startedMs);
      }
    }
    const shortestMs = median(samples[0]?.ms ?? []);
    return samples.map(({ messages, ms }) => ({ messages, loadMs: median(ms), ratio: median(ms) / shortestMs }));
  } finally {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
};
