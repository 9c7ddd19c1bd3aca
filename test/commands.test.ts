import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { calls, says } from '../src/agent/models/chat-simulator.ts';
import type { Terminal } from '../src/cli/environment.ts';
import { explainCommand } from '../src/cli/explain.ts';
import { commands } from '../src/commands/registry.ts';
import { listDenials } from '../src/store/accounts/accounts.ts';
import type { Delivery } from '../src/store/messages/outbox.ts';
import { findHome } from '../src/store/sessions/homes.ts';
import { endProcess } from './support/end-process.ts';
import { generatedBlocks, root } from './support/generated-docs.ts';
import { heldAnswer, inboxRows, outboxRows, peek, saidBy, turnRows } from './support/scenes.ts';
import { echo, newWorld, startInside, startOutside, until } from './support/whole.ts';
import type { Inside, World } from './support/whole.ts';

const quiet = { display: { busy_input_mode: 'queue', busy_ack_enabled: false, streaming: false, tool_progress_command: true } };

/** Says something and answers what the chat is told next. */
const ask = async (world: World, text: string): Promise<string> => {
  const before = world.shown().length;
  await world.say(text);
  await until(() => world.shown().length > before, `an answer to ${text}`);
  return world.shown()[before] ?? '';
};

/** Presses a button under the last message that has one. */
const press = async (world: World, label: string): Promise<void> => {
  const asked = world.telegram.visible('7').findLast((message) => message.choices.length > 0);
  const choice = asked?.choices.find((candidate) => candidate.label === label);
  assert.ok(asked !== undefined && choice !== undefined, `no button ${label}`);
  await world.telegram.press('7', asked.id, choice.data, '7');
};

/** What the command that was given last has been answered with; some answer again when they have found something out. */
const firstAnswer = async (inside: Inside, native: string): Promise<string> => {
  let text: string | undefined;
  await until(async () => {
    const row = await inside.store.read((db) =>
      db.q.selectFrom('outbox').innerJoin('inbox', 'inbox.id', 'outbox.inbox_id').select('outbox.payload').where('inbox.native_id', '=', native).orderBy('outbox.id').executeTakeFirst(),
    );
    text = row === undefined ? undefined : (JSON.parse(row.payload) as Delivery).message.text;
    return text !== undefined;
  }, `an answer to message ${native}`);
  return text ?? '';
};

describe('every command', { concurrency: true }, () => {
  test('says what it does, in one short line, and has a row in the docs', () => {
    const table = generatedBlocks().get('commands') ?? '';
    for (const { name, description } of commands) {
      assert.ok(description.length > 5 && description.length <= 100 && !/[.\n]$/.test(description), `/${name}: ${description}`);
      assert.ok(table.includes(`| \`/${name}`), name);
    }
    assert.ok(readFileSync(join(root, 'docs', 'commands.md'), 'utf8').includes('<!-- generated: commands -->'));
  });

  test('answers while a turn hangs; what must not run then says so', async () => {
    await using world = await newWorld({ ...quiet, approvals: { destructive_slash_confirm: false } });
    await using inside = await startInside(world);
    const slow = heldAnswer();
    world.model.next(slow.answer);
    await world.say('hello');
    await until(() => slow.held() === 1, 'a turn to run');
    // A new conversation leaves the turn behind, so that it comes at the end.
    const last = ['new', 'stop'];
    const order = [...commands.filter(({ name }) => !last.includes(name)), ...commands.filter(({ name }) => last.includes(name))];
    for (const command of order) {
      const answer = await firstAnswer(inside, await world.say(`/${command.name}${['queue', 'steer'].includes(command.name) ? ' something' : ''}`));
      assert.equal(/I am still working/.test(answer), command.whileRunning === 'refused', `/${command.name}: ${answer}`);
    }
    assert.equal((await turnRows(inside.store)).length, 1, 'none of them has started a turn');
  });
});

