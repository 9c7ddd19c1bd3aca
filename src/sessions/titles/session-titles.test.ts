import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { until } from '../../../test/support/whole.ts';
import { newChatSimulator, says, status } from '../../agent/models/chat-simulator.ts';
import type { Answer, ChatSimulator } from '../../agent/models/chat-simulator.ts';
import { newModels } from '../../agent/models/models.ts';
import { auxiliarySection, modelSection } from '../../agent/models/options.ts';
import { manualClock, systemClock } from '../../lib/clock.ts';
import type { ManualClock } from '../../lib/clock.ts';
import { silentLogger } from '../../lib/logger.ts';
import { SqliteStore } from '../../store/engines/sqlite.ts';
import { registerNode } from '../../store/nodes.ts';
import { createSession, findSession, setTitle } from '../../store/sessions/sessions.ts';
import type { Session } from '../../store/sessions/sessions.ts';
import { planTitle } from '../../store/sessions/title-work.ts';
import { appendMessage } from '../../store/sessions/transcripts.ts';
import type { Store } from '../../store/store.ts';
import { SessionTitles } from './session-titles.ts';
import type { SessionTitlesDeps } from './session-titles.ts';

const says404: Answer = status(404, { error: { message: 'no such model' } });

interface Scene extends AsyncDisposable {
  readonly store: Store;
  readonly clock: ManualClock;
  readonly model: ChatSimulator;
  /** A gateway that finds titles, until it is disposed of. */
  titling(more?: Partial<SessionTitlesDeps>): Promise<AsyncDisposable>;
  /** A conversation with one exchange, which is to get a title. */
  begin(id: string, said?: string): Promise<void>;
  session(id: string): Promise<Session | undefined>;
  waiting(): Promise<number>;
}

