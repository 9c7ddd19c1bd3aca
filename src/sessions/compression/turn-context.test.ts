import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import type { TranscriptMessage } from '../../core/transcript.ts';
import type { Claim } from '../../store/lanes/lanes.ts';
import { expectPrompt, findSession } from '../../store/sessions/sessions.ts';
import type { Store } from '../../store/store.ts';
import { append, compressionOptions, compressionParts, exchanges, factsIn, holdSession, never, newFactKeeper, toolRound } from './compression.test-support.ts';
import type { FactKeeper } from './compression.test-support.ts';
import type { CompressionParts } from './job.ts';
import type { ReaderFacts } from './limits.ts';
import { compressOnRequest } from './on-request.ts';
import { newTurnContext } from './turn-context.ts';
import type { HeldConversation, TurnContext } from './turn-context.ts';

/** Half of it for the answer; three quarters of the rest, six thousand, before anything is summarised. */
const small: ReaderFacts = { model: 'm', contextTokens: 16_000, systemBytes: 0, toolBytes: 0 };

const held = async (store: Store, claim: Claim, reader = small): Promise<HeldConversation> => ({ claim, reader, session: (await store.read((db) => findSession(db, 's'))) ?? assert.fail('there is no session') });

const contextOf = async (store: Store, claim: Claim, keeper: FactKeeper, more: Partial<CompressionParts> = {}): Promise<TurnContext> => newTurnContext(compressionParts(store, keeper, more), await held(store, claim));

const textOf = (rows: readonly TranscriptMessage[]): string => rows.map((row) => row.content).join('\n');

