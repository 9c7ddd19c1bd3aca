import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { calls, chunkOf, chunks, says, usageChunk } from '../src/agent/models/chat-simulator.ts';
import { program } from '../src/cli/program.ts';
import { heldAnswer, peek } from './support/scenes.ts';
import { lastUserText, newWorld, startInside, startOutside, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

const plainly = { display: { streaming: false, tool_progress: 'off' }, cron: { timezone: 'Europe/Berlin' } };

/** A command line, as somebody types it beside the gateway. */
const hermes = async (world: World, ...args: readonly string[]): Promise<string> => {
  let out = '';
  await program({ env: world.env, version: 'test', write: (text) => void (out += text), writeError: (text) => void (out += text) }).parseAsync(['node', 'hermes', ...args]);
  return out;
};

const idOf = (text: string): string => /[0-9a-f]{12}/.exec(text)?.[0] ?? assert.fail(`no job in ${text}`);

const withHome = (world: World) => ({ ...plainly, platforms: { telegram: { ...world.telegram.options, allowed_users: ['7'], home_channel: { chat_id: '42' } } } });

/** What jobs have asked the model, oldest first. */
const questions = (world: World): readonly string[] => world.model.requests.map(({ body }) => lastUserText(body)).filter((text) => text.startsWith('[Scheduled job'));

const addInChat = async (world: World, text: string): Promise<string> => {
  await world.say(`/cron add ${text}`);
  await until(() => /is scheduled/.test(world.shown().at(-1) ?? ''), 'the job to be made');
  return idOf(world.shown().at(-1) ?? '');
};

test('a job is made in a chat, runs, and its answer comes back there', async () => {
  await using world = await newWorld(plainly);
  await using _inside = await startInside(world);
  const id = await addInChat(world, 'every 2h What is new?');
  world.model.next(says('Nothing but **rain**.'));
  await world.say(`/cron run ${id}`);
  await until(() => world.shown().some((text) => /rain/.test(text)), 'the result');
  assert.match(world.shown().at(-1) ?? '', /^⏰ What is new\?\n\nNothing but rain\.\n\nFrom the scheduled job/);
  assert.match(questions(world)[0] ?? '', /^\[Scheduled job "What is new\?".*It is sent to telegram:7 by itself/);
  await until(async () => /manual +ok, delivered/.test(await hermes(world, 'cron', 'runs')), 'the delivery to be known');
  await world.say(`/cron show ${id}`);
  await until(() => /Last .*: ok, delivered/.test(world.shown().at(-1) ?? ''), 'how it went');
  await world.say('hello');
  await until(() => world.shown().includes('re: hello'), 'an answer');
  assert.doesNotMatch(JSON.stringify(world.model.requests.at(-1)?.body.messages), /Nothing but/, 'the conversation here knows nothing of it');
});

test('a job that is due runs by itself', async () => {
  await using world = await newWorld(plainly);
  await using inside = await startInside(world);
  const id = await addInChat(world, 'every 2h What is new?');
  world.model.next(says('Something.'));
  await inside.store.write(async (tx) => {
    await tx.q.updateTable('cron_jobs').set({ next_at: tx.now }).where('id', '=', id).execute();
    tx.notify('cron', `job:${id}`);
  });
  await until(() => world.shown().some((text) => /Something/.test(text)), 'the result');
});

test('what is scheduled beside the gateway runs in it, with the model, the script and the target of the job', async () => {
  await using world = await newWorld();
  await world.configure(withHome(world));
  await mkdir(join(world.home, 'scripts'));
  await writeFile(join(world.home, 'scripts', 'count.mjs'), 'console.log("3 mails", Object.keys(process.env).some((name) => /KEY|TOKEN/.test(name)));');
  await using _inside = await startInside(world);
  const added = await hermes(world, 'cron', 'add', '0 9 * * *', 'How many mails?', '--script', 'count.mjs', '--deliver', 'telegram', '--model', 'other-model');
  await hermes(world, 'cron', 'run', idOf(added));
  await until(() => world.shown('42').length === 1, 'the result in the home channel');
  assert.match(questions(world)[0] ?? '', /3 mails false/);
  assert.equal(world.model.requests.at(-1)?.body.model, 'other-model');
  await until(async () => /manual +ok, delivered/.test(await hermes(world, 'cron', 'runs')), 'the delivery to be known');
});

test('a job with a folder works there with its tools, knows its project, and does not run once the folder is gone', async () => {
  await using world = await newWorld();
  const project = await realpath(await mkdtemp(join(tmpdir(), 'hermes-project-')));
  await using _project = { [Symbol.asyncDispose]: () => rm(project, { recursive: true, force: true }) };
  await writeFile(join(project, 'AGENTS.md'), 'Every answer ends with a whale.');
  await writeFile(join(project, 'notes.txt'), 'Buy a net.');
  await world.configure(withHome(world));
  const add = ['cron', 'add', '0 9 * * *', 'How is the project?', '--deliver', 'telegram', '--workdir', project] as const;
  await assert.rejects(hermes(world, ...add), /is outside the folders that file tools may use.*files\.roots/);
  await world.configure({ ...withHome(world), files: { roots: [project] } });
  const id = idOf(await hermes(world, ...add));
  assert.match(await hermes(world, 'cron', 'show', id), new RegExp(`Works in +${project}\\n`));
  await using _inside = await startInside(world);
  const tool = (name: string, args: Readonly<Record<string, string>>) => calls({ id: `call-${name}-${Object.values(args)[0]}`, name, arguments: JSON.stringify(args) });
  world.model.next(tool('terminal', { command: 'mkdir sub && cd sub && rmdir ../sub' }), tool('terminal', { command: 'pwd' }), tool('read_file', { path: 'notes.txt' }), says(`A net is missing. MEDIA:${project}/notes.txt`));
  await hermes(world, 'cron', 'run', id);
  await until(() => world.shown('42').some((text) => /A net is missing/.test(text)), 'the result');
  const { messages } = world.model.requests.at(-1)?.body ?? assert.fail('nobody was asked');
  assert.match(String(messages[0]?.['content']), /Every answer ends with a whale/);
  const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content));
  assert.equal((JSON.parse(results[1] ?? '{}') as { output?: string }).output?.trim(), project, 'a folder that is gone leads back to where the job began');
  assert.match(results[2] ?? '', /Buy a net/);
  assert.doesNotMatch(world.shown('42').join(), /MEDIA|could not be attached/, 'its files can be sent');

  await rm(project, { recursive: true });
  await hermes(world, 'cron', 'run', id);
  await until(() => world.shown('42').some((text) => /failed: The folder .* does not exist/.test(text)), 'the failure');
  assert.equal(questions(world).length, 4, 'nobody is asked');
});