describe('commands end to end', { concurrency: true }, () => {
  test('/steer reaches the turn that runs, whatever a message does otherwise', async () => {
    await using world = await newWorld(quiet);
    await using inside = await startInside(world);
    const slow = heldAnswer(calls({ id: 'call-1', name: 'current_time', arguments: '{}' }));
    world.model.next(slow.answer);
    await world.say('look around');
    await until(() => slow.held() === 1, 'a turn to run');
    await world.say('later');
    await until(async () => (await inboxRows(inside.store)).length === 2, 'a message to wait');
    assert.equal(await ask(world, '/steer only to the left'), '⏩ Noted, I take it into account.');
    slow.open();
    await until(() => world.shown().length === 3, 'both answers');
    assert.deepEqual(world.shown().slice(1), ['re: only to the left', 're: later']);
    assert.deepEqual(await saidBy(inside.store, 'user'), ['look around', 'only to the left', 'later']);
    assert.deepEqual((await turnRows(inside.store)).map((turn) => turn.exit_reason), ['completed', 'completed']);
  });

  test('/sessions, /resume by number, /history and /commands answer in the chat', async () => {
    await using world = await newWorld(quiet);
    await using _inside = await startInside(world);
    await ask(world, 'about bananas');
    await ask(world, '/title Fruit');
    await ask(world, '/new -y');
    assert.match(await ask(world, '/sessions'), /^1\. \w+ Fruit \(2 messages\)/);
    assert.match(await ask(world, '/resume 1'), /Back in .* Fruit/);
    assert.equal(await ask(world, '/history'), 'You: about bananas\nMe: re: about bananas');
    await ask(world, '/new -y');
    assert.match(await ask(world, '/sessions bananas'), /“re: about bananas”|“about bananas”/);
    assert.match(await ask(world, '/commands'), /page 1 of \d/);
  });

  test('/save sends the conversation as a file', async () => {
    await using world = await newWorld(quiet);
    await using _inside = await startInside(world);
    await ask(world, 'remember me');
    await world.say('/save md talk');
    await until(() => world.telegram.visible('7').some((message) => message.text.startsWith('💾')), 'the file');
    const upload = world.telegram.log.find((call) => call.method === 'sendDocument');
    assert.ok(upload !== undefined);
    assert.equal(world.telegram.visible('7').at(-1)?.media[0]?.name, 'talk.md');
  });

  test('/model changes who answers the next message, and back', async () => {
    await using world = await newWorld(quiet);
    await using _inside = await startInside(world);
    assert.match(await ask(world, '/model sim-2'), /uses sim-2/);
    await ask(world, 'hello');
    assert.equal(world.model.requests.at(-1)?.body.model, 'sim-2');
    await ask(world, '/model default');
    await ask(world, 'hello again');
    assert.equal(world.model.requests.at(-1)?.body.model, 'sim-1');
    assert.match(await ask(world, '/footer on'), /a line with facts/);
    assert.match(await ask(world, '/verbose all'), /every tool call/);
  });

  test('/sethome, /platform and /debug answer, and what they keep outlives the process', async () => {
    await using world = await newWorld(quiet);
    {
      await using _inside = await startInside(world);
      assert.match(await ask(world, '/sethome'), /come here from now on/);
      assert.match(await ask(world, '/platform'), /• telegram as .*, connected/);
      assert.match(await ask(world, '/platform pause web'), /web rests/);
      await until(async () => /• web( as Hermes)?, paused/.test(await ask(world, '/platform')), 'the page to rest');
      assert.match(await ask(world, '/debug'), /Hermes gateway test, Node 26/);
    }
    await using inside = await startInside(world);
    assert.equal((await inside.store.read((db) => findHome(db, 'telegram')))?.target.chatId, '7');
    await until(async () => /• web( as Hermes)?, paused/.test(await ask(world, '/platform')), 'the page to rest still');
    assert.match(await ask(world, '/platform resume web'), /web connects again/);
    await until(async () => /• web as .*, connected/.test(await ask(world, '/platform')), 'the page to be connected');
  });

  test('the menu shows what exists there, and the owner’s own commands', async () => {
    await using world = await newWorld({ ...quiet, quick_commands: { 'deploy-all': { type: 'exec', command: 'true', description: 'Deploy everything' } } });
    await using _inside = await startInside(world);
    await until(() => world.telegram.commands().length > 0, 'the menu');
    const menu = world.telegram.commands() as readonly { command: string; description: string }[];
    assert.equal(menu[0]?.command, 'new');
    assert.deepEqual(menu.at(-1), { command: 'deploy_all', description: 'Deploy everything' });
  });
});

