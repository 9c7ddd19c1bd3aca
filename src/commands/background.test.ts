import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../test/support/stores.ts';
import type { HelperView } from '../agent/tools/delegation/helpers.ts';
import { OutputFile } from '../agent/tools/terminal/output-file.ts';
import { newProcess } from '../agent/tools/terminal/process-entry.ts';
import { delegationsOf, endDelegation, keepDelegation, stoppedDelegations } from '../store/agents/delegations.ts';
import { waitingItems } from '../store/messages/inbox.ts';
import { claimLane, laneFacts, turnLane } from '../store/lanes/lanes.ts';
import { changeSettings, findSession } from '../store/sessions/sessions.ts';
import type { Store } from '../store/store.ts';
import { startTurn } from '../store/sessions/turns.ts';
import { newestSaid } from '../store/sessions/transcripts.ts';
import { sampleEvent, sampleTarget } from '../../test/support/samples.ts';
import { begin, give, run, sampleReach, talk } from './command-call.test-support.ts';
import type { CommandCall } from './contract.ts';

const typed = (text: string): Partial<CommandCall> => ({ event: sampleEvent({ text, chat: { id: '7', type: 'dm' }, sender: { id: '7', isBot: false } }) });

const typedIn = (store: Store, text: string, more: Partial<CommandCall> = {}): Promise<string> => give(store, text, { ...typed(text), ...more });

const apartOf = async (store: Store): Promise<readonly string[]> => (await store.read((db) => delegationsOf(db, 's1', 10))).map(({ id }) => id);

/** Somebody works on a conversation that stands apart. */
const takeUp = (store: Store, id: string): Promise<unknown> =>
  store.write(async (tx) => {
    await claimLane(tx, { lane: turnLane(id), owner: 'a', leaseMs: 60_000 });
    await tx.q.updateTable('inbox').set({ state: 'done' }).where('lane', '=', turnLane(id)).execute();
    return startTurn(tx, { sessionId: id, lane: turnLane(id), target: sampleTarget() });
  });

