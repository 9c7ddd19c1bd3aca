import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idForModel } from '../src/agent/privacy.ts';
import { newWorld, startInside, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

const plainly = { display: { streaming: false, busy_ack_enabled: false } };

const toldAbout = (world: World): string | undefined => /You are talking to: (.*)/.exec(String(world.model.requests.at(-1)?.body.messages[0]?.['content']))?.[1];

test('models are told a hash in place of a person’s id if the owner wants that, from the next start on also in conversations that had begun', async () => {
  await using world = await newWorld(plainly);
  {
    await using _inside = await startInside(world);
    await world.say('hello');
    await until(() => world.shown().length === 1, 'the answer');
    assert.equal(toldAbout(world), 'id "7"');
  }
  await world.configure({ ...plainly, privacy: { redact_pii: true } });
  await using _inside = await startInside(world);
  await world.say('again');
  await until(() => world.shown().length === 2, 'the next answer');
  assert.equal(toldAbout(world), `id "${idForModel('7', { redact_pii: true }, { hidesIds: true })}"`);
  assert.equal(world.model.requests.at(-1)?.body.messages.length, 4, 'it is the same conversation');
});