const newScene = async (): Promise<Scene> => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-titles-'));
  const clock = manualClock();
  const store = new SqliteStore({ path: join(folder, 'gateway.db'), clock, checkIntegrity: false });
  const model = await newChatSimulator();
  const settings = { model: modelSection.schema.parse({ provider: 'openai', default: 'sim-1', base_url: model.baseUrl, api_key: 'k' }), fallback_providers: [], auxiliary: auxiliarySection.schema.parse(undefined) };
  const models = newModels(settings, { clock: systemClock, log: silentLogger, random: () => 0 });
  const titler = { complete: models.completeText('title_generation'), language: undefined, redact: (text: string) => text.replaceAll('sk-secret', '***') };
  const quick = { ...systemClock, sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(Math.min(ms, 5), signal) };
  let nodes = 0;
  return {
    store,
    clock,
    model,
    async titling(more = {}) {
      const owner = `node-${(nodes += 1)}`;
      await store.write((tx) => registerNode(tx, { id: owner, kind: 'gateway', pid: 1 }));
      const titles = new SessionTitles({ store, clock: quick, log: silentLogger, owner, titler: async () => titler, ...more });
      titles.start();
      return { [Symbol.asyncDispose]: () => titles.stop() };
    },
    begin: (id, said = 'Plan a trip to Rome') =>
      store.write(async (tx) => {
        await createSession(tx, { id, agent: 'main', account: 'telegram', chatType: 'dm' });
        await appendMessage(tx, { sessionId: id, turnId: null }, { role: 'user', content: said });
        await appendMessage(tx, { sessionId: id, turnId: null }, { role: 'assistant', content: 'Gladly.' });
        await planTitle(tx, { sessionId: id, agent: 'main' });
      }),
    session: (id) => store.read((db) => findSession(db, id)),
    waiting: async () => (await store.read((db) => db.q.selectFrom('title_work').select('session_id').execute())).length,
    async [Symbol.asyncDispose]() {
      await store.close();
      await model[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
};

describe('titles of conversations', { concurrency: 4 }, () => {
  test('a conversation gets the title that the model finds, once, with what it has cost', async () => {
    await using scene = await newScene();
    await using _titling = await scene.titling();
    scene.model.next(says('"Trip to Rome"'));
    await scene.begin('s1', 'Plan a trip to Rome with sk-secret');
    await until(async () => (await scene.waiting()) === 0, 'the title');
    const session = await scene.session('s1');
    assert.deepEqual([session?.title, session?.usage.inputTokens, session?.turnCount], ['Trip to Rome', 100, 0]);
    assert.equal(scene.model.requests.length, 1);
    const asked = JSON.stringify(scene.model.requests[0]?.body);
    assert.match(asked, /Person: Plan a trip to Rome with \*\*\*.*Agent: Gladly\./);
    assert.equal(scene.model.requests[0]?.body['tools'], undefined);
  });

  test('a title that a person has given stays, also when they are quicker than the model', async () => {
    await using scene = await newScene();
    await using _titling = await scene.titling();
    const given = Promise.withResolvers<void>();
    scene.model.next((response, request) => void given.promise.then(() => says('Trip to Rome')(response, request)));
    await scene.begin('s1');
    await until(() => scene.model.requests.length === 1, 'the model to be asked');
    await scene.store.write((tx) => setTitle(tx, 's1', 'Mine'));
    given.resolve();
    await until(async () => (await scene.waiting()) === 0, 'the end');
    assert.equal((await scene.session('s1'))?.title, 'Mine');
    await scene.store.write(async (tx) => {
      await createSession(tx, { id: 's2', agent: 'main', account: 'telegram', chatType: 'dm', title: 'Mine too' });
      await planTitle(tx, { sessionId: 's2', agent: 'main' });
    });
    await until(async () => (await scene.waiting()) === 0, 'the end');
    assert.deepEqual([(await scene.session('s2'))?.title, scene.model.requests.length], ['Mine too', 1]);
  });

  test('what was under way when the gateway ended is done after the next start, by one of those who could', async () => {
    await using scene = await newScene();
    scene.model.next(() => undefined);
    {
      await using _first = await scene.titling();
      await scene.begin('s1');
      await until(() => scene.model.requests.length === 1, 'the model to be asked');
    }
    assert.deepEqual([await scene.waiting(), (await scene.session('s1'))?.title], [1, null]);
    scene.model.otherwise(says('Trip to Rome'));
    await using _second = await scene.titling();
    await using _third = await scene.titling();
    await until(async () => (await scene.waiting()) === 0, 'the title');
    assert.deepEqual([scene.model.requests.length, (await scene.session('s1'))?.title], [2, 'Trip to Rome']);
  });

  test('without a topic, without anybody to ask, or after a definite refusal a conversation goes without', async () => {
    await using scene = await newScene();
    {
      await using _titling = await scene.titling();
      scene.model.next(says('-'), says404);
      await scene.begin('s1', 'hi');
      await until(async () => (await scene.waiting()) === 0, 'the end of the first');
      await scene.begin('s2');
      await until(async () => (await scene.waiting()) === 0, 'the end of the second');
    }
    await using _off = await scene.titling({ titler: async () => undefined });
    await scene.begin('s3');
    await until(async () => (await scene.waiting()) === 0, 'the end of the third');
    for (const id of ['s1', 's2', 's3']) assert.equal((await scene.session(id))?.title, null, id);
    assert.equal(scene.model.requests.length, 2);
    assert.equal((await scene.session('s1'))?.usage.inputTokens, 100, 'a question without an answer costs as well');
  });

  test('trouble that may pass is tried again later, three times at most', async () => {
    await using scene = await newScene();
    await using _titling = await scene.titling();
    scene.model.otherwise(status(503, {}, { 'retry-after': '0' }));
    await scene.begin('s1');
    for (let attempt = 1; attempt < 3; attempt += 1) {
      await until(async () => (await scene.store.read((db) => db.q.selectFrom('title_work').select(['owner', 'attempts']).execute())).every(({ owner, attempts }) => owner === null && attempts === attempt), `attempt ${attempt}`);
      await scene.clock.advance(130_000);
    }
    await until(async () => (await scene.waiting()) === 0, 'it to be given up');
    assert.equal((await scene.session('s1'))?.title, null);
  });
});