describe('what a command does afterwards', { concurrency: true }, () => {
  const shell = (command: string) => ({ ...quiet, quick_commands: { work: { type: 'exec', command } } });

  test('holds up neither other commands nor the conversation, and is answered once', async () => {
    await using world = await newWorld();
    const gate = join(world.home, 'go');
    await world.configure(shell(`until [ -e ${gate} ]; do sleep 0.02; done; echo finished`));
    await using inside = await startInside(world);
    await world.say('/work');
    await until(async () => (await inside.store.read((db) => db.q.selectFrom('command_work').selectAll().execute())).length === 1, 'the work to begin');
    assert.equal(await ask(world, 'hello'), 're: hello');
    assert.match(await ask(world, '/status'), /^Session/);
    await writeFile(gate, '');
    await until(() => world.shown().length === 3, 'the answer of the command');
    assert.equal(world.shown()[2], 'finished');
    assert.deepEqual(await inside.store.read((db) => db.q.selectFrom('command_work').selectAll().execute()), []);
  });

  test('that is cut off by the end of the process is told once after the next start, and not done again', async () => {
    await using world = await newWorld();
    const pids = join(world.home, 'pids');
    await world.configure(shell(`echo $$ >> ${pids}; exec sleep 1000`));
    const isCutOff = (text: string): boolean => text === '⚠️ /work was cut off when the gateway ended. It may or may not have had its effect; give it again if you still want it.';
    {
      await using outside = await startOutside(world);
      await world.say('/work');
      await until(() => readFile(pids, 'utf8').then((text) => text.trim() !== '', () => false), 'the work to begin');
      await outside.kill();
    }
    endProcess(Number(await readFile(pids, 'utf8')));
    for (let start = 1; start <= 2; start += 1) {
      await using _inside = await startInside(world);
      await until(() => world.shown().some(isCutOff), 'a word about it');
      assert.equal(await ask(world, `start ${start}`), `re: start ${start}`);
    }
    assert.equal(world.shown().filter(isCutOff).length, 1);
    assert.equal((await readFile(pids, 'utf8')).trim().split('\n').length, 1);
  });

  test('ends with an orderly shutdown as well, and leaves no process behind', async () => {
    await using world = await newWorld();
    const pid = join(world.home, 'pid');
    await world.configure(shell(`echo $$ > ${pid}; sleep 1000`));
    {
      await using inside = await startInside(world);
      await world.say('/work');
      await until(() => readFile(pid, 'utf8').then((text) => text.trim() !== '', () => false), 'the work to begin');
      await inside.stop();
    }
    assert.throws(() => process.kill(Number(readFileSync(pid, 'utf8')), 0), /ESRCH/);
    await using _inside = await startInside(world);
    await until(() => world.shown().length === 1, 'a word about it');
    assert.match(world.shown()[0] ?? '', /was cut off/);
  });
});

