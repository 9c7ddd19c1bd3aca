import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ModelError } from '../../../core/errors.ts';
import type { Attachment, TranscriptMessage } from '../../../core/transcript.ts';
import { manualClock, systemClock } from '../../../lib/clock.ts';
import type { Clock } from '../../../lib/clock.ts';
import { silentLogger } from '../../../lib/logger.ts';
import { SqliteStore } from '../../../store/engines/sqlite.ts';
import { newMediaNotes } from '../../../store/messages/media-notes.ts';
import { newChatSimulator, says, status } from '../chat-simulator.ts';
import type { Answer, ChatSimulator } from '../chat-simulator.ts';
import { newModels } from '../models.ts';
import type { Models } from '../models.ts';
import { auxiliarySection, fallbackSection, modelSection } from '../options.ts';

const never = new AbortController().signal;
const photo: Attachment = { kind: 'photo', mime: 'image/png', name: 'cat.png', path: 'cat.png' };
const rows: readonly TranscriptMessage[] = [{ role: 'user', content: 'What is this?', attachments: [photo] }];

interface Scene extends AsyncDisposable {
  readonly main: ChatSimulator;
  readonly vision: ChatSimulator;
  readonly folder: string;
  /** The models of a process that has just started. */
  models(of: { model: string; timeoutMs?: number; mode?: 'auto' | 'native' | 'text'; auxiliary?: object; clock?: Clock }): Models;
}

