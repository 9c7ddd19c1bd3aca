import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { program } from '../src/cli/program.ts';
import { says } from '../src/agent/models/chat-simulator.ts';
import type { Answer, SimulatedRequest } from '../src/agent/models/chat-simulator.ts';
import { startDiscordSimulator } from '../src/platforms/discord/simulator.ts';
import type { ChatsAnswer } from '../src/platforms/web/wire.ts';
import { listSessions } from '../src/store/sessions/sessions.ts';
import { heldAnswer, peek } from './support/scenes.ts';
import { echo, newWorld, startInside, startOutside, until } from './support/whole.ts';
import type { Inside, World } from './support/whole.ts';

const settings = { display: { streaming: false, busy_ack_enabled: false }, auxiliary: { title_generation: { model: 'small' } } };

const isForTitle = ({ body }: SimulatedRequest): boolean => body['model'] === 'small';

/** Answers people by an echo, and finds titles as told. */
const finding =
  (title: Answer): Answer =>
  (response, request) =>
    isForTitle(request) ? title(response, request) : echo(response, request);

const asked = (world: World): number => world.model.requests.filter(isForTitle).length;

const titles = async (inside: Inside): Promise<readonly (string | null)[]> => (await inside.store.read((db) => listSessions(db, { limit: 10 }))).map(({ title }) => title);

const hermes = async (world: World, ...args: string[]): Promise<string> => {
  let out = '';
  const write = (text: string): void => void (out += text);
  await program({ env: world.env, version: 'test', write, writeError: write }).parseAsync(['node', 'hermes', ...args]);
  return out;
};

describe('titles that conversations get by themselves', { concurrency: true }, () => {
  test('a title is found beside the conversation, which waits for nothing, and is shown wherever conversations are listed', async () => {
    await using world = await newWorld(settings);
    const held = heldAnswer(says('Trip to Rome'));
    world.model.otherwise(finding(held.answer));
    await using inside = await startInside(world);
    await world.say('Plan a trip to Rome');
    await until(() => held.held() === 1, 'a title to be looked for');
    await world.say('With two children');
    await until(() => world.shown().length === 2, 'the next answer');
    assert.deepEqual(await titles(inside), [null]);
    held.open();
    await until(async () => (await titles(inside))[0] === 'Trip to Rome', 'the title');
    await world.say('And a dog');
    await until(() => world.shown().length === 3, 'one more answer');
    assert.equal(asked(world), 1);
    await world.say('/new');
    await until(() => world.shown().some((text) => text.includes('Start a new conversation?')), 'the question');
    await world.say('yes');
    await until(() => world.shown().some((text) => text.includes('New conversation')), 'a new conversation');
    await world.say('/sessions');
    await until(() => world.shown().some((text) => /1\. .*Trip to Rome/.test(text)), 'the list');
    assert.match(await hermes(world, 'sessions', 'list'), /TITLE[^]*Trip to Rome/);
    const lines = inside.logLines.filter((line) => line.includes('title.done'));
    assert.ok(lines.length >= 1 && lines.every((line) => !line.includes('Rome')), 'what it is about stays out of the log');
  });

  test('a gateway that is killed while a title is looked for finds it after the next start; one that a person gives stays', async () => {
    await using world = await newWorld(settings);
    world.model.otherwise(finding(() => undefined));
    {
      await using outside = await startOutside(world);
      await world.say('Plan a trip to Rome');
      await until(() => asked(world) === 1 && world.shown().length === 1, 'a title to be looked for');
      await outside.kill();
    }
    assert.equal((await peek(world, (store) => store.read((db) => listSessions(db, { limit: 1 }))))[0]?.title, null);
    const held = heldAnswer(says('Something else'));
    world.model.otherwise(finding(says('Trip to Rome')));
    await using inside = await startInside(world);
    await until(async () => (await titles(inside))[0] === 'Trip to Rome', 'the title');
    assert.equal(asked(world), 2);
    world.model.otherwise(finding(held.answer));
    await world.say('A word to a friend', { chatId: '-100', chatType: 'group', senderId: '7' });
    await until(() => held.held() === 1, 'a title to be looked for');
    await world.say('/title Mine', { chatId: '-100', chatType: 'group', senderId: '7' });
    await until(() => world.shown('-100').some((text) => text.includes('Mine')), 'the title to be given');
    held.open();
    await until(async () => (await inside.store.read((db) => db.q.selectFrom('title_work').select('session_id').execute())).length === 0, 'the end');
    assert.deepEqual((await titles(inside)).toSorted(), ['Mine', 'Trip to Rome']);
  });

  test('the page lists its chats by these titles', async () => {
    await using world = await newWorld(settings);
    world.model.otherwise(finding(says('Trip to Rome')));
    await using inside = await startInside(world);
    await inside.gateway.untilReceiving('web', AbortSignal.timeout(60_000));
    const page = inside.gateway.webhook('web')?.routes;
    assert.ok(page !== undefined);
    const list = async (): Promise<readonly string[]> => ((await (await page.request('/chats')).json()) as ChatsAnswer).chats.map(({ title }) => title);
    const sent = await page.request('/chats/chat-one/messages', { method: 'POST', body: JSON.stringify({ id: 'message-1', text: 'Plan a trip', files: [] }) });
    assert.equal(sent.status, 200);
    await until(async () => (await list())[0] === 'Trip to Rome', 'the title');
  });

  test('where they are switched off nobody is asked', async () => {
    await using world = await newWorld({ ...settings, auxiliary: { title_generation: { model: 'small', enabled: false } } });
    await using inside = await startInside(world);
    await world.say('Plan a trip to Rome');
    await until(() => world.shown().length === 1, 'the answer');
    await until(async () => (await inside.store.read((db) => db.q.selectFrom('turns').select('state').execute())).every(({ state }) => state === 'done'), 'the end of the turn');
    assert.deepEqual([await inside.store.read((db) => db.q.selectFrom('title_work').select('session_id').execute()), await titles(inside), asked(world)], [[], [null], 0]);
  });

  test('a thread that the gateway has opened is called like its conversation', async () => {
    await using discord = await startDiscordSimulator();
    await using world = await newWorld({ ...settings, platforms: { discord: { ...discord.options, allowed_users: [discord.ids.person], auto_thread: true } } });
    world.model.otherwise(finding(says('Trip to Rome')));
    await using _inside = await startInside(world);
    const asked = await discord.say({ chatId: discord.ids.text, chatType: 'group', senderId: discord.ids.person, text: 'Where to go in spring?', mention: true });
    await until(() => discord.visible(asked).length === 1, 'an answer in a thread');
    await until(() => discord.threads().some(({ id, name }) => id === asked && name === 'Trip to Rome'), 'its name');
  });
});
