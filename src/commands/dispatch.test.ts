import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandAccess } from '../access/command-access.ts';
import type { CommandAccess } from '../access/command-access.ts';
import { askToPair } from '../access/pairing.ts';
import { accountOptions } from '../platforms/account-options.ts';
import { sampleEvent, sampleTarget } from '../../test/support/samples.ts';
import { eachStore } from '../../test/support/stores.ts';
import { awaited } from '../../test/support/until-awaited.ts';
import { laneFacts, turnLane } from '../store/lanes/lanes.ts';
import { bindSession, boundSession, createSession, findSession } from '../store/sessions/sessions.ts';
import type { Store } from '../store/store.ts';
import { unfinishedTurn } from '../store/sessions/turns.ts';
import { anybody, begin, dispatchTo, give, ownEvent, owner, run, sampleReach, sampleSettings, sessionKey, talk, wait } from './command-call.test-support.ts';
import type { Command } from './contract.ts';
import { commands, resolveCommand } from './registry.ts';

const boundTo = async (store: Store): Promise<string> => (await store.read((db) => boundSession(db, sessionKey)))?.sessionId ?? '';

const shown = async (store: Store, sessionId = 's1'): Promise<readonly string[]> =>
  (await store.read((db) => db.q.selectFrom('messages').select('content').where('session_id', '=', sessionId).where('active', '=', 1).orderBy('id').execute())).map((row) => row.content);

test('names and aliases are each used once, and every command says what it does', () => {
  const names = commands.flatMap((command) => [command.name, ...command.aliases]);
  assert.equal(new Set(names).size, names.length);
  for (const command of commands) assert.ok(command.description.length > 5 && /^[a-z]+(?:-[a-z]+)*$/.test(command.name), command.name);
});

test('an exact name wins over the start of another, the start of one is enough, and several are asked about', () => {
  const named = (name: string): string | undefined => {
    const resolved = resolveCommand(name);
    return resolved.type === 'command' ? resolved.command.name : resolved.type;
  };
  assert.deepEqual(['stop', 'reset', 'q', 'und', 'st', 'bananas'].map(named), ['stop', 'new', 'queue', 'undo', 'ambiguous', 'unknown']);
});

