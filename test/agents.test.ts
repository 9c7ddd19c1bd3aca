import assert from 'node:assert/strict';
import { mkdtempDisposable, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { calls, says } from '../src/agent/models/chat-simulator.ts';
import { resultsFolder } from '../src/agent/tools/spill-result.ts';
import { indexNewMessages } from '../src/store/sessions/search.ts';
import { group, otherGroup, call, telegram, inGroup, toSupport, put, asked, systemOf, saidIn, answerIn, sessionOf } from './support/agents-scene.ts';
import { newWorld, startInside, until } from './support/whole.ts';

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

  test('an agent whose disk is not there answers nobody until it is, and no empty folder takes its place', async () => {
    await using world = await newWorld();
    await using disk = await mkdtempDisposable(join(tmpdir(), 'hermes-disk-'));
    const own = join(disk.path, 'mounted', 'support');
    await world.configure({ platforms: { telegram: telegram(world) }, agents: { support: { model: 'sim-support', home_dir: own } }, routes: [toSupport] });
    await using inside = await startInside(world);
    await inGroup(world, 'are you there?');
    await until(() => world.shown(group).some((text) => text.includes('went wrong')), 'the trouble to be told');
    assert.ok(inside.logLines.some((line) => line.includes('agent.not_opened') && line.includes(`the folder ${join(disk.path, 'mounted')}, in which its own lies, is not there`)));
    assert.deepEqual(await readdir(disk.path), []);
    await world.say('and you?');
    await answerIn(world, '7', 're: and you?');
    await put(join(own, 'SOUL.md'), 'I am the soul of support.');
    await inGroup(world, 'and now?');
    await until(() => asked(world, 'sim-support').some((request) => systemOf(request).includes('soul of support')), 'the agent to answer as who it is');
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
});