eachStore((_engine, open) => {
  test('/background begins a turn in a conversation of its own, with the settings of this one and none of its history', async () => {
    const { store } = await open();
    await begin(store);
    await talk(store, 'hello');
    await run(store);
    await store.write((tx) => changeSettings(tx, 's1', { model: 'm1', busyMode: 'queue', footer: true }));
    assert.match(await typedIn(store, '/bg find the cheapest flight'), /beside our conversation \(`bg_\d{6}_[0-9a-f]{8}`\)/);
    const [id = ''] = await apartOf(store);
    const session = await store.read((db) => findSession(db, id));
    assert.deepEqual([session?.agent, session?.userId, session?.parentId, session?.messageCount, session?.settings], ['main', '7', 's1', 0, { model: 'm1', toolProgress: 'off' }]);
    const [item] = await store.read((db) => waitingItems(db, turnLane(id), 5));
    assert.deepEqual([item?.event.text, item?.event.chat.id, item?.event.sender.id], ['find the cheapest flight', '7', '7']);
    assert.deepEqual(await store.read((db) => waitingItems(db, turnLane('s1'), 5)), [], 'the conversation is left alone');
  });

  test('/btw asks about what was said, and changes nothing of it', async () => {
    const { store } = await open();
    await begin(store);
    await talk(store, 'I live in Rome');
    assert.equal(await typedIn(store, '/btw where do I live?'), '');
    const [id = ''] = await apartOf(store);
    assert.deepEqual((await store.read((db) => newestSaid(db, id, 5))).map(({ message }) => message.content), ['re: I live in Rome', 'I live in Rome']);
    assert.equal((await store.read((db) => newestSaid(db, 's1', 5))).length, 2);
  });

  test('only so many stand beside one conversation at a time', async () => {
    const { store } = await open();
    await begin(store);
    assert.match(await typedIn(store, '/background'), /^Usage/);
    for (let i = 0; i < 5; i += 1) await typedIn(store, `/background task ${i}`);
    assert.match(await typedIn(store, '/background one more'), /5 pieces of work are under way/);
    const [first = ''] = await apartOf(store);
    await store.write((tx) => tx.q.updateTable('inbox').set({ state: 'done' }).where('lane', '=', turnLane(first)).execute());
    assert.match(await typedIn(store, '/background one more'), /I am on it/, 'what has ended makes room');
  });

  test('/agents shows helpers, what stands beside the conversation, and programs', async () => {
    const { store } = await open();
    await begin(store);
    assert.equal(await typedIn(store, '/agents'), 'Nothing is under way beside this conversation.');
    await typedIn(store, '/background write a poem');
    await store.write(async (tx) => {
      await keepDelegation(tx, { id: 'deleg_1', sessionId: 's1', owner: 'n', request: { tasks: [{ goal: 'known here' }] } });
      await keepDelegation(tx, { id: 'deleg_2', sessionId: 's1', owner: 'n', request: { tasks: [{ goal: 'first' }, { goal: 'second' }] } });
      await endDelegation(tx, 'deleg_2', { state: 'lost' });
      await keepDelegation(tx, { id: 'deleg_3', sessionId: 'other', owner: 'n', request: { tasks: [{ goal: 'secret' }] } });
    });
    const helpers: readonly HelperView[] = [
      { id: 'deleg_1_0', goal: 'known here', startedAtMs: 0, calls: 3, doing: 'terminal ls' },
      { id: 'deleg_0_0', goal: 'earlier', startedAtMs: 0, calls: 1, end: { status: 'failed', atMs: 5_000 } },
    ];
    const program = newProcess({ id: 'proc_1', sessionId: 's1', command: 'make sk-secret', cwd: '/', pid: 1, started: null, startedAtMs: 0, output: new OutputFile('/nowhere'), notify: false });
    const processes = { of: () => [program], hasLive: () => true, killOf: async () => 0 };
    const text = await typedIn(store, '/tasks', { nowMs: 61_000, reach: sampleReach({ helpers: () => helpers, processes }) });
    const bg = (await apartOf(store)).find((id) => id.startsWith('bg_')) ?? '';
    assert.equal(
      text,
      [
        '**Helpers**',
        '⏳ `deleg_1_0` known here — 61 s, 3 model calls, terminal ls',
        '⚠️ `deleg_0_0` earlier — failed after 5 s',
        '**Beside this conversation**',
        ...[`❓ \`deleg_2\` first · second — lost`, `⏳ \`${bg}\` write a poem — running`].toSorted((a, b) => text.indexOf(a) - text.indexOf(b)),
        '**Programs**',
        '⏳ `proc_1` make *** — runs for 61 s',
        '',
        '`/agents stop <id>` ends one of them.',
      ].join('\n'),
    );
  });

  test('/agents stop ends what belongs to this conversation, wherever it runs, and nothing else', async () => {
    const { store } = await open();
    await begin(store);
    await typedIn(store, '/background write a poem');
    const [bg = ''] = await apartOf(store);
    await takeUp(store, bg);
    await store.write(async (tx) => {
      await keepDelegation(tx, { id: 'deleg_1', sessionId: 's1', owner: 'n', request: { tasks: [] } });
      await keepDelegation(tx, { id: 'deleg_2', sessionId: 'other', owner: 'n', request: { tasks: [] } });
    });
    assert.match(await typedIn(store, `/agents stop ${bg}`), /is ended/);
    assert.equal((await store.read((db) => laneFacts(db, turnLane(bg)))).stops, 1);
    await typedIn(store, '/background nobody has begun with this');
    const waits = (await apartOf(store)).find((id) => id.startsWith('bg_') && id !== bg) ?? '';
    assert.match(await typedIn(store, `/agents stop ${waits}`), /is ended/);
    assert.deepEqual(await store.read((db) => waitingItems(db, turnLane(waits), 5)), []);
    assert.match(await typedIn(store, `/agents stop ${waits}`), /has ended already/);
    assert.match(await typedIn(store, '/agents stop deleg_1_0'), /`deleg_1` is ended/);
    assert.match(await typedIn(store, '/agents stop deleg_2'), /Nothing of this conversation/);
    assert.deepEqual(await store.read((db) => stoppedDelegations(db, 'n')), ['deleg_1']);
    await store.write((tx) => endDelegation(tx, 'deleg_1', { state: 'done' }));
    assert.match(await typedIn(store, '/agents stop deleg_1'), /has ended already/);
    assert.match(await typedIn(store, '/agents all'), /^Usage/);
  });

  test('/reasoning sets how much is thought and whether it is shown, for this conversation, and takes it back', async () => {
    const { store } = await open();
    await begin(store);
    const settings = async (): Promise<unknown> => (await store.read((db) => findSession(db, 's1')))?.settings;
    assert.match(await typedIn(store, '/reasoning'), /as the model is set up, and not shown with answers/);
    await typedIn(store, '/reasoning HIGH');
    await typedIn(store, '/reasoning show');
    assert.deepEqual(await settings(), { reasoningEffort: 'high', showReasoning: true });
    assert.match(await typedIn(store, '/reasoning status'), /`high` in this conversation, and shown above answers/);
    assert.match(await typedIn(store, '/reasoning enormous'), /is none of none, minimal/);
    await typedIn(store, '/reasoning default');
    await typedIn(store, '/reasoning hide');
    assert.deepEqual(await settings(), { showReasoning: false });
    await typedIn(store, '/reasoning full');
    assert.deepEqual(await settings(), { showReasoning: true, fullReasoning: true });
    assert.match(await typedIn(store, '/reasoning'), /shown in full above answers/);
    await typedIn(store, '/reasoning clamp');
    assert.deepEqual(await settings(), { showReasoning: true, fullReasoning: false });
    await run(store);
    assert.match(await typedIn(store, '/reasoning low'), /still working/);
  });
});