eachStore((_engine, open) => {
  test('what is not a command is said not to be one', async () => {
    const { store } = await open();
    await begin(store);
    assert.equal(await give(store, '/bananas'), 'I do not know /bananas. /help shows the commands.');
    assert.match(await give(store, '/st'), /could be \/stop or \/status or \/steer or \/start/);
  });

  test('/help names every command, /version and /usage and /start answer', async () => {
    const { store } = await open();
    await begin(store);
    const help = await give(store, '/help', { settings: sampleSettings({ display: { tool_progress_command: true } }) });
    for (const command of commands) assert.ok(help.includes(`/${command.name}`), command.name);
    assert.match(await give(store, '/version'), /1\.2\.3/);
    assert.match(await give(store, '/usage'), /\*\*Turns\*\* 0/);
    assert.match(await give(store, '/start'), /Hello/);
  });

  test('/status tells whether a turn runs and how many messages wait', async () => {
    const { store } = await open();
    await begin(store);
    assert.match(await give(store, '/status'), /\*\*State\*\* idle\n\*\*Waiting\*\* 0/);
    await wait(store, 'a', 'b');
    await run(store);
    assert.match(await give(store, '/status'), /\*\*State\*\* working \(turn \d+\)\n\*\*Waiting\*\* 2/);
  });

  test('/stop asks whoever runs the turn, keeps it for whoever takes it up later, and says what comes next', async () => {
    const { store } = await open();
    await begin(store);
    assert.equal(await give(store, '/stop'), 'Nothing is running.');
    await run(store);
    assert.equal(await give(store, '/stop'), '⏹ Stopped.');
    await wait(store, 'a');
    assert.equal(await give(store, '/stop'), '⏹ Stopped. The message that waited comes next.');
    assert.equal((await store.read((db) => laneFacts(db, turnLane('s1')))).stops, 2);
    assert.equal((await store.read((db) => unfinishedTurn(db, turnLane('s1'))))?.stopRequested, true);
  });

  test('what would change the ground under a running turn is refused, also while nobody is at work on it', async () => {
    const { store } = await open();
    await begin(store);
    await talk(store, 'one');
    await run(store);
    await store.write((tx) => tx.q.updateTable('lanes').set({ owner: null, lease_until: 0 }).execute());
    for (const command of ['/retry', '/undo', '/branch', '/resume x']) assert.match(await give(store, command), /still working/);
    assert.deepEqual(await shown(store), ['one', 're: one']);
  });

  test('/new moves the place to a conversation of its own, stops the old one and drops what waited, with a word about it', async () => {
    const { store } = await open();
    await begin(store);
    await run(store);
    await wait(store, 'waiting');
    const answer = await give(store, '/new My\u202E talk');
    assert.match(answer, /New conversation[^]*“waiting”[^]*\/resume s1/);
    const session = await store.read(async (db) => findSession(db, (await boundSession(db, sessionKey))?.sessionId ?? ''));
    assert.deepEqual([session?.parentId, session?.userId, session?.title], ['s1', '7', 'My talk']);
    const old = await store.read((db) => findSession(db, 's1'));
    assert.equal(old?.endReason, 'new');
    assert.equal((await store.read((db) => laneFacts(db, turnLane('s1')))).stops, 1);
    assert.match(await give(store, '/new My talk'), /already has that title/);
  });

  test('a successor belongs to whom the old conversation belonged to, not to whoever gave the command', async () => {
    const { store } = await open();
    await store.write(async (tx) => {
      await createSession(tx, { id: 's1', agent: 'main', account: 'telegram', chatType: 'group' });
      await bindSession(tx, { sessionKey, sessionId: 's1', target: sampleTarget() });
    });
    for (const command of ['/new', '/branch']) {
      await give(store, command);
      assert.equal((await store.read(async (db) => findSession(db, (await boundSession(db, sessionKey))?.sessionId ?? '')))?.userId, null, command);
    }
  });

  test('/undo takes back the last exchange or several, and says when there is nothing', async () => {
    const { store } = await open();
    await begin(store);
    assert.equal(await give(store, '/undo'), 'There is nothing to take back.');
    await talk(store, 'one', 'two', 'three');
    assert.match(await give(store, '/undo'), /the last exchange, from “three”/);
    assert.match(await give(store, '/undo 9'), /the last 2 exchanges, from “one”/);
    assert.deepEqual(await shown(store), []);
    for (const bad of ['0', '-1', 'x', '1.5', '101']) assert.match(await give(store, `/undo ${bad}`), /Usage/);
  });

  test('/retry takes back the last answer and asks for another to the same row', async () => {
    const { store } = await open();
    await begin(store);
    assert.equal(await give(store, '/retry'), 'There is nothing to answer again.');
    await talk(store, 'one', 'two');
    assert.equal(await give(store, '/retry'), '');
    assert.deepEqual(await shown(store), ['one', 're: one', 'two']);
    const [waiting] = await store.read((db) => db.q.selectFrom('inbox').innerJoin('messages', 'messages.id', 'inbox.message_id').select(['messages.content', 'inbox.state']).execute());
    assert.deepEqual([waiting?.content, waiting?.state], ['two', 'waiting']);
  });

  test('/queue takes a message up to the limit', async () => {
    const { store } = await open();
    await begin(store);
    assert.match(await give(store, '/queue'), /Usage/);
    await run(store);
    assert.equal(await give(store, '/queue a'), '⏳ Queued, 1 waiting.');
    await wait(store, 'b', 'c');
    assert.match(await give(store, '/queue d', { event: sampleEvent() }), /did not take this one/);
  });

  test('/title, /branch and /resume: a copy goes on by itself, and people find only what is theirs', async () => {
    const { store } = await open();
    await begin(store);
    await talk(store, 'one');
    assert.match(await give(store, '/title'), /has no title/);
    assert.equal(await give(store, '/title Trunk'), 'This conversation is now called “Trunk”.');
    assert.match(await give(store, '/branch Trunk'), /Branched with 2 messages[^]*already has that title/);
    const copy = await boundTo(store);
    assert.deepEqual(await shown(store, copy), ['one', 're: one']);
    assert.equal(await give(store, '/title Trunk'), 'Another conversation is already called “Trunk”.');
    assert.match(await give(store, '/resume'), /`s1` Trunk \(2 messages\)/);
    const stranger = sampleEvent({ sender: { id: '8', isBot: false } });
    assert.match(await give(store, '/resume Trunk', { event: stranger, access: anybody }), /No conversation of yours/);
    assert.match(await give(store, '/resume Trunk', { event: { ...ownEvent, account: 'telegram@work' }, access: anybody }), /No conversation of yours/);
    assert.equal(await boundTo(store), copy);
    assert.match(await give(store, '/resume Trunk'), /Back in `s1` Trunk/);
    assert.equal(await boundTo(store), 's1');
    assert.equal((await store.read((db) => findSession(db, 's1')))?.endedAtMs, null);
    assert.equal(await give(store, '/resume s1'), 'That is this conversation.');
  });

  test('/busy shows and changes what a message does while the agent works', async () => {
    const { store } = await open();
    await begin(store);
    assert.match(await give(store, '/busy'), /`interrupt`/);
    assert.match(await give(store, '/busy Queue'), /handled as `queue`/);
    assert.match(await give(store, '/busy'), /`queue`/);
    assert.match(await give(store, '/busy never'), /none of interrupt, queue, steer/);
    assert.equal((await store.read((db) => findSession(db, 's1')))?.settings.busyMode, 'queue');
  });
});