test('what is said on the way stays with the job, and only its last answer is delivered', async () => {
  await using world = await newWorld(plainly);
  await using _inside = await startInside(world);
  const id = await addInChat(world, 'every 2h What time is it?');
  const call = { tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'current_time', arguments: '{}' } }] };
  world.model.next(chunks(chunkOf({ role: 'assistant', content: 'Let me look.' }), chunkOf(call), chunkOf({}, 'tool_calls'), usageChunk), says('It is late.'));
  await world.say(`/cron run ${id}`);
  await until(() => world.shown().some((text) => /It is late/.test(text)), 'the result');
  assert.equal(world.shown().some((text) => /Let me look/.test(text)), false);
});

test('a gateway that is killed while a job runs goes on with it after the next start, once', async () => {
  await using world = await newWorld();
  await world.configure(withHome(world));
  const hold = heldAnswer(says('done at last'));
  world.model.otherwise(hold.answer);
  const added = await hermes(world, 'cron', 'add', 'every 1h', 'Work', '--deliver', 'telegram');
  {
    await using first = await startOutside(world);
    await hermes(world, 'cron', 'run', idOf(added));
    await until(() => hold.held() === 1, 'the agent to be at work');
    await first.kill();
  }
  hold.open();
  await using _second = await startOutside(world);
  await until(() => world.shown('42').length > 0, 'the result');
  const states = () => peek(world, (store) => store.read((db) => db.q.selectFrom('cron_runs').select('state').execute()));
  await until(async () => (await states()).every(({ state }) => state === 'ok'), 'the run to end');
  assert.deepEqual((await states()).length, 1);
  assert.equal(world.shown('42').length, 1);
});
