import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { calls, chunkOf, chunks, says, silence } from '../src/agent/models/chat-simulator.ts';
import { gatewayConfig, requireConfig } from '../src/cli/configuration/settings.ts';
import { traceMessage } from '../src/store/messages/trace.ts';
import { newWorld, startInside, until } from './support/whole.ts';
import type { Inside, World } from './support/whole.ts';

/** Writes a hook into the world's home, or into the folder of one of its agents, with time enough for a slow machine. */
const install = async (world: World, name: string, manifest: object, handler: { readonly file: string; readonly code: string }, home = world.home): Promise<void> => {
  const folder = join(home, 'hooks', name);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'HOOK.yaml'), JSON.stringify({ timeout: 10, ...manifest }));
  await writeFile(join(folder, handler.file), handler.code);
  if (handler.file === 'handler') await chmod(join(folder, handler.file), 0o755);
};

const ts = (body: string) => ({ file: 'handler.ts', code: `export const handle = (event: string, context: Record<string, string>) => { ${body} };` });

/** A program that notes every event in a file. */
const noting = (path: string) => ({ file: 'handler', code: `#!/bin/sh\ncat >> ${path}\n` });

interface Noted {
  readonly event: string;
  readonly context: Readonly<Record<string, unknown>>;
}

const noted = async (path: string): Promise<readonly Noted[]> =>
  (await readFile(path, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as Noted);

const ask = async (world: World, said: string): Promise<string> => {
  const before = world.shown().length;
  await world.say(said);
  await until(() => world.shown().length > before, `an answer to ${said}`);
  return world.shown()[before] ?? '';
};

/** What `hermes trace` says was decided about an event. */
const decisions = async (inside: Inside, nativeId: string): Promise<readonly string[]> => {
  const [message] = await inside.store.read((db) => traceMessage(db, nativeId));
  return (message?.arrival?.decisions ?? []).map(({ step, verdict }) => `${step}: ${verdict}`);
};

const reasonOf = async (inside: Inside, nativeId: string): Promise<string | null | undefined> => (await inside.store.read((db) => traceMessage(db, nativeId)))[0]?.arrival?.reason;

const settings = { display: { streaming: false, busy_ack_enabled: false } };

describe('hooks in a gateway', { concurrency: 4 }, () => {
  test('a command is denied, handled and rewritten, and the trace says by whom', async () => {
    await using world = await newWorld(settings);
    const rules = `switch (context.command) {
      case 'usage': return { decision: 'deny', message: 'No figures for you.' };
      case 'version': return { decision: 'deny' };
      case 'deploy': return { decision: 'handled', message: 'Deployed ' + context.raw_args };
      case 'whoami': return { decision: 'rewrite', command_name: 'title', raw_args: 'Renamed' };
    }`;
    await install(world, 'commands', { events: ['command:*'] }, ts(rules));
    await using inside = await startInside(world);
    await ask(world, 'hello');
    assert.equal(await ask(world, '/usage'), 'No figures for you.');
    assert.equal(await ask(world, '/version'), '⛔ /version is not allowed here.');
    assert.equal(await ask(world, '/deploy the thing'), 'Deployed the thing');
    assert.match(await ask(world, '/whoami'), /called “Renamed”/);
    assert.match(await ask(world, '/status'), /State/, 'others are as they were');
    const denied = await world.say('/usage');
    await until(async () => (await reasonOf(inside, denied)) !== undefined, 'it to be settled');
    assert.equal(await reasonOf(inside, denied), 'denied by the hook commands');
    assert.ok((await decisions(inside, denied)).includes('hook commands: command:usage: denied'));
  });

  test('an alias and the beginning of a name are the command that they stand for', async () => {
    await using world = await newWorld({ ...settings, quick_commands: { figures: { type: 'alias', target: '/usage' } } });
    await install(world, 'guard', { events: ['command:usage'] }, ts(`return { decision: 'deny', message: context.raw_command };`));
    await using _inside = await startInside(world);
    assert.equal(await ask(world, '/figures'), 'figures');
    assert.equal(await ask(world, '/usag'), 'usag');
  });

  test('a text is dropped with a reason, or replaced before anybody has seen it', async () => {
    await using world = await newWorld(settings);
    const rules = `if (context.text.includes('spam')) return { decision: 'drop', reason: 'it is spam' };
      if (context.text.includes('rude')) return { decision: 'drop', reason: 'it is rude', message: 'Please be kind.' };
      if (context.text.includes('teh')) return { decision: 'replace', text: context.text.replace('teh', 'the') };`;
    await install(world, 'words', { events: ['message:inbound'] }, ts(rules));
    await using inside = await startInside(world);
    const dropped = await world.say('buy spam');
    await until(async () => (await reasonOf(inside, dropped)) !== undefined, 'it to be stored');
    assert.equal(await reasonOf(inside, dropped), 'dropped by the hook words: it is spam');
    assert.deepEqual((await decisions(inside, dropped)).at(-1), 'hook words: message:inbound: dropped, it is spam');
    assert.equal(await ask(world, 'you rude thing'), 'Please be kind.');
    assert.equal(await ask(world, 'read teh book'), 're: read the book');
    assert.equal(world.model.requests.length, 1);
    assert.equal(await ask(world, '/title teh title'), 'This conversation is now called “the title”.', 'what comes with a command is text as well');
    await world.telegram.redeliver(dropped);
    assert.equal(await ask(world, 'fine'), 're: fine', 'a redelivery is not judged again');
  });

  test('what the agent says is replaced or withheld, in the chat and in its memory of it, and never shown before', async () => {
    await using world = await newWorld({ display: { streaming: true, show_reasoning: true, busy_ack_enabled: false } });
    const rules = `if (context.text.includes('nothing')) return { decision: 'drop', reason: 'empty talk' };
      if (context.text.includes('password')) return { decision: 'replace', text: context.text.replace('hunter2', '***'), reason: 'a password' };`;
    await install(world, 'leaks', { events: ['message:outbound'] }, ts(rules));
    await using inside = await startInside(world);
    world.model.next(chunks(chunkOf({ reasoning_content: 'hunter2 it is' }), chunkOf({ content: 'The password hunter2, ' }), chunkOf({ content: 'as you asked.' }), chunkOf({}, 'stop')));
    assert.equal(await ask(world, 'what is it?'), 'The password ***, as you asked.');
    assert.ok(!JSON.stringify(world.telegram.log).includes('hunter2'), 'not even for a moment');
    const rows = await inside.store.read((db) => db.q.selectFrom('messages').select('content').where('role', '=', 'assistant').execute());
    assert.deepEqual(rows.map(({ content }) => content), ['The password ***, as you asked.']);
    world.model.next(says('I have nothing to say.'));
    const silenced = await world.say('say nothing');
    await until(async () => (await reasonOf(inside, silenced)) === 'silent', 'the turn to end');
    assert.equal(world.shown().length, 1);
    assert.ok((await decisions(inside, silenced)).includes('hook leaks: message:outbound: dropped, empty talk'));
  });

  test('what is said between tools passes the same filter', async () => {
    await using world = await newWorld(settings);
    await install(world, 'loud', { events: ['message:outbound'] }, ts(`return { decision: 'replace', text: context.text.toUpperCase() };`));
    await using _inside = await startInside(world);
    const call = { index: 0, id: 'c1', type: 'function', function: { name: 'current_time', arguments: '{}' } };
    world.model.next(chunks(chunkOf({ content: 'I look at the clock.' }), chunkOf({ tool_calls: [call] }), chunkOf({}, 'tool_calls')), says('It is late.'));
    await world.say('what time is it?');
    await until(() => world.shown().length === 2, 'both texts');
    assert.deepEqual(world.shown(), ['I LOOK AT THE CLOCK.', 'IT IS LATE.']);
  });

  test('what is sent into another chat passes it, too, as something that is read there', async () => {
    await using world = await newWorld();
    await world.configure({ ...settings, platforms: { telegram: { ...world.telegram.options, allowed_users: ['7'], group_allowed_chats: ['-5'], home_channel: '-5' } } });
    await install(world, 'loud', { events: ['message:outbound'] }, ts(`return context.chat_id === '-5' ? { decision: 'replace', text: context.text.toUpperCase() } : undefined;`));
    await using _inside = await startInside(world);
    const call = { index: 0, id: 'c1', type: 'function', function: { name: 'send_message', arguments: JSON.stringify({ target: 'telegram', message: 'news' }) } };
    world.model.next(chunks(chunkOf({ tool_calls: [call] }), chunkOf({}, 'tool_calls')), says('told them'));
    assert.equal(await ask(world, 'tell them'), 'told them');
    assert.deepEqual(world.shown('-5'), ['NEWS']);
  });

  test('a hook chooses the agent, unless there is no such agent', async () => {
    await using world = await newWorld({ ...settings, agents: { support: {}, other: {} }, routes: [{ match: { platform: 'telegram' }, agent: 'other' }] });
    await install(world, 'who', { events: ['select_agent'] }, ts(`return context.text.includes('help') ? (context.route_match === 'other' ? 'support' : null) : context.text.includes('ghost') ? 'ghost' : null;`));
    await using inside = await startInside(world);
    const trace = async (said: string): Promise<string> => {
      const id = await world.say(said);
      await until(async () => (await decisions(inside, id)).some((line) => line.startsWith('session key')), 'it to be stored');
      return (await decisions(inside, id)).join('\n');
    };
    assert.match(await trace('help me'), /hook who: select_agent: says support\n[\s\S]*agent: support, by the hook who\nsession key: agent:support:telegram:dm:7/);
    assert.match(await trace('hello'), /agent: other, by routes\[0\]/);
    assert.match(await trace('a ghost'), /there is no agent ghost\n[\s\S]*agent: other, by routes\[0\]/);
  });

  test('strangers and their words never reach a hook', async () => {
    await using world = await newWorld(settings);
    const path = join(world.home, 'events');
    await install(world, 'all', { events: ['*'], kind: 'observe' }, noting(path));
    await install(world, 'guard', { events: ['message:*', 'select_agent'] }, noting(path));
    await using inside = await startInside(world);
    const stranger = await world.say('let me in', { chatId: '9', senderId: '9' });
    await until(async () => (await decisions(inside, stranger)).length > 0, 'the stranger to be denied');
    await ask(world, 'hello');
    await until(async () => (await noted(path)).some(({ event }) => event === 'agent:end'), 'the last event');
    assert.ok((await noted(path)).every(({ context }) => context['user_id'] !== '9' && context['chat_id'] !== '9'));
    assert.ok((await noted(path)).some(({ event, context }) => event === 'message:inbound' && context['user_id'] === '7'));
  });

  test('the life of a conversation is told in order, with the agent, and agents hear of their own only', async () => {
    await using world = await newWorld({ ...settings, agents: { support: {} }, routes: [{ match: { chat_id: '-5' }, agent: 'support' }] });
    const [all, own] = [join(world.home, 'all'), join(world.home, 'own')];
    await install(world, 'all', { events: ['gateway:*', 'session:*', 'agent:*', 'command:*'], kind: 'observe' }, noting(all));
    await install(world, 'own', { events: ['gateway:*', 'session:*', 'agent:*', 'message:*'], kind: 'observe' }, noting(own), join(world.home, 'profiles', 'support'));
    const inside = await startInside(world);
    world.model.next(calls({ id: 'c1', name: 'current_time', arguments: '{}' }), says('Late.'));
    assert.equal(await ask(world, 'what time is it?'), 'Late.');
    await ask(world, '/new -y');
    await world.say('and you?', { chatId: '-5', chatType: 'group', mention: true });
    await until(() => world.shown('-5').length === 1, 'the other agent');
    // At the end hooks have a few seconds for what they have not heard yet.
    await until(async () => (await noted(own)).some(({ event }) => event === 'agent:end') && (await noted(all)).filter(({ event }) => event === 'agent:end').length === 2, 'hooks to have heard of it');
    await inside.stop();
    const mine = (await noted(all)).filter(({ context }) => context['chat_id'] === '7');
    assert.deepEqual(mine.map(({ event }) => event), ['session:start', 'agent:start', 'agent:step', 'agent:end', 'command:new', 'session:end', 'session:reset', 'session:start']);
    const [started, begun, step, ended, command, over, reset, restarted] = mine.map(({ context }) => context);
    assert.equal(started?.['session_key'], 'agent:main:telegram:dm:7');
    assert.deepEqual([begun?.['message'], step?.['tool_names'], step?.['iteration'], ended?.['response'], ended?.['reason']], ['what time is it?', ['current_time'], 1, 'Late.', 'completed']);
    assert.deepEqual([command?.['raw_args'], command?.['decision'], over?.['session_id'], over?.['reason'], reset?.['old_session_id']], ['-y', 'allow', started?.['session_id'], 'new', started?.['session_id']]);
    assert.deepEqual([restarted?.['session_id'], restarted?.['parent_id']], [reset?.['session_id'], started?.['session_id']]);
    const everything = await noted(all);
    assert.deepEqual([everything[0]?.event, everything.at(-1)?.event], ['gateway:startup', 'gateway:shutdown']);
    const told = await noted(own);
    assert.deepEqual(told.map(({ event }) => event), ['gateway:startup', 'message:inbound', 'session:start', 'agent:start', 'message:outbound', 'agent:end', 'gateway:shutdown']);
    assert.ok(told.every(({ context }) => context['agent_id'] === 'support'));
  });

  test('hooks that hang, throw, flood or take all memory hold nobody up for long, and the gateway goes on', async () => {
    await using world = await newWorld(settings);
    await install(world, 'a-hangs', { events: ['message:inbound'], timeout: 0.2 }, ts('for (;;);'));
    await install(world, 'b-throws', { events: ['message:inbound'] }, ts(`throw new Error('broken');`));
    await install(world, 'c-floods', { events: ['agent:*'] }, { file: 'handler', code: '#!/bin/sh\nwhile :; do echo flood; echo flood >&2; done\n' });
    await install(world, 'd-sleeps', { events: ['agent:*'] }, { file: 'handler', code: '#!/bin/sh\nsleep 600\n' });
    await install(world, 'e-breaks', { events: ['agent:*'] }, ts(`setTimeout(() => { throw new Error('later'); }); void Promise.reject(new Error('stray')); process.exit(1);`));
    await install(world, 'f-nothing', { events: ['agent:*'] }, { file: 'handler.ts', code: 'export const other = 1;' });
    await using inside = await startInside(world);
    for (const said of ['one', 'two', 'three', 'four', 'five']) assert.equal(await ask(world, said), `re: ${said}`);
    const id = await world.say('six');
    await until(() => world.shown().at(-1) === 're: six', 'the answer');
    assert.deepEqual((await decisions(inside, id)).filter((line) => line.includes('it rests after 3 failures')).map((line) => line.split(':', 1)[0]), ['hook a-hangs', 'hook b-throws']);
  });

  test('a hook that may block does so when it cannot answer, and /stop is beyond its reach', async () => {
    await using world = await newWorld(settings);
    await using inside = await startInside(world);
    world.model.next(silence);
    await world.say('stuck');
    await until(() => world.model.requests.length === 1, 'the model to be asked');
    await install(world, 'guard', { events: ['message:inbound', 'command:*'], on_failure: 'block', timeout: 0.2 }, ts('for (;;);'));
    assert.match(await ask(world, '/reload-hooks'), /2 hooks: boot-md, guard/);
    const blocked = await world.say('hello?');
    await until(async () => (await reasonOf(inside, blocked)) !== undefined, 'it to be settled');
    assert.match((await reasonOf(inside, blocked)) ?? '', /dropped by the hook guard/);
    assert.match(await ask(world, '/stop'), /Stopped/);
  });

  test('messages of a chat keep their order however long a hook thinks about each', async () => {
    await using world = await newWorld({ ...settings, display: { ...settings.display, busy_input_mode: 'queue' } });
    await install(world, 'slow', { events: ['message:inbound'] }, { file: 'handler.ts', code: `export const handle = (_: string, { text }: { text: string }) => new Promise((resolve) => setTimeout(resolve, text === '1' ? 300 : 0, null));` });
    await using _inside = await startInside(world);
    await Promise.all(['1', '2', '3'].map((said) => world.say(said)));
    await until(() => world.shown().length === 3, 'all answers');
    assert.deepEqual(world.shown(), ['re: 1', 're: 2', 're: 3']);
  });

  test('events go to other programs, signed, as the settings say, and a change of the settings needs no restart', async () => {
    const taken: { readonly event: string; readonly signed: boolean; readonly body: string }[] = [];
    const secret = 'a secret of sixteen characters';
    const receiver = createServer((request, response) => {
      void text(request).then((body) => {
        const expected = createHmac('sha256', secret).update(`${String(request.headers['x-webhook-timestamp'])}.${body}`).digest('hex');
        taken.push({ event: String(request.headers['x-hermes-event']), signed: request.headers['x-webhook-signature-v2'] === expected, body });
        response.writeHead(204).end();
      });
    });
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    try {
      await using world = await newWorld(settings);
      const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/events`;
      await world.configure({ ...settings, webhooks_out: { ops: { url, secret, events: ['agent:end'] } } });
      await using inside = await startInside(world);
      await ask(world, 'the key is sk-simulated-model-key');
      await until(() => taken.length === 1, 'the event');
      assert.deepEqual([taken[0]?.event, taken[0]?.signed], ['agent:end', true]);
      assert.doesNotMatch(taken[0]?.body ?? '', /sk-simulated-model-key/, 'our own secrets stay here');
      await world.configure({ ...settings, webhooks_out: { ops: { url, secret, events: ['agent:start'] } } });
      await inside.gateway.configure(gatewayConfig(await requireConfig({ env: world.env, version: 'test', write: () => undefined, writeError: () => undefined })));
      await ask(world, 'again');
      await until(() => taken.length === 2, 'the next event');
      assert.equal(taken[1]?.event, 'agent:start');
    } finally {
      receiver.closeAllConnections();
      receiver.close();
    }
  });

  test('what stands in BOOT.md is done at the start, and its result goes to the home channel unless there is nothing to say', async () => {
    await using world = await newWorld(settings);
    await world.configure({ ...settings, agents: { quiet: {} }, platforms: { telegram: { ...world.telegram.options, allowed_users: ['7'], home_channel: '7' } } });
    await writeFile(join(world.home, 'BOOT.md'), 'Say that the disk is nearly full.');
    await mkdir(join(world.home, 'profiles', 'quiet'), { recursive: true });
    await writeFile(join(world.home, 'profiles', 'quiet', 'BOOT.md'), 'Nothing to do here.');
    world.model.otherwise((response, request) => says(JSON.stringify(request.body.messages).includes('nearly full') ? 'The disk is nearly full.' : '[SILENT]')(response, request));
    await using _inside = await startInside(world);
    await until(() => world.model.requests.length === 2 && world.shown().length === 1, 'both to be done');
    assert.deepEqual(world.shown(), ['The disk is nearly full.']);
    assert.match(JSON.stringify(world.model.requests.map(({ body }) => body.messages)), /BOOT\.md[\s\S]*Nothing to do here/);
  });
});
