import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { systemClock } from '../../lib/clock.ts';
import { capturingLogger } from '../../lib/logger.ts';
import type { BegunTurn } from '../../sessions/begin.ts';
import { runEventsAfter } from '../../store/api/api-run-events.ts';
import type { RunEvent } from '../../store/api/api-run-events.ts';
import { releaseLane } from '../../store/lanes/lanes.ts';
import { appendMessage } from '../../store/sessions/transcripts.ts';
import type { Store } from '../../store/store.ts';
import { beginCall, submitCall } from './api-turn.test-support.ts';
import { RunLog } from './run-log.ts';

const submit = (store: Store, nativeId: string): Promise<void> => store.write((tx) => submitCall(tx, 's', nativeId));
const begin = (store: Store, owner: string): Promise<BegunTurn> => beginCall(store, 's', owner);

const events = async (store: Store): Promise<readonly RunEvent[]> => (await store.read((db) => runEventsAfter(db, { runId: 'run_1', seq: 0, limit: 100 }))).map(({ event }) => event);
const said = (all: readonly RunEvent[]): string => all.flatMap((event) => (event.type === 'text' ? [event.delta] : [])).join('');

eachStore((_engine, open) => {
  const newLog = (store: Store) => {
    const { log, lines } = capturingLogger();
    return { runs: new RunLog({ store, clock: systemClock, log }), lines };
  };

  test('what happens in a run is kept in order, and all of it before its turn ends', async () => {
    const { store } = await open();
    await submit(store, 'run_1');
    const { runs } = newLog(store);
    const begun = await begin(store, 'one');
    await runs.begins(begun);
    runs.onEvent(begun, { type: 'usage', usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }, model: 'm' });
    for (const delta of ['I ', 'look', '.']) runs.onEvent(begun, { type: 'text', delta });
    runs.onEvent(begun, { type: 'message', message: { role: 'assistant', content: 'I look.', toolCalls: [] } });
    runs.onEvent(begun, { type: 'tool_started', callId: 'c', name: 'terminal', preview: 'ls' });
    runs.onEvent(begun, { type: 'tool_finished', callId: 'c', name: 'terminal', ok: true, durationMs: 3 });
    runs.onEvent(begun, { type: 'text', delta: 'Done.' });
    await runs.told(begun);
    const all = await events(store);
    assert.equal(said(all), 'I look.\n\nDone.');
    assert.deepEqual(all.map(({ type }) => type).filter((type, index, types) => type !== types[index - 1]), ['text', 'said', 'tool_started', 'tool_finished', 'text']);
    runs.onEvent(begun, { type: 'text', delta: 'too late' });
    assert.equal((await events(store)).length, all.length);
  });

  test('calls that are no runs leave no events', async () => {
    const { store } = await open();
    await submit(store, 'resp_1');
    const { runs } = newLog(store);
    const begun = await begin(store, 'one');
    await runs.begins(begun);
    runs.onEvent(begun, { type: 'text', delta: 'hello' });
    await runs.told(begun);
    assert.equal(runs.questionsOf(begun), undefined);
    assert.deepEqual(await store.read((db) => db.q.selectFrom('api_run_events').select('seq').execute()), []);
  });

  test('another process goes on behind what is kept, and the first one tells nothing more', async () => {
    const { store } = await open();
    await submit(store, 'run_1');
    const first = newLog(store);
    const lost = await begin(store, 'one');
    await first.runs.begins(lost);
    first.runs.onEvent(lost, { type: 'text', delta: 'kept' });
    first.runs.onEvent(lost, { type: 'message', message: { role: 'assistant', content: 'kept' } });
    first.runs.onEvent(lost, { type: 'text', delta: 'half' });
    await first.runs.told(lost);
    await first.runs.begins(lost);
    await store.write(async (tx) => {
      await appendMessage(tx, { sessionId: 's', turnId: lost.turn.id }, { role: 'assistant', content: 'kept' });
      await releaseLane(tx, lost.claim, { more: true });
    });
    const second = newLog(store);
    const begun = await begin(store, 'two');
    assert.equal(begun.resumed, true);
    await second.runs.begins(begun);
    first.runs.onEvent(lost, { type: 'text', delta: 'from the grave' });
    await first.runs.told(lost);
    second.runs.onEvent(begun, { type: 'text', delta: 'and more' });
    await second.runs.told(begun);
    assert.equal(said(await events(store)), 'kept\n\nand more');
    assert.deepEqual(first.lines.filter((line) => line.includes('api.run_events_not_kept')), []);
  });
});
