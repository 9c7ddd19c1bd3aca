import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { answerBytes, answerJson, answerNothing, newAudioEndpoint } from '../../agent/models/media/audio-endpoint.test-support.ts';
import type { AudioEndpoint } from '../../agent/models/media/audio-endpoint.test-support.ts';
import { systemClock } from '../../lib/clock.ts';
import { silentLogger } from '../../lib/logger.ts';
import type { Delivery } from '../../store/messages/outbox.ts';
import { registerNode } from '../../store/nodes.ts';
import { lastSpeechFailure } from '../../store/agents/speech-work.ts';
import { openLiveAccount } from '../../../test/support/live-account.ts';
import type { LiveAccount } from '../../../test/support/live-account.ts';
import { toChat } from '../../../test/support/telegram-account.ts';
import { until } from '../../../test/support/whole.ts';
import { ttsSection } from './options.ts';
import { SpokenAnswers } from './spoken-answers.ts';
import type { SpokenAnswersDeps } from './spoken-answers.ts';
import { planSpokenAnswer } from './wants-speech.ts';

interface Scene extends AsyncDisposable {
  readonly live: LiveAccount;
  readonly audio: AudioEndpoint;
  readonly folder: string;
  /** A gateway that speaks, until it is disposed of. */
  speaker(more?: Partial<SpokenAnswersDeps>): Promise<AsyncDisposable & { readonly answers: SpokenAnswers }>;
  plan(turnId: number, text: string): Promise<void>;
  /** What is on its way to the chat. */
  sent(): Promise<readonly Delivery['message'][]>;
  waiting(): Promise<number>;
}

