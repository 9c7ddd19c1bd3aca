import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { calls, says } from '../src/agent/models/chat-simulator.ts';
import type { Answer } from '../src/agent/models/chat-simulator.ts';
import { heldAnswer, saidBy, streamedAnswer } from './support/scenes.ts';
import { echo, lastUserText, newWorld, startInside, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

const call = (name: string, args: object): Answer => calls({ id: `call-${name}`, name, arguments: JSON.stringify(args) });

/** Whom the model speaks as. */
const isHelper = (request: { readonly body: { readonly messages: readonly Readonly<Record<string, unknown>>[] } }): boolean => String(request.body.messages[0]?.['content']).startsWith('You are a helper');

/** The agent hands work away once and then says what it was told; helpers answer as given. */
const answering = (world: World, args: object, helper: Answer): void => {
  let handed = false;
  world.model.otherwise(async (response, request) => {
    if (isHelper(request)) return helper(response, request);
    const last = request.body.messages.at(-1);
    if (last?.['role'] === 'tool') return says(`result: ${String(last['content'])}`)(response, request);
    if (handed) return echo(response, request);
    handed = true;
    return call('delegate_task', args)(response, request);
  });
};

test('helpers do work side by side within a turn, and what they cost is the conversation’s', async () => {
  await using world = await newWorld();
  answering(world, { tasks: [{ goal: 'one' }, { goal: 'two' }] }, (response, request) => says(`did ${lastUserText(request.body)}`)(response, request));
  await using inside = await startInside(world);
  await world.say('go');
  await until(() => world.shown().some((text) => text.includes('did one') && text.includes('did two')), 'the results');
  const [session] = await inside.store.read((db) => db.q.selectFrom('sessions').select(['input_tokens', 'prompt_tokens', 'model']).execute());
  assert.deepEqual([session?.input_tokens, session?.prompt_tokens, session?.model], [400, 100, 'sim-1']);
});

test('work in the background reports in a turn of its own, once', async () => {
  await using world = await newWorld();
  const held = heldAnswer(says('the shed is painted'));
  answering(world, { goal: 'paint the shed', background: true }, held.answer);
  await using inside = await startInside(world);
  await world.say('go');
  await until(() => world.shown().some((text) => text.includes('dispatched')) && held.held() === 1, 'the handle');
  await world.say('/agents');
  await until(() => /\*?\*?Helpers\*?\*?[\s\S]*paint the shed/.test(world.shown().at(-1) ?? ''), 'the list');
  held.open();
  await until(() => world.shown().some((text) => text.includes('the shed is painted')), 'the report');
  assert.equal((await saidBy(inside.store, 'user')).filter((text) => text.includes('the shed is painted')).length, 1);
});

test('work that a killed gateway was doing is told to be lost, and not begun again', async () => {
  await using world = await newWorld({ agent: { restart_drain_timeout: 0 } });
  const held = heldAnswer();
  answering(world, { goal: 'paint the shed', background: true }, held.answer);
  {
    await using _inside = await startInside(world);
    await world.say('go');
    await until(() => held.held() === 1 && world.shown().some((text) => text.includes('dispatched')), 'the work to begin');
  }
  const asked = world.model.requests.filter(isHelper).length;
  await using _next = await startInside(world);
  await until(() => world.shown().some((text) => text.includes('was lost when the gateway ended')), 'the notice');
  assert.equal(world.model.requests.filter(isHelper).length, asked);
});

test('the agent writes into another chat, and the conversation there knows of it', async () => {
  await using world = await newWorld();
  const group = '-1005';
  await world.configure({ platforms: { telegram: { ...world.telegram.options, allowed_users: ['7'], group_allowed_chats: [group], home_channel: group } } });
  world.model.next(call('send_message', { target: 'telegram', message: 'the build is **green**' }), says('sent'));
  await using _inside = await startInside(world);
  await world.say('tell the team');
  await until(() => world.shown().includes('sent'), 'the answer');
  assert.deepEqual(world.telegram.visible(group).map(({ text }) => text), ['the build is green']);
});

test('files that an answer names go with it, and nobody sees the tag, also while it is written', async () => {
  await using world = await newWorld();
  const workspace = join(world.home, 'workspace');
  await mkdir(workspace, { recursive: true });
  await writeFile(join(workspace, 'notes.txt'), 'content');
  world.model.next(says(`Here are the notes.\nMEDIA:${workspace}/notes.txt\nMEDIA:${world.home}/config.yaml`));
  await using inside = await startInside(world);
  await world.say('send me the notes');
  await until(() => world.telegram.visible('7').some(({ media }) => media.length > 0), 'the file');
  const shown = world.telegram.visible('7').at(-1);
  assert.match(shown?.text ?? '', /^Here are the notes\.\n\n⚠️ config\.yaml could not be attached/);
  assert.deepEqual(shown?.media.map(({ name }) => name), ['notes.txt']);
  assert.ok((await saidBy(inside.store, 'assistant'))[0]?.includes('MEDIA:'), 'the transcript keeps what the model said');
});

test('a file follows an answer that was shown while it was written', async () => {
  await using world = await newWorld({ display: { streaming: true } });
  const workspace = join(world.home, 'workspace');
  await mkdir(workspace, { recursive: true });
  await writeFile(join(workspace, 'notes.txt'), 'content');
  const streamed = streamedAnswer();
  world.model.next(streamed.answer);
  await using _inside = await startInside(world);
  await world.say('go');
  await until(() => streamed.begun(), 'the model to be asked');
  streamed.write('Here it comes, now.\n');
  await until(() => world.shown().some((text) => text.includes('Here it comes')), 'the preview');
  streamed.write(`MEDIA:${workspace}/notes.txt`);
  streamed.end();
  await until(() => world.telegram.visible('7').some(({ media }) => media.length > 0), 'the file');
  assert.deepEqual(world.telegram.visible('7').map(({ text, media }) => [text, media.map(({ name }) => name)]), [['Here it comes, now.', []], ['', ['notes.txt']]]);
  assert.equal(world.telegram.log.some(({ params }) => JSON.stringify(params).includes('MEDIA')), false);
});