eachStore((_engine, open) => {
  test('/pair approve on a surface of the owner lets in people of every account; elsewhere only those of its own', async () => {
    const { store } = await open();
    await begin(store);
    const code = await store.write((tx) => askToPair(tx, { account: 'telegram@work', userId: '99', userName: 'Grace' }));
    const admin: CommandAccess = { ...owner, isOwner: false };
    assert.equal(await give(store, `/pair approve ${code}`, { access: admin }), 'No open request has that code.');
    assert.equal(await give(store, `/pair approve ${code}`), '✅ `99` Grace (telegram@work) may talk to me now.');
    assert.match(await give(store, '/pair list'), /Let in by a code:\n- `99` Grace \(telegram@work\)/);
    assert.match(await give(store, '/pair revoke 99'), /may not talk to me any more/);
    assert.match(await give(store, '/pair list'), /Nobody was let in by a code/);
  });

  test('/pair is refused to whoever may not let others in', async () => {
    const { store } = await open();
    await begin(store);
    assert.equal(await give(store, '/pair', { access: anybody }), '⛔ /pair is for admins here. /help shows the commands.');
    assert.equal(await give(store, '/pair', { access: { ...anybody, mayRun: () => true } }), '⛔ Only admins may let others in.', 'a list of commands makes nobody an admin');
  });
});

test('what is for everybody, what is for users and what is for admins differ by who is in which list', () => {
  const may = (written: Readonly<Record<string, unknown>>): readonly boolean[] => {
    const access = commandAccess({ rules: accountOptions.parse(written), chatType: 'dm', userIds: ['2'], authenticated: false });
    return ['help', 'new', 'restart'].map((name) => access.mayRun(commands.find((command) => command.name === name) ?? assert.fail(name)));
  };
  assert.deepEqual(may({}), [true, true, false], 'nobody is restricted, but not everybody decides for others');
  assert.deepEqual(may({ allowed_users: ['2'] }), [true, true, true], 'whom the owner has named');
  assert.deepEqual(may({ allow_admin_from: ['1'] }), [true, false, false], 'a guest');
  assert.deepEqual(may({ allow_admin_from: ['1'], user_allowed_commands: ['new'] }), [true, true, false], 'a user');
  assert.deepEqual(may({ allow_admin_from: ['1'], user_allowed_commands: ['/restart'] }), [true, false, true], 'what the owner has listed is listed');
  assert.deepEqual(may({ allow_admin_from: ['2'] }), [true, true, true], 'an admin');
});

