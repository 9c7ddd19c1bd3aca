import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openLiveAccount } from '../../../test/support/live-account.ts';
import type { LiveAccount } from '../../../test/support/live-account.ts';
import { sampleTarget } from '../../../test/support/samples.ts';
import { Dispatcher } from '../../delivery/dispatcher.ts';
import { prepareText } from '../../delivery/prepare-text.ts';
import { openSendable } from '../../delivery/sendable-files.ts';
import { testTargets } from '../../delivery/targets.test-support.ts';
import type { TestTargets } from '../../delivery/targets.test-support.ts';
import { systemClock } from '../../lib/clock.ts';
import { silentLogger } from '../../lib/logger.ts';
import { keepSpoken } from '../../store/accounts/channels.ts';
import { bindSession, createSession } from '../../store/sessions/sessions.ts';
import { newestSaid } from '../../store/sessions/transcripts.ts';
import { newApprover } from '../approvals/approver.ts';
import { withSession } from '../session-context.ts';
import type { ToolContext } from './contract.ts';
import { sendMessageTool } from './send-message.ts';
import { approvalSettings, fakeContext } from './terminal/terminal.test-support.ts';
import type { FakeContext } from './terminal/terminal.test-support.ts';

const never = new AbortController().signal;

interface Bench extends AsyncDisposable {
  readonly live: LiveAccount;
  readonly home: string;
  run(args: Readonly<Record<string, unknown>>, context?: ToolContext): Promise<string>;
  send(target: string, message: string, context?: ToolContext): Promise<{ readonly success: boolean; readonly results: readonly Readonly<Record<string, unknown>>[] }>;
}

/** The tool on the real way out: outbox, dispatcher, and a Telegram over its wire protocol. */
const newBench = async (targets: TestTargets = {}): Promise<Bench> => {
  const live = await openLiveAccount();
  const { store } = live;
  const home = await mkdtemp(join(tmpdir(), 'hermes-send-'));
  const dispatcher = new Dispatcher({ store, owner: 'a', clock: live.clock, log: silentLogger, connections: live.connections, gate: live.gate, maxAgeMs: 3_600_000, sendTimeoutMs: 30_000, redact: (text) => text });
  dispatcher.start();
  const tool = sendMessageTool({
    store,
    home,
    targets: testTargets({ accounts: ['telegram', 'discord'], ...targets }),
    approve: newApprover({ store, log: silentLogger, settings: () => approvalSettings(), attended: (context) => context.asyncDelivery, keepAlways: async () => undefined }),
    screen: async (text) => (text.includes('withheld') ? undefined : text.replace('damn', '****')),
    prepare: (text, { account }, signal) =>
      prepareText(text, account, {
        deps: { clock: systemClock, log: silentLogger, mediaFolder: join(home, 'media'), maxBytes: 1_000_000, open: (path) => openSendable(path, { home: '/', agentHome: '/', userHome: home, workdir: home, roots: [home] }), sendsFiles: () => true, platform: live.connections.platform },
        signal,
      }),
    isOwner: ({ userId }) => userId === 'ada',
  });
  const run: Bench['run'] = (args, context = fakeContext()) => tool.run(args, context, never);
  return {
    live,
    home,
    run,
    send: async (target, message, context) => JSON.parse(await run({ target, message }, context)) as Awaited<ReturnType<Bench['send']>>,
    async [Symbol.asyncDispose]() {
      await dispatcher.stop(1000);
      await live[Symbol.asyncDispose]();
      await rm(home, { recursive: true });
    },
  };
};

const shown = ({ live }: Bench, chatId: string): readonly string[] => live.simulator.visible(chatId).map(({ text }) => text);

/** Somebody talks to an agent in a chat. */
const converse = ({ live }: Bench, id: string, chatId: string, more: { agent?: string; name?: string } = {}): Promise<void> =>
  live.store.write(async (tx) => {
    const chatType = chatId.startsWith('-') ? 'group' : 'dm';
    await createSession(tx, { id, agent: more.agent ?? 'main', account: 'telegram', chatType, userId: chatId });
    await bindSession(tx, { sessionKey: `key:${id}`, sessionId: id, target: sampleTarget({ chatId, chatType }) });
    await keepSpoken(tx, [{ account: 'telegram', chatId, chatType, name: more.name ?? `Chat ${chatId}`, spokenAtMs: 1 }]);
  });

test('a message goes to a known chat, by id or name, and the conversation there knows of it', async () => {
  await using bench = await newBench();
  await converse(bench, 'there', '-5', { name: 'Ops' });
  const sent = await bench.send('telegram:#ops', 'the **build** is green');
  assert.deepEqual(sent, { success: true, results: [{ target: 'telegram:-5', status: 'sent', message_ids: [bench.live.simulator.visible('-5')[0]?.id] }] });
  assert.deepEqual(shown(bench, '-5'), ['the build is green']);
  const rows = await bench.live.store.read((db) => newestSaid(db, 'there', 5));
  assert.deepEqual(rows.map(({ message }) => [message.role, message.content]), [['assistant', 'the **build** is green']]);
});

test('what the owner’s rules change or keep back is changed or kept back, and the agent is told', async () => {
  await using bench = await newBench();
  await converse(bench, 'there', '-5');
  assert.equal((await bench.send('telegram:-5', 'a damn shame')).success, true);
  const [kept] = (await bench.send('telegram:-5', 'to be withheld')).results;
  assert.equal(kept?.['status'], 'skipped');
  assert.deepEqual(shown(bench, '-5'), ['a **** shame']);
});