const newScene = async (): Promise<Scene> => {
  const live = await openLiveAccount();
  const audio = await newAudioEndpoint();
  const folder = await mkdtemp(join(tmpdir(), 'hermes-spoken-'));
  let nodes = 0;
  return {
    live,
    audio,
    folder,
    async speaker(more = {}) {
      const owner = `node-${(nodes += 1)}`;
      await live.store.write((tx) => registerNode(tx, { id: owner, kind: 'gateway', pid: 1 }));
      const answers = new SpokenAnswers({
        store: live.store,
        clock: systemClock,
        log: silentLogger,
        owner,
        folder,
        connections: live.connections,
        accounts: () => ['telegram'],
        tts: () => ttsSection.schema.parse({ voice: 'nova' }),
        endpoint: async () => ({ provider: 'custom', baseUrl: audio.baseUrl, keys: [], model: 'tts-1', timeoutMs: 20_000 }),
        ...more,
      });
      answers.start();
      return { answers, [Symbol.asyncDispose]: () => answers.stop() };
    },
    plan: (turnId, text) => live.store.write((tx) => planSpokenAnswer(tx, { turnId, sessionId: 's1', agent: 'main', target: toChat('7', { replyTo: '5' }), text })),
    sent: async () => (await live.store.read((db) => db.q.selectFrom('outbox').select('payload').orderBy('id').execute())).map((row) => (JSON.parse(row.payload) as Delivery).message),
    waiting: async () => (await live.store.read((db) => db.q.selectFrom('speech_work').select('turn_id').where('failed_at', 'is', null).execute())).length,
    async [Symbol.asyncDispose]() {
      await audio[Symbol.asyncDispose]();
      await live[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
};

describe('spoken answers', { concurrency: 4 }, () => {
  test('an answer becomes one voice message behind its text, in the words one would say', async () => {
    await using scene = await newScene();
    await using _speaker = await scene.speaker();
    await scene.plan(1, '# Done\n\nIt **works**.');
    await scene.plan(1, 'again');
    await until(async () => (await scene.sent()).length === 1 && (await scene.waiting()) === 0, 'the voice message');
    const [message] = await scene.sent();
    const [file] = message?.media ?? [];
    assert.deepEqual([message?.key, message?.target, message?.text, message?.quiet, file?.kind, file?.mime, file?.name], ['turn:1:voice', toChat('7'), '', true, 'voice', 'audio/ogg', 'answer.ogg']);
    assert.equal(await readFile(file?.path ?? '', 'utf8'), 'OggS:Done.\nIt works.');
    assert.deepEqual(scene.audio.requests[0]?.fields, { model: 'tts-1', input: 'Done.\nIt works.', voice: 'nova', response_format: 'opus' });
  });

  test('what cannot be said, and an answer that is silent, is not spoken', async () => {
    await using scene = await newScene();
    await scene.plan(1, '[SILENT]');
    await scene.plan(2, '  ');
    assert.equal(await scene.waiting(), 0);
    await scene.plan(3, '```\ncode\n```');
    await using _speaker = await scene.speaker();
    await until(async () => (await scene.waiting()) === 0, 'the work to be done');
    assert.deepEqual([(await scene.sent()).length, scene.audio.requests.length], [0, 0]);
  });

  test('an answer that was being spoken when the gateway ended is spoken after the next start, once', async () => {
    await using scene = await newScene();
    scene.audio.next(answerNothing);
    {
      await using _first = await scene.speaker();
      await scene.plan(1, 'Hello.');
      await until(() => scene.audio.requests.length === 1, 'the endpoint to be asked');
    }
    assert.equal(await scene.waiting(), 1);
    await using _second = await scene.speaker();
    await using _third = await scene.speaker();
    await until(async () => (await scene.sent()).length === 1, 'the voice message');
    assert.deepEqual([scene.audio.requests.length, await scene.waiting(), (await readdir(join(scene.folder, 'spoken'))).length], [2, 0, 1]);
  });

  test('an answer that somebody else has spoken meanwhile is not sent again, and leaves no file', async () => {
    await using scene = await newScene();
    {
      await using _speaker = await scene.speaker();
      const taken = Promise.withResolvers<void>();
      scene.audio.next((response, request) => void taken.promise.then(() => answerBytes('audio/ogg', 'OggS:late')(response, request)));
      await scene.plan(1, 'Hello.');
      await until(() => scene.audio.requests.length === 1, 'the endpoint to be asked');
      await scene.live.store.write((tx) => tx.q.deleteFrom('speech_work').execute());
      taken.resolve();
      await until(async () => (await readdir(scene.folder)).includes('spoken'), 'it to be spoken');
    }
    assert.deepEqual([await scene.sent(), await readdir(join(scene.folder, 'spoken'))], [[], []]);
  });

  test('a definite failure is given up, with its reason kept for whoever asks; the next answer is spoken', async () => {
    await using scene = await newScene();
    await using _speaker = await scene.speaker();
    scene.audio.next(answerJson(401, { error: { message: 'bad key' } }));
    await scene.plan(1, 'One.');
    await until(async () => (await scene.waiting()) === 0, 'the end of the first');
    assert.equal(await scene.live.store.read((db) => lastSpeechFailure(db, 's1')), 'the speech service refused the key');
    await scene.plan(2, 'Two.');
    await until(async () => (await scene.sent()).length === 1, 'the second');
    assert.equal((await scene.sent())[0]?.key, 'turn:2:voice');
  });

  test('a failure that may pass is tried again later, three times at most', async () => {
    await using scene = await newScene();
    const quick = { ...systemClock, sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(Math.min(ms, 5), signal) };
    await using _speaker = await scene.speaker({ clock: quick });
    scene.audio.next(...Array.from({ length: 6 }, () => answerJson(503, {})));
    await scene.plan(1, 'One.');
    for (let attempt = 1; attempt < 3; attempt += 1) {
      await until(() => scene.audio.requests.length === 2 * attempt, `attempt ${attempt}`);
      await until(async () => (await scene.live.store.read((db) => db.q.selectFrom('speech_work').select('owner').execute()))[0]?.owner === null, 'it to be put back');
      await scene.live.clock.advance(60_000);
    }
    await until(async () => (await scene.waiting()) === 0, 'it to be given up');
    assert.deepEqual([scene.audio.requests.length, (await scene.sent()).length], [6, 0]);
  });

  test('nothing is spoken where nobody speaks, where no files can be sent, or when it is too late', async () => {
    await using scene = await newScene();
    const failure = (): Promise<string | undefined> => scene.live.store.read((db) => lastSpeechFailure(db, 's1'));
    const adapter = scene.live.connections.adapter('telegram');
    assert.ok(adapter !== undefined);
    const { media: _media, ...mute } = adapter;
    const cases = [
      { more: { endpoint: async () => undefined }, because: 'no speech service is configured (`auxiliary.speech`)' },
      { more: { connections: { ...scene.live.connections, adapter: () => mute } }, because: 'no files can be sent there' },
    ];
    for (const [index, { more, because }] of cases.entries()) {
      await using _speaker = await scene.speaker(more);
      await scene.plan(index + 1, 'Hello.');
      await until(async () => (await failure()) === because, because);
    }
    await scene.plan(9, 'Hello.');
    await scene.live.clock.advance(16 * 60_000);
    await using _late = await scene.speaker();
    await until(async () => (await failure()) === 'it would have come too late', 'it to be given up');
    assert.equal((await scene.sent()).length, 0);
  });

  test('an account that is connected elsewhere is left to whoever has it', async () => {
    await using scene = await newScene();
    await using _elsewhere = await scene.speaker({ accounts: () => [] });
    await scene.plan(1, 'Hello.');
    await using _here = await scene.speaker();
    await until(async () => (await scene.sent()).length === 1, 'the voice message');
  });
});