describe('a command that would lose something', { concurrency: true }, () => {
  test('asks first, and a yes by button carries it out once', async () => {
    await using world = await newWorld(quiet);
    await using inside = await startInside(world);
    await ask(world, 'hello');
    assert.match(await ask(world, '/new Fresh'), /^Start a new conversation\?/);
    assert.equal(await ask(world, 'hello again'), 're: hello again', 'nothing has happened yet');
    await press(world, 'Yes');
    await until(() => world.shown().some((text) => text.startsWith('✨ New conversation')), 'the new conversation');
    assert.equal(await ask(world, '/title'), 'This conversation is called “Fresh”.');
    assert.equal((await outboxRows(inside.store)).filter((row) => row.payload.includes('✨ New conversation')).length, 1);
    assert.deepEqual((await inside.store.read((db) => db.q.selectFrom('questions').select('state').execute())).map(({ state }) => state), ['used']);
  });

  test('does nothing after a no, by word', async () => {
    await using world = await newWorld(quiet);
    await using _inside = await startInside(world);
    await ask(world, 'hello');
    await ask(world, '/new');
    await world.say('no');
    await until(() => world.shown().some((text) => text.includes('➜ Cancel')), 'the question to be settled');
    assert.match(await ask(world, '/history'), /hello/);
    assert.ok(!world.shown().some((text) => text.startsWith('✨')));
  });

  test('never asks again once an admin has said so, and the configuration says why', async () => {
    await using world = await newWorld(quiet);
    await using _outside = await startOutside(world);
    await ask(world, 'hello');
    await ask(world, '/new');
    await press(world, 'Yes, never ask again');
    await until(() => world.shown().some((text) => text.startsWith('✨ New conversation')), 'the new conversation');
    await until(async () => /destructive_slash_confirm["']?: false/.test(await readFile(join(world.home, 'config.yaml'), 'utf8')), 'the setting to be written');
    await ask(world, 'hello');
    await until(async () => (await ask(world, '/new')).startsWith('✨'), 'the setting to be taken over');
  });

  test('is still asked about after a restart of the process', async () => {
    await using world = await newWorld(quiet);
    {
      await using _inside = await startInside(world);
      await ask(world, 'hello');
      await ask(world, '/new');
    }
    await using _inside = await startInside(world);
    await press(world, 'Yes');
    await until(() => world.shown().some((text) => text.startsWith('✨ New conversation')), 'the new conversation');
  });
});

describe('a restart', { concurrency: true }, () => {
  test('that an admin asks for in plain words is confirmed, carried out, and reported once in that chat', { skip: process.platform === 'win32' && 'a process cannot take its own place there' }, async () => {
    await using world = await newWorld(quiet);
    await using outside = await startOutside(world);
    await ask(world, 'hello');
    assert.match(await ask(world, 'Please restart the gateway!'), /^Restart the gateway\?/);
    await press(world, 'Yes');
    await until(() => outside.output().split('"gateway.started"').length === 3, 'the second start');
    await until(() => world.shown().some((text) => text.startsWith('✅ I am back')), 'the report');
    assert.ok(world.shown().some((text) => text.startsWith('🔄 Restarting.')));
    assert.equal(await ask(world, 'hello again'), 're: hello again');
    assert.equal(world.shown().filter((text) => text.startsWith('✅ I am back')).length, 1);
    assert.equal(await outside.stop(), 0);
  });

  test('under a service manager leaves with 75', async () => {
    await using world = await newWorld({ ...quiet, approvals: { destructive_slash_confirm: false } });
    await using outside = await startOutside(world, { HERMES_GATEWAY_EXTERNAL_SUPERVISOR: '1' });
    await world.say('/restart');
    await until(() => outside.child.exitCode !== null, 'the process to end');
    assert.equal(outside.child.exitCode, 75);
    assert.equal((await peek(world, (store) => store.read((db) => db.q.selectFrom('restart_marks').selectAll().execute()))).length, 1);
  });

  test('is not offered where nobody would start the gateway again', async () => {
    await using world = await newWorld(quiet);
    await using _inside = await startInside(world);
    assert.match(await ask(world, '/restart'), /Nobody would start this gateway again/);
  });
});

/** What `hermes explain` says about a message of number 55 in the group. */
const explained = async (world: World, ...flags: readonly string[]): Promise<string> => {
  let printed = '';
  const terminal: Terminal = { env: world.env, version: 'test', write: (text) => void (printed += text), writeError: () => undefined };
  await explainCommand(terminal).parseAsync(['--platform', 'telegram', '--chat', '-400', '--type', 'group', '--user', '55', ...flags], { from: 'user' });
  return printed;
};

test('bots that answer each other are left alone after a while, people are not', async () => {
  await using world = await newWorld();
  await world.configure({ ...quiet, bot_loop_guard: { max_messages: 3 }, platforms: { telegram: { ...world.telegram.options, allowed_users: ['7', '55'], allow_bots: 'all' } } });
  await using inside = await startInside(world);
  world.model.otherwise(says('pong'));
  const chat = { id: -400, type: 'supergroup', title: 'Bots' };
  const botSays = (id: number) => world.telegram.deliver({ message: { message_id: id, from: { id: 55, is_bot: true, first_name: 'Bot' }, chat, date: Math.floor(Date.now() / 1000), text: `ping ${id}` } });
  for (let id = 9001; id <= 9005; id += 1) botSays(id);
  await until(async () => (await inside.store.read((db) => listDenials(db, 10))).some((denial) => denial.count === 2), 'two that are not heard');
  await until(() => world.shown('-400').length === 3, 'three answers');
  const [denial] = await inside.store.read((db) => listDenials(db, 10));
  assert.deepEqual([denial?.userId, denial?.reason], ['55', 'denied by bot loop guard']);
  assert.equal(world.model.requests.length, 3);
  assert.match(await explained(world, '--bot'), /bot loop guard\s+silent for another \d+ s, after 3 messages of bots/);
  assert.doesNotMatch(await explained(world), /bot loop guard/);
  world.model.otherwise(echo);
  await world.say('still there?', { chatId: '-400', chatType: 'group' });
  await until(() => world.shown('-400').at(-1) === 're: still there?', 'an answer to a person');
});
