import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { calls, says } from '../src/agent/models/chat-simulator.ts';
import type { SimulatedRequest } from '../src/agent/models/chat-simulator.ts';
import { resultsFolder } from '../src/agent/tools/spill-result.ts';
import { listSessions } from '../src/store/sessions.ts';
import { indexNewMessages } from '../src/store/search.ts';
import type { Store } from '../src/store/store.ts';
import { heldAnswer, inboxRows, peek } from './support/scenes.ts';
import { lastUserText, newWorld, startInside, startOutside, until } from './support/whole.ts';
import type { Outside, World } from './support/whole.ts';

const group = '-1005';
const otherGroup = '-1006';

type Json = Readonly<Record<string, unknown>>;

const call = (id: string, name: string, args: Json) => ({ id, name, arguments: JSON.stringify(args) });

/** A telegram in which user 7 speaks in a direct chat and in a group. */
const telegram = (world: World): Json => ({ ...world.telegram.options, allowed_users: ['7', '8'], group_allowed_chats: [group, otherGroup] });

const inGroup = (world: World, text: string, chatId = group): Promise<string> => world.telegram.say({ chatId, chatType: 'group', senderId: '7', text, mention: true });

const toSupport = { match: { platform: 'telegram', chat_id: group }, agent: 'support' };

const put = async (path: string, text: string): Promise<void> => {
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, text, { mode: 0o600 });
};

const asked = (world: World, model: string): readonly SimulatedRequest[] => world.model.requests.filter(({ body }) => body['model'] === model);

const systemOf = ({ body }: SimulatedRequest): string => JSON.stringify(body.messages.filter(({ role }) => role === 'system'));

const saidIn = ({ body }: SimulatedRequest): readonly string[] => body.messages.filter(({ role }) => role === 'user').map(({ content }) => String(content));

const answerIn = (world: World, chatId: string, text: string): Promise<void> => until(() => world.shown(chatId).includes(text), `${JSON.stringify(text)} in ${chatId}`);

const sessionOf = async (store: Store, agent: string): Promise<string> => (await store.read((db) => listSessions(db, { limit: 1, agent })))[0]?.id ?? assert.fail(`${agent} has no conversation`);

