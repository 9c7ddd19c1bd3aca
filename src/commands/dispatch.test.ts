import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CommandAccess } from '../access/command-access.ts';
import { askToPair } from '../access/pairing.ts';
import { sampleEvent, sampleTarget } from '../../test/support/samples.ts';
import { eachStore } from '../../test/support/stores.ts';
import { insertInboxItem } from '../store/inbox.ts';
import { claimLane, enqueueLane, laneFacts, turnLane } from '../store/lanes.ts';
import { bindSession, boundSession, createSession, findSession } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';
import { appendMessage } from '../store/transcripts.ts';
import { startTurn, unfinishedTurn } from '../store/turns.ts';
import type { CommandCall } from './contract.ts';
import { dispatchCommand } from './dispatch.ts';
import { parseCommand } from './parse.ts';
import { commands, resolveCommand } from './registry.ts';

const sessionKey = 'agent:main:telegram:dm:7';
const event = sampleEvent({ chat: { id: '7', type: 'dm' }, sender: { id: '7', isBot: false } });

/** A conversation of person 7, or of everybody in its chat. */
const begin = (store: Store, id = 's1', userId: string | undefined = '7'): Promise<void> =>
  store.write(async (tx) => {
    await createSession(tx, { id, agent: 'main', account: 'telegram', chatType: 'dm', ...(userId !== undefined && { userId }) });
    await bindSession(tx, { sessionKey, sessionId: id, target: sampleTarget({ chatId: '7' }) });
  });

const talk = (store: Store, ...texts: readonly string[]): Promise<void> =>
  store.write(async (tx) => {
    for (const text of texts) {
      await appendMessage(tx, { sessionId: 's1', turnId: null }, { role: 'user', content: text });
      await appendMessage(tx, { sessionId: 's1', turnId: null }, { role: 'assistant', content: `re: ${text}` });
    }
  });

const owner: CommandAccess = { role: 'admin', isOwner: true, mayPair: true, mayRun: () => true };

/** Gives a command where the place stands now. */
const give = (store: Store, text: string, more: Partial<CommandCall> = {}): Promise<string> =>
  store.write(async (tx) => {
    const parsed = parseCommand(text);
    assert.ok(parsed !== undefined);
    const { sessionId = 's1' } = (await boundSession(tx, sessionKey)) ?? {};
    const answer = await dispatchCommand(tx, parsed, { inboxId: 1, access: owner, event, agent: 'main', sessionKey, sessionId, lane: turnLane(sessionId), args: parsed.args, nowMs: 0, version: '1.2.3', defaultBusyMode: 'interrupt', queueLimit: 3, ...more });
    return answer.text;
  });

const wait = (store: Store, ...texts: readonly string[]): Promise<void> =>
  store.write(async (tx) => {
    for (const text of texts) {
      await enqueueLane(tx, { lane: turnLane('s1'), kind: 'turn' });
      await insertInboxItem(tx, { event: sampleEvent({ text }), class: 'chat', decisions: [], place: { lane: turnLane('s1'), sessionId: 's1', sessionKey } });
    }
  });

/** A turn that somebody is at work on. */
const run = (store: Store): Promise<unknown> =>
  store.write(async (tx) => {
    await enqueueLane(tx, { lane: turnLane('s1'), kind: 'turn' });
    await claimLane(tx, { lane: turnLane('s1'), owner: 'a', leaseMs: 60_000 });
    return startTurn(tx, { sessionId: 's1', lane: turnLane('s1'), target: sampleTarget() });
  });

const boundTo = async (store: Store): Promise<string> => (await store.read((db) => boundSession(db, sessionKey)))?.sessionId ?? '';

const shown = async (store: Store, sessionId = 's1'): Promise<readonly string[]> =>
  (await store.read((db) => db.q.selectFrom('messages').select('content').where('session_id', '=', sessionId).where('active', '=', 1).orderBy('id').execute())).map((row) => row.content);

test('names and aliases are each used once, and every command says what it does', () => {
  const names = commands.flatMap((command) => [command.name, ...command.aliases]);
  assert.equal(new Set(names).size, names.length);
  for (const command of commands) assert.ok(command.description.length > 5 && /^[a-z]+$/.test(command.name), command.name);
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
    assert.match(await give(store, '/st'), /could be \/stop or \/status or \/start/);
  });

  test('/help names every command, /version and /usage and /start answer', async () => {
    const { store } = await open();
    await begin(store);
    const help = await give(store, '/help');
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
    assert.match(await give(store, '/resume Trunk', { event: stranger }), /No conversation of yours/);
    assert.match(await give(store, '/resume Trunk', { event: { ...event, account: 'telegram@work' } }), /No conversation of yours/);
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
    assert.equal(await give(store, '/pair', { access: { role: 'user', isOwner: false, mayPair: false, mayRun: () => true } }), '⛔ Only admins may let others in.');
  });
});