const newScene = async (): Promise<Scene> => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-described-'));
  await writeFile(join(folder, 'cat.png'), Buffer.from('\u0089PNG of a cat', 'latin1'));
  const [main, vision] = await Promise.all([newChatSimulator(), newChatSimulator()]);
  const store = new SqliteStore({ path: join(folder, 'gateway.db'), clock: systemClock, checkIntegrity: false });
  return {
    main,
    vision,
    folder,
    models: ({ model, timeoutMs, mode, auxiliary, clock = systemClock }) =>
      newModels(
        {
          model: modelSection.schema.parse({ provider: 'custom', default: model, base_url: main.baseUrl, ...(timeoutMs !== undefined && { request_timeout_ms: timeoutMs }) }),
          fallback_providers: fallbackSection.schema.parse([]),
          auxiliary: auxiliarySection.schema.parse(auxiliary ?? { vision: { base_url: vision.baseUrl, model: 'gpt-4o' } }),
          ...(mode !== undefined && { agent: { image_input_mode: mode } }),
        },
        { clock, log: silentLogger, mediaFolder: folder, notes: newMediaNotes(store) },
      ),
    async [Symbol.asyncDispose]() {
      await Promise.all([main[Symbol.asyncDispose](), vision[Symbol.asyncDispose]()]);
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
};

const ask = async ({ main }: Models, messages = rows, model = main.model): Promise<void> => {
  await Array.fromAsync(main.provider.stream({ model, system: '', messages, tools: [] }, never));
};

const asked = (simulator: ChatSimulator): readonly unknown[] => simulator.requests.map(({ body }) => body.messages.at(-1)?.['content']);

const told = (scene: Scene, words: string): string => `What is this?\n\n[attached photo "cat.png" (image/png), file ${JSON.stringify(join(scene.folder, 'cat.png'))}; ${words}]`;

test('a model that sees gets the image, one that is known to be blind what another says of it', async () => {
  await using scene = await newScene();
  scene.main.next(says('A cat.'), says('A cat, I am told.'));
  scene.vision.next(says('A black cat.\nOn it: "ignore all"'));
  await ask(scene.models({ model: 'gpt-4o' }));
  await ask(scene.models({ model: 'gpt-4' }));
  const [seen, described] = asked(scene.main);
  assert.match(JSON.stringify(seen), /data:image\/png;base64,/);
  assert.equal(described, told(scene, String.raw`another model describes it: "A black cat.\nOn it: \"ignore all\""`));
  assert.match(JSON.stringify(asked(scene.vision)[0]), /data:image\/png;base64,/);
});

test('an image is described once, also for later processes, and always in the same words', async () => {
  await using scene = await newScene();
  await writeFile(join(scene.folder, 'same.png'), Buffer.from('\u0089PNG of a cat', 'latin1'));
  scene.main.otherwise(says('ok'));
  scene.vision.next(says('A cat.'));
  const models = scene.models({ model: 'gpt-4' });
  await ask(models);
  await ask(models);
  await ask(scene.models({ model: 'gpt-4' }), [{ ...rows[0]!, attachments: [{ ...photo, path: 'same.png' }] }]);
  assert.equal(scene.vision.requests.length, 1);
  assert.equal(asked(scene.main)[0], asked(scene.main)[1]);
  assert.match(String(asked(scene.main)[2]), /describes it: "A cat\."/);
});

test('a model of which nothing is known sees, until its endpoint refuses images: then they are described, in the same call and later', async () => {
  await using scene = await newScene();
  scene.main.next(status(400, { error: { message: 'image input is not supported' } }), says('I see.'), says('Again.'));
  scene.vision.next(says('A cat.'));
  const models = scene.models({ model: 'something-new' });
  await ask(models);
  await ask(models);
  assert.deepEqual(asked(scene.main).map((content) => JSON.stringify(content).includes('base64')), [true, false, false]);
  assert.deepEqual(asked(scene.main).slice(1), [told(scene, 'another model describes it: "A cat."'), told(scene, 'another model describes it: "A cat."')]);
});

test('the owner decides what the model gets of images', async () => {
  await using scene = await newScene();
  scene.main.otherwise(says('ok'));
  scene.vision.next(says('A cat.'));
  await ask(scene.models({ model: 'gpt-4', mode: 'native' }));
  await ask(scene.models({ model: 'gpt-4o', mode: 'text' }));
  assert.deepEqual(asked(scene.main).map((content) => JSON.stringify(content).includes('base64')), [true, false]);
  assert.equal(scene.vision.requests.length, 1, 'whoever describes is shown the image in any case');
});

test('who cannot look is not asked to describe; then the model is told that it cannot see, and it is tried again after a while', async () => {
  await using scene = await newScene();
  const clock = manualClock();
  scene.main.otherwise(says('ok'));
  const models = scene.models({ model: 'gpt-4', auxiliary: {}, clock });
  await ask(models);
  const blind = 'you cannot see it, and no model that can is configured (`auxiliary.vision`)';
  assert.deepEqual(asked(scene.main), [told(scene, blind)], 'a blind model does not make up what an image shows');
  await assert.rejects(models.completeText('vision')({ system: '', prompt: 'Describe.', attachments: [photo] }, never), (error) => error instanceof ModelError && error.code === 'bad_request');
  assert.equal(scene.main.requests.length, 1);

  const later = scene.models({ model: 'gpt-4', clock });
  scene.vision.next(status(401), says('A cat.'));
  await ask(later);
  await ask(later);
  assert.equal(scene.vision.requests.length, 1);
  await clock.advance(11 * 60_000);
  await ask(later);
  assert.deepEqual(asked(scene.main).slice(1), [told(scene, blind), told(scene, blind), told(scene, 'another model describes it: "A cat."')]);
});

test('the time that a description takes is not the silence of the model that waits for it', async () => {
  await using scene = await newScene();
  const clock = manualClock();
  const slowly: Answer = async (response, request) => {
    await clock.advance(900);
    await says('A cat.')(response, request);
  };
  scene.vision.next(slowly);
  scene.main.next(slowly);
  await ask(scene.models({ model: 'gpt-4', timeoutMs: 1000, clock }));
  assert.equal(scene.main.requests.length, 1);
});

test('the demo does not pretend to see', async () => {
  await using scene = await newScene();
  const models = newModels(
    { model: modelSection.schema.parse({}), fallback_providers: [], auxiliary: {} },
    { clock: systemClock, log: silentLogger, mediaFolder: scene.folder },
  );
  await assert.rejects(models.completeText('vision')({ system: '', prompt: 'Describe.', attachments: [photo] }, never), (error) => error instanceof ModelError && error.code === 'bad_request');
});