describe('several agents', { concurrency: true }, () => {
  test('two agents answer in two chats, each as who it is, with its own model, key, memory and skills', async () => {
    await using world = await newWorld();
    await world.configure({ platforms: { telegram: telegram(world) }, agents: { support: { model: 'sim-support', api_key_env: 'SUPPORT_KEY' } }, routes: [toSupport] });
    const own = join(world.home, 'profiles', 'support');
    await put(join(own, '.env'), 'SUPPORT_KEY=sk-the-key-of-support\n');
    for (const [folder, name] of [[world.home, 'main'], [own, 'support']] as const) {
      await put(join(folder, 'SOUL.md'), `I am the soul of ${name}.`);
      await put(join(folder, 'memories', 'MEMORY.md'), `What ${name} remembers.`);
      await put(join(folder, 'skills', `${name}-skill`, 'SKILL.md'), `---\nname: ${name}-skill\ndescription: known to ${name}\n---\nSteps.`);
    }
    await using inside = await startInside(world);
    await world.say('hello main');
    await inGroup(world, 'hello support');
    await answerIn(world, '7', 're: hello main');
    await answerIn(world, group, 're: hello support');
    for (const [name, other, model, key] of [['main', 'support', 'sim-1', 'sk-simulated-model-key'], ['support', 'main', 'sim-support', 'sk-the-key-of-support']] as const) {
      const [request, ...more] = asked(world, model);
      assert.ok(request !== undefined && more.length === 0);
      for (const mark of [`soul of ${name}`, `What ${name} remembers`, `${name}-skill`]) assert.ok(systemOf(request).includes(mark), mark);
      for (const mark of [`soul of ${other}`, `What ${other} remembers`, `${other}-skill`]) assert.ok(!systemOf(request).includes(mark), mark);
      assert.equal(request.headers.authorization, `Bearer ${key}`);
      assert.deepEqual(saidIn(request), [`hello ${name}`]);
    }
    const keys = await inside.store.read((db) => db.q.selectFrom('bindings').select('session_key').orderBy('session_key').execute());
    assert.deepEqual(keys.map((row) => row.session_key), ['agent:main:telegram:dm:7', `agent:support:telegram:group:${group}:7`]);
  });

  test('a key that an agent names and does not have is replaced by nobody else’s, and one that is written is used with the next turn', async () => {
    await using world = await newWorld();
    await world.configure({ platforms: { telegram: telegram(world) }, agents: { support: { model: 'sim-support', api_key_env: 'SUPPORT_KEY' }, other: {} }, routes: [toSupport] });
    await put(join(world.home, '.env'), 'SUPPORT_KEY=sk-a-key-in-the-file-of-main\n');
    await put(join(world.home, 'profiles', 'other', '.env'), 'SUPPORT_KEY=sk-a-key-of-another-agent\n');
    await using _inside = await startInside(world);
    await inGroup(world, 'one');
    await answerIn(world, group, 're: one');
    assert.equal(asked(world, 'sim-support').at(-1)?.headers.authorization, undefined);
    await put(join(world.home, 'profiles', 'support', '.env'), 'SUPPORT_KEY=sk-a-key-of-its-own\n');
    await inGroup(world, 'two');
    await answerIn(world, group, 're: two');
    assert.equal(asked(world, 'sim-support').at(-1)?.headers.authorization, 'Bearer sk-a-key-of-its-own');
  });

  test('nothing of one agent can be reached from the turns of another, by any tool or program', async () => {
    await using world = await newWorld();
    const alpha = join(world.home, 'profiles', 'alpha');
    await world.configure({
      platforms: { telegram: telegram(world) },
      agents: { alpha: { model: 'sim-alpha' }, support: { model: 'sim-support' } },
      routes: [toSupport, { match: { chat_id: otherGroup }, agent: 'alpha' }],
      terminal: { env_passthrough: ['ALPHA_TOKEN', 'SUPPORT_TOKEN'] },
      memory: { user_profile_enabled: false },
    });
    await put(join(alpha, '.env'), 'ALPHA_TOKEN=alpha-secret-mark\n');
    await put(join(world.home, 'profiles', 'support', '.env'), 'SUPPORT_TOKEN=support-secret-mark\n');
    await put(join(alpha, 'SOUL.md'), 'alpha-soul-mark');
    await put(join(alpha, 'memories', 'MEMORY.md'), 'alpha-memory-mark');
    await put(join(alpha, 'skills', 'alpha-skill', 'SKILL.md'), '---\nname: alpha-skill\ndescription: alpha-skill-mark\n---\nalpha-steps-mark');
    await put(join(world.home, 'SOUL.md'), 'main-soul-mark');
    await using inside = await startInside(world);

    // The same person speaks with all of them.
    const toAlpha = (text: string): Promise<string> => inGroup(world, text, otherGroup);
    world.model.next(calls(call('a1', 'terminal', { command: 'echo alpha-process-mark; sleep 30', background: true }), call('a2', 'terminal', { command: 'test -n "$ALPHA_TOKEN" && test -z "$SUPPORT_TOKEN" && echo own-token-only' })), says('alpha is at work'));
    await toAlpha('alpha-talk-mark');
    await answerIn(world, otherGroup, 'alpha is at work');
    const results = (model: string): readonly string[] => asked(world, model).at(-1)?.body.messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content)) ?? [];
    assert.match(results('sim-alpha')[1] ?? '', /own-token-only/);
    const processId = /proc_[0-9a-f]+/.exec(results('sim-alpha')[0] ?? '')?.[0] ?? assert.fail('no process was started');
    const alphaSession = await sessionOf(inside.store, 'alpha');
    const spilled = join(resultsFolder(world.home, alphaSession), 'r.txt');
    const sent = join(world.home, 'media', 'sessions', alphaSession, 'photo.txt');
    await put(spilled, 'alpha-result-mark');
    await put(sent, 'alpha-media-mark');
    await indexNewMessages(inside.store);

    const attempts = (workspace: string) => [
      ...[join(alpha, '.env'), join(alpha, 'SOUL.md'), join(alpha, 'memories', 'MEMORY.md'), join(workspace, '..', '..', 'alpha', 'SOUL.md'), join(alpha, 'skills', 'alpha-skill', 'SKILL.md'), spilled, sent, join(world.home, 'gateway.db'), join(world.home, 'processes', `${processId}.log`)].map((path, i) => call(`r${i}`, 'read_file', { path })),
      call('s1', 'search_files', { pattern: 'alpha-', path: world.home, target: 'content' }),
      call('s2', 'search_files', { pattern: 'alpha-', path: alpha, target: 'content' }),
      call('w1', 'write_file', { path: join(alpha, 'memories', 'MEMORY.md'), content: 'overwritten' }),
      call('t1', 'terminal', { command: 'env' }),
      call('t2', 'terminal', { command: `cat ${alpha}/SOUL.md ${alpha}/memories/MEMORY.md` }),
      call('t3', 'terminal', { command: `cd ${alpha} && cat SOUL.md` }),
      call('t4', 'terminal', { command: 'hermes sessions list' }),
      call('t5', 'terminal', { command: `cat ${world.home}/profiles/*/SOUL.md` }),
      call('p1', 'process', { action: 'list' }),
      call('p2', 'process', { action: 'log', session_id: processId }),
      call('p3', 'process', { action: 'kill', session_id: processId }),
      call('h1', 'session_search', { query: 'alpha-talk-mark' }),
      call('h2', 'session_search', { session_id: alphaSession }),
      call('k1', 'skills_list', {}),
      call('k2', 'skill_view', { name: 'alpha-skill' }),
    ];
    for (const [agent, model, say, chatId, workspace] of [
      ['support', 'sim-support', (text: string) => inGroup(world, text), group, join(world.home, 'profiles', 'support', 'workspace')],
      ['main', 'sim-1', (text: string) => world.say(text), '7', join(world.home, 'workspace')],
    ] as const) {
      const list = attempts(workspace);
      world.model.next(calls(...list), says(`${agent} has tried`));
      await say('try everything');
      await answerIn(world, chatId, `${agent} has tried`);
      const got = results(model);
      assert.equal(got.length, list.length, agent);
      for (const [i, result] of got.entries()) {
        const { name, arguments: args } = list[i] ?? assert.fail();
        // What was asked for may be said again, what was found may not.
        const said = result.replaceAll(alpha, '').replaceAll(processId, '').replaceAll(alphaSession, '');
        assert.doesNotMatch(said, /alpha-(?:secret|soul|memory|skill|steps|process|talk|result|media)-mark/, `${agent}: ${name} ${args}`);
      }
      assert.ok(!systemOf(asked(world, model).at(-1) ?? assert.fail()).includes('alpha-'), agent);
    }
    assert.ok(!results('sim-support').join('\n').includes('main-soul-mark'));
    assert.equal(await readFile(join(alpha, 'memories', 'MEMORY.md'), 'utf8'), 'alpha-memory-mark');

    world.model.next(calls(call('b1', 'session_search', { query: 'alpha-talk-mark' }), call('b2', 'process', { action: 'kill', session_id: processId }), call('b3', 'read_file', { path: spilled }), call('b4', 'read_file', { path: sent }), call('b5', 'skill_view', { name: 'alpha-skill' })), says('alpha found its own'));
    await toAlpha('and you?');
    await answerIn(world, otherGroup, 'alpha found its own');
    const [found = '', killed = '', ...read] = results('sim-alpha').slice(-5);
    assert.match(found, /alpha-talk-mark/);
    assert.match(killed, /It was ended/, 'nobody else has ended it');
    for (const [i, mark] of ['alpha-result-mark', 'alpha-media-mark', 'alpha-steps-mark'].entries()) assert.ok(read[i]?.includes(mark), mark);
  });

  test('commands show a person what they have with the agent they speak to, and nothing that they have with another', async () => {
    await using world = await newWorld();
    await world.configure({ platforms: { telegram: telegram(world) }, agents: { support: { model: 'sim-support' } }, routes: [toSupport], approvals: { destructive_slash_confirm: false } });
    await put(join(world.home, 'memories', 'MEMORY.md'), 'main-memory-mark');
    await put(join(world.home, 'profiles', 'support', 'memories', 'MEMORY.md'), 'support-memory-mark');
    await put(join(world.home, 'skills', 'main-skill', 'SKILL.md'), '---\nname: main-skill\ndescription: main-skill-mark\n---\nx');
    await using inside = await startInside(world);
    await world.say('main-talk-mark');
    await answerIn(world, '7', 're: main-talk-mark');
    const mainSession = await sessionOf(inside.store, 'main');
    await world.say('/title Main-title');
    await world.say('/new');
    await inGroup(world, 'hello');
    await answerIn(world, group, 're: hello');
    const supportSession = await sessionOf(inside.store, 'support');
    const tell = async (text: string): Promise<string> => {
      const before = world.shown(group).length;
      await inGroup(world, text);
      await until(() => world.shown(group).length > before, `an answer to ${text}`);
      return world.shown(group).slice(before).join('\n');
    };
    for (const text of ['/sessions', '/sessions main-talk-mark', '/resume', `/resume ${mainSession}`, '/resume Main-title', '/memory', '/skills', '/insights', '/history']) {
      const answer = await tell(text);
      assert.ok(!/main-(?:talk|memory|skill)-mark.?$/m.test(answer.replaceAll('“main-talk-mark”', '')) && !answer.includes(`\`${mainSession}\``), `${text}: ${answer}`);
    }
    assert.match(await tell('/memory'), /support-memory-mark/);
    assert.equal(await sessionOf(inside.store, 'support'), supportSession);
    await inGroup(world, 'still you?');
    await answerIn(world, group, 're: still you?');
    assert.equal(asked(world, 'sim-support').length, 2);
  });

  test('a conversation that is handed over to a place of another agent goes on there with its own agent', async () => {
    await using world = await newWorld();
    await world.configure({ platforms: { telegram: telegram(world) }, agents: { support: { model: 'sim-support' } }, routes: [{ match: { chat_id: '8' }, agent: 'support' }], approvals: { destructive_slash_confirm: false } });
    await using inside = await startInside(world);
    const eight = (text: string, threadId?: string): Promise<string> => world.say(text, { chatId: '8', senderId: '8', ...(threadId !== undefined && { threadId }) });
    await eight('before');
    await answerIn(world, '8', 're: before');
    await world.say('the plan');
    await answerIn(world, '7', 're: the plan');
    await world.say('/handoff telegram:8');
    await until(async () => (await inside.store.read((db) => db.q.selectFrom('handoffs').select('state').execute())).some(({ state }) => state === 'completed'), 'the handoff to end');
    const topic = world.telegram.visible('8').at(-1)?.threadId ?? assert.fail('the report stands in a topic');
    await eight('go on', topic);
    await answerIn(world, '8', 're: go on');
    const last = world.model.requests.at(-1) ?? assert.fail();
    assert.equal(last.body['model'], 'sim-1');
    assert.ok(saidIn(last).includes('the plan') && !saidIn(last).includes('before'));
    await eight('/new', topic);
    await until(() => world.shown('8').some((text) => text.includes('New conversation')), 'the answer to /new');
    await eight('fresh', topic);
    await answerIn(world, '8', 're: fresh');
    assert.equal(world.model.requests.at(-1)?.body['model'], 'sim-support', 'the next one is of the agent that the route names');
  });

  describe('routes', { concurrency: true }, () => {
    const countOf = (outside: Outside, word: string): number => outside.output().split(word).length - 1;
    const reload = async (world: World, outside: Outside, changes: Json): Promise<void> => {
      const before = countOf(outside, '"config.reloaded"');
      await world.configure(changes);
      await until(() => countOf(outside, '"config.reloaded"') > before, 'the change to be taken over');
    };

    test('a changed route moves the next message and nothing else', async () => {
      await using world = await newWorld();
      const base = { platforms: { telegram: { ...telegram(world), busy_input_mode: 'queue' } }, agents: { support: { model: 'sim-support' } } };
      await world.configure(base);
      await using outside = await startOutside(world);
      await world.say('first');
      await answerIn(world, '7', 're: first');
      await world.say('elsewhere', { chatId: '8', senderId: '8' });
      await answerIn(world, '8', 're: elsewhere');

      const slow = heldAnswer();
      world.model.next(slow.answer);
      await world.say('slow');
      await until(() => slow.held() === 1, 'a turn to run');
      await world.say('waiting');
      await until(() => peek(world, async (store) => (await inboxRows(store)).length === 4), 'what waits to be stored');
      await reload(world, outside, { ...base, routes: [{ match: { chat_id: '7' }, agent: 'support' }] });
      assert.equal(slow.held(), 1, 'what runs goes on');

      await world.say('next');
      await answerIn(world, '7', 're: next');
      assert.deepEqual(saidIn(asked(world, 'sim-support')[0] ?? assert.fail()), ['next'], 'the next message begins a conversation with the other agent');
      await world.say('elsewhere again', { chatId: '8', senderId: '8' });
      await answerIn(world, '8', 're: elsewhere again');
      slow.open();
      await answerIn(world, '7', 're: slow');
      await answerIn(world, '7', 're: waiting');
      const main = asked(world, 'sim-1');
      assert.deepEqual(saidIn(main.findLast((request) => lastUserText(request.body) === 'waiting') ?? assert.fail()), ['first', 'slow', 'waiting'], 'what was said before the change stays with the first');
      assert.deepEqual(saidIn(main.findLast((request) => lastUserText(request.body) === 'elsewhere again') ?? assert.fail()), ['elsewhere', 'elsewhere again'], 'no other chat is touched');

      await world.say('more for you');
      await answerIn(world, '7', 're: more for you');
      assert.deepEqual(saidIn(asked(world, 'sim-support').at(-1) ?? assert.fail()), ['next', 'more for you']);
      await reload(world, outside, base);
      await world.say('back');
      await answerIn(world, '7', 're: back');
      assert.deepEqual(saidIn(asked(world, 'sim-1').at(-1) ?? assert.fail()), ['first', 'slow', 'waiting', 'back'], 'its own conversation goes on when it answers again');
      assert.equal(world.shown('7').length, 6);
    });

    test('what runs for the agent of before can still be stopped from its place', async () => {
      await using world = await newWorld();
      const base = { platforms: { telegram: telegram(world) }, agents: { support: { model: 'sim-support' } } };
      await world.configure(base);
      await using outside = await startOutside(world);
      const slow = heldAnswer();
      world.model.next(slow.answer);
      await world.say('slow');
      await until(() => slow.held() === 1, 'a turn to run');
      await reload(world, outside, { ...base, default_agent: 'support' });
      await world.say('/stop');
      await until(() => world.shown().some((text) => text.includes('Stopped')), 'the answer to /stop');
      await until(() => slow.held() === 0, 'the call to be broken off');
    });

    test('a route to nobody is refused at the start, and a reload with one changes nothing', async () => {
      await using world = await newWorld();
      await world.configure({ routes: [{ match: { chat_id: '7' }, agent: 'nobody' }] });
      await assert.rejects(startOutside(world), /routes\[0\] names the agent nobody, which does not exist; there are: main/);
      const good = { platforms: { telegram: telegram(world) }, agents: { support: { model: 'sim-support' } }, routes: [toSupport] };
      await world.configure(good);
      await using outside = await startOutside(world);
      await world.configure({ ...good, agents: {} });
      await until(() => outside.output().includes('config.kept_last_good'), 'the complaint');
      await inGroup(world, 'hello');
      await answerIn(world, group, 're: hello');
      assert.equal(asked(world, 'sim-support').length, 1);
      assert.match(outside.output(), /routes\[0\] names the agent support/);
    });
  });

  describe('limits', { concurrency: true }, () => {
    test('an agent runs as many turns at once as it may, others of it wait in order, and nobody else waits for them', async () => {
      await using world = await newWorld();
      const people = ['11', '12', '13', '14'];
      await world.configure({
        platforms: { telegram: { ...world.telegram.options, allowed_users: ['7', ...people], busy_input_mode: 'queue' } },
        agent: { max_concurrent_turns: 2 },
        agents: { support: { model: 'sim-support', max_concurrent_turns: 1 } },
        routes: people.map((chat_id) => ({ match: { chat_id }, agent: 'support' })),
      });
      await using inside = await startInside(world);
      const order = [...people, 'more of 11'];
      const gates = new Map(order.map((said) => [said, heldAnswer()]));
      world.model.otherwise(async (response, request) => {
        const said = lastUserText(request.body);
        await (gates.get(said)?.answer ?? says(`re: ${said}`))(response, request);
      });
      for (const chat of people) await world.say(chat, { chatId: chat, senderId: chat });
      await until(() => asked(world, 'sim-support').length === 1, 'the first turn');
      await world.say('more of 11', { chatId: '11', senderId: '11' });
      await world.say('from elsewhere');
      await answerIn(world, '7', 're: from elsewhere');
      assert.equal(inside.gateway.runningTurns, 1, 'those who wait take no room');
      for (const [i, said] of order.entries()) {
        await until(() => asked(world, 'sim-support').length === i + 1, `turn ${i + 1}`);
        assert.deepEqual(asked(world, 'sim-support').map(({ body }) => lastUserText(body)), order.slice(0, i + 1), 'one at a time, and whoever has more to say comes behind those who waited');
        gates.get(said)?.open();
        await answerIn(world, people[i] ?? '11', `re: ${said}`);
      }
    });

    test('an agent that has spent what it may says so once in each chat, keeps what is written, and goes on when it may', async () => {
      await using world = await newWorld();
      const base = {
        // A call of the simulator reads 100 tokens and writes 20.
        model: { provider: 'openai', default: 'sim-1', base_url: world.model.baseUrl, api_key: 'sk-simulated-model-key', prices: { 'sim-support': { input: 5000, output: 25_000 } } },
        platforms: { telegram: telegram(world) },
        routes: [toSupport, { match: { chat_id: '8' }, agent: 'support' }],
      };
      const limited = (daily_spend_usd: number) => ({ ...base, agents: { support: { model: 'sim-support', daily_spend_usd } } });
      await world.configure(limited(1.5));
      const notices = (chatId: string): number => world.shown(chatId).filter((text) => text.includes('my limit for today')).length;
      const first = await startInside(world);
      await inGroup(world, 'one');
      await answerIn(world, group, 're: one');
      await inGroup(world, 'two');
      await answerIn(world, group, 're: two');
      await inGroup(world, 'three');
      await until(() => notices(group) === 1, 'the notice');
      await inGroup(world, 'four');
      await world.say('the others', { chatId: '7' });
      await answerIn(world, '7', 're: the others');
      await first.stop();
      const spend = await peek(world, (store) => store.read((db) => db.q.selectFrom('agent_spend').selectAll().where('agent', '=', 'support').executeTakeFirst()));
      assert.deepEqual([spend?.usd, spend?.unpriced], [2, 0]);

      const second = await startInside(world);
      await world.say('hello', { chatId: '8', senderId: '8' });
      await until(() => notices('8') === 1, 'the notice in another chat, after a restart');
      await inGroup(world, 'five');
      await world.say('once more', { chatId: '7' });
      await answerIn(world, '7', 're: once more');
      assert.equal(notices(group), 1);
      assert.equal(asked(world, 'sim-support').length, 2);
      await second.stop();

      await using outside = await startOutside(world);
      await world.configure(limited(3.5));
      await until(() => asked(world, 'sim-support').length === 4, 'what waited to be answered');
      const answered = asked(world, 'sim-support').slice(2).map((request) => saidIn(request).at(-1));
      assert.deepEqual(answered.toSorted(), ['hello', 'three\n\nfour\n\nfive'], 'all of it, in order, when the limit is raised');
      await inGroup(world, 'six');
      await world.say('and now', { chatId: '7' });
      await answerIn(world, '7', 're: and now');
      await outside.stop();
      await world.configure(limited(100));
      await using _last = await startInside(world);
      await answerIn(world, group, 're: six');
      assert.deepEqual([notices(group), notices('8')], [1, 1]);
    });

    test('a turn that crosses the limit ends before its next call, with what it has said', async () => {
      await using world = await newWorld();
      await world.configure({
        model: { provider: 'openai', default: 'sim-1', base_url: world.model.baseUrl, api_key: 'sk-simulated-model-key', prices: { 'sim-1': { input: 5000, output: 25_000 } } },
        agents: { main: { daily_spend_usd: 1 } },
      });
      world.model.next(calls(call('c1', 'current_time', {})));
      await using inside = await startInside(world);
      await world.say('work');
      await until(() => world.shown().some((text) => text.includes('used up what I may spend today')), 'the reason');
      assert.equal(world.model.requests.length, 1);
      const [turn] = await inside.store.read((db) => db.q.selectFrom('turns').selectAll().execute());
      assert.deepEqual([turn?.exit_reason, turn?.cost_usd, turn?.cost_status], ['model_error', 1, 'estimated']);
    });
  });
});