test('several places at once each get it once, and the file that is only kept has its path', async () => {
  await using bench = await newBench({ homes: { telegram: '7' } });
  const { results } = await bench.send('telegram, telegram:7, local', 'hello');
  assert.deepEqual(results.map(({ target, status }) => [target, status]), [['telegram:7', 'sent'], ['local', 'kept']]);
  assert.deepEqual(shown(bench, '7'), ['hello']);
  assert.match(await readFile(String(results[1]?.['note']), 'utf8'), /hello\n$/);
});

test('a file goes with the message; one that may not be sent is named', async () => {
  await using bench = await newBench({ homes: { telegram: '7' } });
  await writeFile(join(bench.home, 'notes.txt'), 'content');
  await bench.send('telegram', `Here MEDIA:${bench.home}/notes.txt and MEDIA:/etc/hostname`);
  const [message] = bench.live.simulator.visible('7');
  assert.deepEqual(message?.media.map(({ name }) => name), ['notes.txt']);
  assert.match(message?.text ?? '', /could not be attached/);
});

test('what names no chat, or says nothing, is refused with what to do, and nothing is sent', async () => {
  await using bench = await newBench();
  await assert.rejects(bench.send('mars:1', 'hi'), /Nothing was sent: there is no platform called "mars"/);
  await assert.rejects(bench.send('telegram:#nobody', 'hi'), /is called "#nobody"/);
  await assert.rejects(bench.send('telegram:7', ' '), /Give both target and message/);
  await assert.rejects(bench.run({ target: 'telegram:7' }), /Give both target and message/);
  assert.deepEqual(await bench.live.store.read((db) => db.q.selectFrom('outbox').select('id').execute()), []);
});

test('a chat that nobody has written from is written to only when a person allows it', async () => {
  await using bench = await newBench();
  const asked = (answer: 'once' | 'deny'): FakeContext => fakeContext({ answer: ({ options }) => ({ type: 'answered', value: options.find(({ value }) => value.startsWith(answer))?.value ?? '', by: 'ada' }) });
  await assert.rejects(bench.send('telegram:8', 'hi', asked('deny')), /Nothing was sent to telegram:8/);
  const context = asked('once');
  assert.equal((await bench.send('telegram:8', 'hi', context)).success, true);
  assert.match(context.questions[0]?.text ?? '', /telegram:8[\s\S]*not in the directory/);
  await assert.rejects(bench.send('telegram:8', 'again', fakeContext({ asyncDelivery: false })), /nobody can be asked here/);
  assert.deepEqual(shown(bench, '8'), ['hi']);
});

test('a place that refuses is reported, and its conversation is told nothing', async () => {
  await using bench = await newBench();
  await converse(bench, 'there', '99');
  bench.live.simulator.refuseChat('99', { status: 403, description: 'Forbidden: bot was blocked by the user' });
  const { success, results } = await bench.send('telegram:99', 'hi');
  assert.deepEqual([success, results[0]?.['status']], [false, 'failed']);
  assert.match(String(results[0]?.['error']), /blocked/);
  assert.deepEqual(await bench.live.store.read((db) => newestSaid(db, 'there', 5)), []);
});

test('a job does not send to where its result goes anyway', async () => {
  await using bench = await newBench();
  await converse(bench, 's1', '-5');
  const variables = { HERMES_CRON_AUTO_DELIVER_PLATFORM: 'telegram', HERMES_CRON_AUTO_DELIVER_CHAT_ID: '-5', HERMES_CRON_AUTO_DELIVER_THREAD_ID: '' };
  const { results } = await withSession({ variables }, () => bench.send('telegram:-5', 'news'));
  assert.deepEqual([results[0]?.['status'], shown(bench, '-5')], ['skipped', []]);
  const elsewhere = await withSession({ variables: { ...variables, HERMES_CRON_AUTO_DELIVER_THREAD_ID: '3' } }, () => bench.send('telegram:-5', 'news'));
  assert.equal(elsewhere.results[0]?.['status'], 'sent', 'a thread of the chat is another place');
});

test('the list names chats; whom others talk to in private only the owner sees', async () => {
  await using bench = await newBench({ homes: { discord: '42' }, aliases: { telegram: { '-77': 'alerts' } } });
  await converse(bench, 's1', '-5', { name: 'Ops' });
  await converse(bench, 's2', '8', { name: 'Eve' });
  const mine = { ...fakeContext(), place: { agent: 'main', platform: 'telegram', target: sampleTarget({ chatId: '-5', chatType: 'group' as const }), sender: { id: 'bob', isBot: false } } };
  const all = await bench.run({ action: 'list' });
  assert.deepEqual(all.split('\n'), ['telegram:-5  Ops (group)', 'telegram:8  Eve (dm)', 'telegram:-77  alerts (group)', 'discord:42  42 (dm, home channel)']);
  assert.equal((await bench.run({ action: 'list' }, mine)).includes('Eve'), false);
  const { sender: _nobody, ...unattended } = mine.place;
  assert.equal((await bench.run({ action: 'list' }, { ...mine, place: unattended })).includes('Eve'), false);
});

test('without any chat the list says what can be done', async () => {
  await using bench = await newBench();
  assert.match(await bench.run({ action: 'list' }), /No chat is known by name/);
});