eachStore((_engine, open) => {
  test('a conversation over the threshold is summarised before its turn, once; one under it is not touched', async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    const keeper = newFactKeeper();
    await append(store, exchanges(50));
    assert.equal((await (await contextOf(store, claim, keeper)).load(never)).messages, 100);
    assert.equal(keeper.requests.length, 0);
    await append(store, exchanges(20, 51));
    const context = await contextOf(store, claim, keeper);
    const loaded = await context.load(never);
    assert.deepEqual([keeper.requests.length, context.usage().inputTokens], [1, 10]);
    assert.ok(loaded.tokens < 3_000);
    assert.equal(factsIn(textOf(loaded.transcript)).length, 7);
    await (await contextOf(store, claim, keeper)).load(never);
    assert.equal(keeper.requests.length, 1);
    assert.deepEqual(context.facts, { window: 16_000, threshold: 6_000, system: 0, tools: 0 });
  });

  test('one exchange that is too large for the window is summarised with the rest, although what is left would fit', async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    const keeper = newFactKeeper();
    await append(store, [{ role: 'user', content: `FACT-early ${'x'.repeat(40_000)}` }, { role: 'assistant', content: 'I see.' }, ...exchanges(12)]);
    const loaded = await (await contextOf(store, claim, keeper)).load(never);
    assert.ok(loaded.whole && keeper.requests.length > 0);
    assert.deepEqual(factsIn(textOf(loaded.transcript)), ['FACT-early', 'FACT-10']);
  });

  test('what the model counted decides, not what we estimate', async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    const keeper = newFactKeeper();
    const ids = await append(store, exchanges(70));
    await store.write((tx) => expectPrompt(tx, 's', { tokens: 4_000, throughId: ids.at(-1) ?? 0 }));
    assert.equal((await (await contextOf(store, claim, keeper)).load(never)).tokens, 4_000);
    assert.equal(keeper.requests.length, 0, 'the estimate is over the threshold, the truth is not');
    await store.write((tx) => expectPrompt(tx, 's', { tokens: 5_900, throughId: ids.at(-1) ?? 0 }));
    await append(store, exchanges(2, 71));
    await (await contextOf(store, claim, keeper)).load(never);
    assert.equal(keeper.requests.length, 1);
    const few = await holdSession(store, 'dense');
    const denseIds = await append(store, exchanges(30), 'dense');
    await store.write((tx) => expectPrompt(tx, 'dense', { tokens: 7_000, throughId: denseIds.at(-1) ?? 0 }));
    const session = (await store.read((db) => findSession(db, 'dense'))) ?? assert.fail();
    const loaded = await newTurnContext(compressionParts(store, keeper), { claim: few, session, reader: small }).load(never);
    assert.equal(keeper.requests.length, 2, 'the estimate is under the threshold, the truth is not');
    assert.ok(loaded.tokens > loaded.estimatedTokens * 2, 'what was learnt about the tokens of this conversation stays true');
  });

  test('switched off, only the newest part is sent, and nothing is changed', async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    const keeper = newFactKeeper();
    await append(store, exchanges(100));
    const context = await contextOf(store, claim, keeper, { options: compressionOptions({ enabled: false }) });
    const loaded = await context.load(never);
    assert.ok(!loaded.whole && loaded.messages < 200 && loaded.tokens <= 8_000);
    const room = context.room(loaded);
    assert.equal(room.limitTokens, Infinity);
    const shorter = await room.shorten({ tokens: loaded.tokens, refused: true }, never);
    assert.ok(shorter !== undefined && shorter.transcript.length < loaded.messages);
    assert.equal(keeper.requests.length, 0);
  });

  test('a turn that was ended while its conversation was summarised goes on with what there is', async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    const keeper = newFactKeeper();
    await append(store, exchanges(70));
    const stop = new AbortController();
    keeper.during(async () => stop.abort({ kind: 'stopped' }));
    const loaded = await (await contextOf(store, claim, keeper)).load(stop.signal);
    assert.equal(loaded.messages, 140);
  });

  test('a turn that fills its window is shortened and keeps what it is working on', async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    const keeper = newFactKeeper();
    await append(store, [...exchanges(20), { role: 'user', content: 'Read all the files.' }]);
    const context = await contextOf(store, claim, keeper);
    const loaded = await context.load(never);
    const room = context.room(loaded);
    assert.equal(room.limitTokens, 6_000);
    await append(store, Array.from({ length: 6 }, (_, i) => toolRound(`c${i}`, 4_000)).flat());
    const shorter = await room.shorten({ tokens: loaded.tokens + 6_200, refused: false }, never);
    assert.ok(shorter !== undefined && shorter.tokens < 6_000);
    assert.ok(shorter.transcript.some((row) => row.content === 'Read all the files.'));
    assert.equal(shorter.transcript.at(-1)?.toolCallId, 'c5');
    assert.equal(shorter.transcript.at(-1)?.content.length, 4_000, 'the newest result is whole');
  });

  test('a model that refuses gets less each time, at most three times without an answer in between', async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    const keeper = newFactKeeper();
    await append(store, [...exchanges(40), { role: 'user', content: 'Go on.' }, ...toolRound('big', 8_000)]);
    const context = await contextOf(store, claim, keeper);
    const loaded = await context.load(never);
    const room = context.room(loaded);
    const sizes = [loaded.tokens];
    let begins = '';
    for (let i = 0; i < 8; i += 1) {
      const shorter = await room.shorten({ tokens: sizes.at(-1) ?? 0, refused: true }, never);
      if (shorter === undefined) break;
      sizes.push(shorter.tokens);
      begins = shorter.transcript[0]?.content ?? '';
    }
    assert.doesNotMatch(begins, /Question 1\./, 'in the end even the beginning gives way');
    assert.ok(sizes.length >= 3 && sizes.length <= 5, String(sizes));
    assert.deepEqual(sizes, sizes.toSorted((a, b) => b - a));
    await append(store, Array.from({ length: 6 }, (_, i) => toolRound(`more${i}`, 4_000)).flat());
    assert.ok((await room.shorten({ tokens: 8_000, refused: true }, never)) !== undefined, 'the model has worked on since');
  });

  test('a refusal that names the real window is believed', async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    await append(store, exchanges(50));
    const context = await contextOf(store, claim, newFactKeeper());
    const room = context.room(await context.load(never));
    const shorter = await room.shorten({ tokens: 5_000, refused: true, windowTokens: 4_000 }, never);
    assert.ok(shorter !== undefined && shorter.tokens < 900, String(shorter?.tokens));
  });

  test('when no summary can be had, a refused request is sent without its oldest part', async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    const keeper = newFactKeeper();
    keeper.failNext('auth', 'auth', 'auth');
    await append(store, exchanges(50));
    const context = await contextOf(store, claim, keeper);
    const loaded = await context.load(never);
    const shorter = await context.room(loaded).shorten({ tokens: loaded.tokens, refused: true }, never);
    assert.ok(shorter !== undefined && shorter.transcript.length < loaded.messages);
    assert.equal(shorter.transcript.at(-1)?.content.slice(0, 9), 'Answer 50');
  });

  test('a wish is answered with figures, and so is one that cannot be fulfilled', async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    const keeper = newFactKeeper();
    const parts = compressionParts(store, keeper);
    const ask = async (): Promise<string> => (await compressOnRequest(parts, { ...(await held(store, claim)), chore: { type: 'compress' } }, never)).text;
    await append(store, exchanges(1));
    assert.match(await ask(), /^There is nothing to gain: this conversation has 2 messages, about 10\d tokens\.$/);
    await append(store, exchanges(20, 2));
    const preview = async (): Promise<string> => (await compressOnRequest(parts, { ...(await held(store, claim)), chore: { type: 'compress', preview: true } }, never)).text;
    const announced = await preview();
    assert.match(announced, /^🔍 A summary would take the place of \d+ messages, about 1\d\d\d tokens, of 42 messages, about 21\d\d tokens in all\./);
    assert.deepEqual([await preview(), keeper.requests.length], [announced, 0], 'nothing was changed, and nobody asked');
    keeper.failNext('billing');
    assert.equal(await ask(), '⚠️ There is no summary: The model account has no credit left. The owner has to top it up. The conversation is as it was.');
    assert.match(await ask(), /^🗜️ Summarised: from 42 messages, about 21\d\d tokens to \d+ messages, about \d+ tokens\. Everything that was said is still there/);
    const stop = new AbortController();
    await append(store, exchanges(20, 30));
    keeper.during(async () => stop.abort());
    assert.deepEqual((await compressOnRequest(parts, { ...(await held(store, claim)), chore: { type: 'compress' } }, stop.signal)).aborted, true);
  });
});