eachStore((engine, open) => {
  test('a command that is not for this kind of place, or switched off, says so and is in no list', async () => {
    const { store } = await open();
    await begin(store);
    assert.equal(await give(store, '/verbose'), '⛔ There is no /verbose here. The owner can switch it on with `display.tool_progress_command: true`.');
    assert.equal(await give(store, '/sethome', { surface: 'terminal' }), '⛔ There is no /sethome here.');
    assert.ok(!(await give(store, '/help')).includes('/verbose'));
    assert.ok((await give(store, '/help', { surface: 'terminal' })).includes('/verbose'));
    assert.match(await give(store, '/verb'), /I do not know \/verb/, 'what is not there is not meant by its beginning');
    assert.match(await give(store, '/verb', { surface: 'terminal' }), /in this conversation from now on/);
  });

  test('what is for admins is refused to others and not meant by its beginning', async () => {
    const { store } = await open();
    await begin(store);
    assert.equal(await give(store, '/restart', { access: anybody }), '⛔ /restart is for admins here. /help shows the commands.');
    assert.match(await give(store, '/rest', { access: anybody }), /I do not know \/rest/);
    assert.ok(!(await give(store, '/help', { access: anybody })).includes('/restart'));
  });

  test('/commands shows every command once, page by page', async () => {
    const { store } = await open();
    await begin(store);
    const settings = sampleSettings({ display: { tool_progress_command: true } });
    const count = Math.ceil(commands.length / 20);
    const pages: string[] = [];
    for (let page = 1; page <= count; page += 1) pages.push(await give(store, `/commands ${page}`, { settings }));
    assert.equal(pages[0], await give(store, '/commands', { settings }));
    assert.match(pages[0] ?? '', new RegExp(`page 1 of ${count}[^]*More with /commands 2`));
    const listed = pages.join('\n').match(/^\/[a-z-]+/gm) ?? [];
    assert.deepEqual(listed, commands.map(({ name }) => `/${name}`).toSorted());
    assert.match(await give(store, '/commands 99', { settings }), new RegExp(`Usage: /commands \\[page\\], with a page from 1 to ${count}`));
  });

  test('somebody who would lose something is asked first, once, unless they have said yes already', async () => {
    const { store } = await open();
    await begin(store);
    const asks = { asks: true };
    assert.match(await give(store, '/new', asks), /^✨ New conversation/, 'an empty conversation is no loss');
    await begin(store, 's2');
    await store.write((tx) => bindSession(tx, { sessionKey, sessionId: 's1', target: sampleTarget({ chatId: '7' }) }));
    await talk(store, 'one', 'two', 'three');
    await wait(store, 'a');
    await run(store);
    assert.equal(await give(store, '/new Fresh', asks), 'ASKS Start a new conversation? This one is kept, and /resume brings it back. What I am working on is stopped. A message that waits is not answered any more.');
    assert.equal(await boundTo(store), 's1');
    assert.match(await give(store, '/new Fresh --yes', asks), /^✨ New conversation/);
    const session = await store.read(async (db) => findSession(db, (await boundSession(db, sessionKey))?.sessionId ?? ''));
    assert.equal(session?.title, 'Fresh');
  });

  test('/undo of several asks, of one does not; -y and a confirmation carry it out', async () => {
    const { store } = await open();
    await begin(store);
    await talk(store, 'one', 'two', 'three', 'four');
    assert.match(await give(store, '/undo', { asks: true }), /Took back the last exchange, from “four”/);
    assert.equal(await give(store, '/undo 2', { asks: true }), 'ASKS Take back the last 2 exchanges, from “two”?');
    assert.match(await give(store, '/undo 2', { asks: true, confirmed: true }), /Took back the last 2 exchanges/);
    assert.match(await give(store, '/undo 5 -y', { asks: true }), /Took back the last exchange, from “one”/);
  });

  test('a question to an admin offers to ask never again, where that can be written down', async () => {
    const { store } = await open();
    await begin(store);
    await talk(store, 'one');
    const valuesOf = async (more: Parameters<typeof dispatchTo>[2]): Promise<readonly string[]> => {
      const { result } = await dispatchTo(store, '/new', { asks: true, ...more });
      return result.type === 'ask' ? result.question.options.map(({ value }) => value) : [];
    };
    const reach = sampleReach({ changeSetting: () => Promise.resolve(undefined) });
    assert.deepEqual(await valuesOf({}), ['yes', 'no']);
    assert.deepEqual(await valuesOf({ reach }), ['yes', 'always', 'no']);
    assert.deepEqual(await valuesOf({ reach, access: anybody }), ['yes', 'no']);
  });

  test('a command of the owner’s own runs, stands for another with what is typed behind it, and cannot take a name over', async () => {
    const { store } = await open();
    await begin(store);
    const settings = sampleSettings({
      quick_commands: { call: { type: 'alias', target: '/title Our' }, again: { type: 'alias', target: 'call' }, loop: { type: 'alias', target: '/loop' }, stop: { type: 'alias', target: '/version' }, boom: { type: 'alias', target: '/restart' } },
    });
    assert.equal(await give(store, '/call talk', { settings }), 'This conversation is now called “Our talk”.');
    assert.equal(await give(store, '/again house', { settings }), 'This conversation is now called “Our house”.');
    assert.match(await give(store, '/loop', { settings }), /The owner has to check `quick_commands\.loop`/);
    assert.equal(await give(store, '/stop', { settings }), 'Nothing is running.');
    assert.match(await give(store, '/boom', { settings, access: anybody }), /\/restart is for admins/);
    assert.match(await give(store, '/help', { settings }), /\*\*Tools\*\*\n[^*]*\/call — Stands for \/title Our/);
  });

  test('a user runs an alias that is listed for them, whatever it stands for', async () => {
    const { store } = await open();
    await begin(store);
    const settings = sampleSettings({ quick_commands: { call: { type: 'alias', target: '/title Our' } } });
    const rules = accountOptions.parse({ allow_admin_from: ['1'], user_allowed_commands: ['call'] });
    const access = commandAccess({ rules, chatType: 'dm', userIds: ['7'], authenticated: false });
    assert.match(await give(store, '/title x', { settings, access }), /is for admins/);
    assert.equal(await give(store, '/call talk', { settings, access }), 'This conversation is now called “Our talk”.');
  });

  test('no turn begins while a command is carried out that a running one forbids', { skip: engine === 'sqlite' && 'one writes after the other there' }, async () => {
    const { store, another } = await open();
    await begin(store);
    await wait(store, 'hello');
    const second = await another();
    const over = new AbortController();
    let begun: Promise<unknown> = Promise.resolve();
    const seen: (string | undefined)[] = [];
    const slow: Command = {
      name: 'slow',
      aliases: [],
      category: 'Session',
      description: 'Takes its time',
      whileRunning: 'refused',
      async run(tx, { lane }) {
        begun = run(second).finally(() => over.abort());
        await awaited(tx, over.signal);
        seen.push((await unfinishedTurn(tx, lane))?.sessionId);
        return '';
      },
    };
    await give(store, '/slow', { commands: [slow] });
    await begun;
    assert.deepEqual(seen, [undefined]);
  });
});
