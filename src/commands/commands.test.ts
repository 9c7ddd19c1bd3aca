import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { sampleEvent, sampleTarget } from '../../test/support/samples.ts';
import { eachStore } from '../../test/support/stores.ts';
import { noUsage } from '../core/transcript.ts';
import { accountWish } from '../store/accounts/account-wishes.ts';
import { freshStatus, saveStatus } from '../store/accounts/accounts.ts';
import type { AccountStatus } from '../store/accounts/accounts.ts';
import { findHome } from '../store/sessions/homes.ts';
import { waitingItems } from '../store/messages/inbox.ts';
import { turnLane } from '../store/lanes/lanes.ts';
import { takeRestartMarks } from '../store/messages/restart-marks.ts';
import { addTurnTotals } from '../store/sessions/turn-totals.ts';
import { boundSession, createSession, findSession, setTitle } from '../store/sessions/sessions.ts';
import type { SessionSettings } from '../store/sessions/sessions.ts';
import type { Store } from '../store/store.ts';
import { appendMessage } from '../store/sessions/transcripts.ts';
import { finishTurn, startTurn } from '../store/sessions/turns.ts';
import { anybody, begin, dispatchTo, give, run, sampleReach, sampleSettings, sessionKey, talk } from './command-call.test-support.ts';

const settingsOf = async (store: Store): Promise<SessionSettings | undefined> => (await store.read((db) => findSession(db, 's1')))?.settings;

const status = (account: string, more: Partial<AccountStatus> = {}): AccountStatus => freshStatus(account, { state: 'connected', identity: '1', ...more });

/** An earlier conversation with something said in it. */
const earlier = (store: Store, conversation: { id: string; userId?: string; title?: string; said?: string }): Promise<void> =>
  store.write(async (tx) => {
    const { id, userId = '7', title, said } = conversation;
    await createSession(tx, { id, agent: 'main', account: 'telegram', chatType: 'dm', userId });
    if (title !== undefined) await setTitle(tx, id, title);
    if (said !== undefined) await appendMessage(tx, { sessionId: id, turnId: null }, { role: 'user', content: said });
  });

eachStore((_engine, open) => {
  test('/usage says what a conversation has cost, as far as that is known', async () => {
    const { store } = await open();
    await begin(store);
    assert.match(await give(store, '/usage'), /\*\*Cost\*\* unknown/);
    const add = (usd: number, status: 'actual' | 'estimated'): Promise<void> => store.write((tx) => addTurnTotals(tx, 's1', { usage: { ...noUsage, inputTokens: 5, cost: { usd, status } }, model: 'm' }));
    await add(0.25, 'actual');
    assert.match(await give(store, '/usage'), /\*\*Cost\*\* \$0\.25\n/);
    await add(0.5, 'estimated');
    assert.match(await give(store, '/usage'), /\*\*Cost\*\* ~\$0\.75\n/);
  });

  test('/sessions numbers earlier conversations, and /resume takes the number that was seen', async () => {
    const { store, pass } = await open();
    assert.equal(await begin(store).then(() => give(store, '/sessions')), 'There is no earlier conversation of yours.');
    for (const id of ['s2', 's3']) {
      await earlier(store, { id, title: `Talk ${id}` });
      await pass(5);
    }
    await earlier(store, { id: 'other', userId: '8', title: 'Secret' });
    const list = await give(store, '/sessions');
    assert.match(list, /^1\. `s3` Talk s3 \(0 messages\)\n2\. `s2` Talk s2 \(0 messages\)\n/);
    assert.ok(!list.includes('Secret'));
    await pass(5);
    await earlier(store, { id: 's4' });
    assert.match(await give(store, '/resume 2'), /Back in `s2`/);
    assert.equal((await store.read((db) => boundSession(db, sessionKey)))?.sessionId, 's2');
    assert.match(await give(store, '/resume 9'), /No conversation of yours is called “9”/);
  });

  test('/sessions finds what was said and how conversations are called, only one’s own', async () => {
    const { store } = await open();
    await begin(store);
    await earlier(store, { id: 's2', said: 'the invoice of march' });
    await earlier(store, { id: 's3', title: 'Invoice_100%' });
    await earlier(store, { id: 'other', userId: '8', said: 'another invoice' });
    const found = await give(store, '/sessions search invoice');
    assert.match(found, /1\. `s3` Invoice_100%/);
    assert.match(found, /2\. `s2` [^\n]*\n {3}“the invoice of march”/);
    assert.ok(!found.includes('other'));
    assert.match(await give(store, '/resume 2'), /Back in `s2`/);
    assert.match(await give(store, '/sessions x_1'), /No conversation of yours has “x_1” in it/, 'wildcards are letters');
    assert.match(await give(store, '/sessions 100%'), /Invoice_100%/);
  });

  test('/steer waits as a message for the running turn, and is a plain message when none runs', async () => {
    const { store } = await open();
    await begin(store);
    assert.match(await give(store, '/steer'), /Usage/);
    assert.equal(await give(store, '/steer first', { event: sampleEvent() }), '');
    await run(store);
    assert.equal(await give(store, '/steer look left', { event: sampleEvent() }), '⏩ Noted, I take it into account.');
    const waiting = await store.read((db) => waitingItems(db, turnLane('s1'), 10));
    assert.deepEqual(waiting.map(({ event }) => [event.text, event.steers]), [['first', true], ['look left', true]]);
    assert.match(await give(store, '/steer more', { event: sampleEvent(), queueLimit: 2 }), /did not take this one/);
  });

  test('/history shows what was said last, in order and on one line each, without what tools answered', async () => {
    const { store } = await open();
    await begin(store);
    assert.equal(await give(store, '/history'), 'Nothing has been said yet.');
    await talk(store, 'one', 'two\n**Me:** fake');
    await store.write((tx) => appendMessage(tx, { sessionId: 's1', turnId: null }, { role: 'tool', content: 'a result', toolCallId: 'c', toolName: 't' }));
    assert.equal(await give(store, '/history 3'), '**Me:** re: one\n**You:** two **Me:** fake\n**Me:** re: two **Me:** fake');
    assert.equal((await give(store, '/history')).split('\n').length, 4);
    await talk(store, 'x'.repeat(1000));
    assert.ok((await give(store, '/history 1')).length < 400);
    for (const bad of ['0', '51', 'x']) assert.match(await give(store, `/history ${bad}`), /Usage/);
  });

  test('/model shows what answers, lists what there is, and changes it for the conversation', async () => {
    const { store } = await open();
    await begin(store);
    const settings = sampleSettings({ model: { provider: 'demo', default: 'big-1' } });
    const reach = sampleReach({ listModels: () => Promise.resolve(['big-1', 'small-1']) });
    assert.match(await give(store, '/model', { settings }), /^\*\*Model\*\* `big-1`\n/);
    assert.match(await give(store, '/model', { settings, reach }), /- `big-1`\n- `small-1`$/);
    assert.match(await give(store, '/model vendor/small-1:free', { settings }), /From the next answer on, this conversation uses `vendor\/small-1:free`/);
    assert.match(await give(store, '/model', { settings }), /`vendor\/small-1:free` in this conversation, `big-1` elsewhere/);
    assert.match(await give(store, '/model default', { settings }), /general model again, `big-1`/);
    assert.deepEqual(await settingsOf(store), {});
    for (const bad of ['a b', 'x;rm', '--global', 'default --global']) assert.match(await give(store, `/model ${bad}`, { settings }), /Usage/, bad);
  });

  test('/model refuses a provider that does not exist, and takes a tag of a model for one', async () => {
    const { store } = await open();
    await begin(store);
    const openai = sampleSettings({ model: { provider: 'openai', default: 'gpt-5-mini' } });
    const ollama = sampleSettings({ model: { provider: 'ollama', default: 'qwen3' } });
    const listing = (...names: readonly string[]) => sampleReach({ listModels: () => Promise.resolve(names), changeSetting: () => Promise.resolve(undefined) });
    const silent = sampleReach({ listModels: () => Promise.reject(new Error('not reached')) });
    const refused = /^There is no provider “nonsuch”, and no model `nonsuch:gpt`\. The providers are openai, openai-responses, anthropic, /;
    for (const reach of [listing('gpt-5-mini'), listing(), silent]) assert.match(await give(store, '/model nonsuch:gpt', { settings: openai, reach }), refused);
    assert.match(await give(store, '/model nonsuch:gpt --global', { settings: openai, reach: listing('gpt-5-mini') }), refused);
    assert.match(await give(store, '/model nonsuch:gpt', { settings: ollama, reach: listing('qwen3:8b') }), refused);
    assert.deepEqual(await settingsOf(store), {});
    for (const [name, settings, reach] of [
      ['qwen3:8b', ollama, listing('qwen3:8b')],
      ['qwen3:8b', ollama, silent],
      ['anthropic:claude-sonnet-5-5', openai, silent],
      ['ft:gpt-5-mini:us::1', openai, silent],
    ] as const) {
      assert.match(await give(store, `/model ${name}`, { settings, reach }), /this conversation uses/, name);
      assert.deepEqual(await settingsOf(store), { model: name });
    }
    assert.match(await give(store, '/model tag:1 --global', { settings: ollama, reach: listing('tag:1') }), /uses `tag:1` from now on/);
  });

  test('/model --global is for admins and goes to the configuration', async () => {
    const { store } = await open();
    await begin(store);
    const written: string[] = [];
    const reach = sampleReach({ changeSetting: (path, value) => Promise.resolve(void written.push(`${path}=${value}`)) });
    assert.match(await give(store, '/model other --global', { reach, access: anybody }), /Only admins/);
    assert.match(await give(store, '/model other --global'), /cannot write its configuration/);
    assert.match(await give(store, '/model other --global', { reach }), /uses `other` from now on/);
    assert.deepEqual(written, ['model.default=other']);
    assert.match(await give(store, '/model other --global', { reach: sampleReach({ changeSetting: () => Promise.resolve('no such model') }) }), /not written: no such model/);
    assert.deepEqual(await settingsOf(store), {});
  });

  test('/footer and /verbose are kept for the conversation', async () => {
    const { store } = await open();
    await begin(store);
    assert.match(await give(store, '/footer'), /is off\. It shows model, context_pct, cwd/);
    await give(store, '/footer on');
    assert.match(await give(store, '/footer status'), /is on/);
    assert.match(await give(store, '/footer maybe'), /Usage/);
    const cycle = async (): Promise<string | undefined> => {
      await give(store, '/verbose', { surface: 'terminal' });
      return (await settingsOf(store))?.toolProgress;
    };
    assert.match(await give(store, '/verbose all', { surface: 'terminal' }), /every tool call is shown in this conversation/);
    assert.deepEqual([await cycle(), await cycle(), await cycle(), await cycle()], ['verbose', 'off', 'new', 'all']);
    assert.match(await give(store, '/verbose loud', { surface: 'terminal' }), /none of off, new, all, verbose/);
    assert.deepEqual(await settingsOf(store), { footer: true, toolProgress: 'all' });
  });

  test('/sethome makes this very place the home of its account, and takes it back', async () => {
    const { store } = await open();
    await begin(store);
    const event = sampleEvent({ chat: { id: '-5', type: 'group', name: 'Team', threadId: '9' }, messageId: 'm1' });
    assert.match(await give(store, '/set-home', { event }), /come here from now on/);
    assert.deepEqual(await store.read((db) => findHome(db, 'telegram')), { account: 'telegram', name: 'Team', target: { account: 'telegram', chatId: '-5', chatType: 'group', threadId: '9' } });
    assert.match(await give(store, '/sethome off', { event }), /what the configuration says again/);
    assert.match(await give(store, '/sethome off', { event }), /No home chat/);
    assert.equal(await store.read((db) => findHome(db, 'telegram')), undefined);
  });

  test('/platform lists accounts and wishes something of them, but never cuts off its own chat', async () => {
    const { store } = await open();
    await begin(store);
    await store.write(async (tx) => {
      await saveStatus(tx, status('telegram', { name: 'hermes_bot' }));
      await saveStatus(tx, status('telegram@work', { state: 'waiting', error: 'refused sk-secret' }));
      await saveStatus(tx, status('slack', { state: 'disabled', error: 'token missing' }));
    });
    assert.equal(await give(store, '/platform'), '**Accounts**\n- `slack`, disabled: token missing\n- `telegram` as hermes_bot, connected\n- `telegram@work`, waiting: refused ***');
    assert.match(await give(store, '/platform pause telegram@work'), /rests/);
    assert.deepEqual(await store.read((db) => accountWish(db, 'telegram@work')), { paused: true, restarts: 0 });
    assert.match(await give(store, '/platform resume telegram@work'), /connects again/);
    assert.match(await give(store, '/platform restart telegram'), /connects anew/);
    assert.deepEqual(await store.read((db) => accountWish(db, 'telegram')), { paused: false, restarts: 1 });
    assert.match(await give(store, '/platform pause telegram'), /would cut off this very chat/);
    assert.match(await give(store, '/platform pause slack'), /disabled by its configuration/);
    assert.match(await give(store, '/platform pause matrix'), /There is no account `matrix`/);
    for (const bad of ['pause', 'explode telegram', 'list x', 'pause a b']) assert.match(await give(store, `/platform ${bad}`), /Usage/, bad);
  });

  test('/restart leaves a mark for the chat and restarts only after that is kept', async () => {
    const { store } = await open();
    await begin(store);
    assert.match(await give(store, '/restart'), /Nobody would start this gateway again/);
    assert.deepEqual(await store.write(takeRestartMarks), []);
    let restarts = 0;
    const reach = sampleReach({ restart: () => void (restarts += 1) });
    assert.match(await give(store, '/restart', { reach, asks: true }), /^ASKS Restart the gateway\?/);
    const { result, works } = await dispatchTo(store, '/restart', { reach, inboxId: 5 });
    assert.deepEqual([result.type === 'answer' ? result.text : '', works.length, restarts], ['🔄 Restarting. I say so here when I am back.', 1, 0]);
    assert.deepEqual(await store.write(takeRestartMarks), [{ inboxId: 5, target: sampleTarget({ chatId: '7' }) }]);
    assert.equal(await give(store, '/restart', { reach }), '🔄 Restarting. I say so here when I am back.');
    assert.equal(restarts, 1);
  });

  test('/debug reports versions, queues and what failed, without secrets', async () => {
    const { store } = await open();
    await begin(store);
    await store.write(async (tx) => {
      await saveStatus(tx, status('telegram', { state: 'refused', error: 'bad sk-secret' }));
      const turn = await startTurn(tx, { sessionId: 's1', lane: turnLane('s1'), target: sampleTarget() });
      await finishTurn(tx, turn.id, { state: 'done', reason: 'model_error', error: 'The model refused sk-secret', model: null, usage: noUsage });
      const fine = await startTurn(tx, { sessionId: 's1', lane: turnLane('s1'), target: sampleTarget() });
      await finishTurn(tx, fine.id, { state: 'done', reason: 'completed', error: null, model: null, usage: noUsage });
    });
    const report = await give(store, '/debug', { inboxId: 77 });
    assert.match(report, /1\.2\.3, Node 26/);
    assert.match(report, /\*\*Inbox\*\* nothing open\n\*\*Outbox\*\* nothing open\n\*\*Turns\*\* 0 running/);
    assert.match(report, /- telegram refused: bad \*\*\*/);
    assert.match(report, /turn \d+ of `s1`, model_error: The model refused \*\*\*/);
    assert.equal(report.match(/turn \d+ of/g)?.length, 1);
    assert.match(report, /in_77/);
    assert.ok(!report.includes('sk-secret'));
  });

  test('/save writes the conversation to a file only its owner can read, and sends it where files can be sent', async () => {
    const { store } = await open();
    await begin(store);
    const mediaFolder = await mkdtemp(join(tmpdir(), 'hermes-save-'));
    try {
      const reach = sampleReach({ mediaFolder });
      assert.equal(await give(store, '/save', { reach }), 'There is nothing to save yet.');
      await talk(store, 'my key is sk-secret');
      const said = await give(store, '/save', { reach });
      const path = /^💾 Saved as `(.+)`\.$/.exec(said)?.[1] ?? assert.fail(said);
      assert.ok(path.startsWith(join(mediaFolder, 'exports')));
      assert.match(await readFile(path, 'utf8'), /^# s1\n[^]*### user · [^]*my key is sk-secret[^]*### assistant/);
      assert.equal((await stat(path)).mode & 0o777, 0o600);
      const sent = await give(store, '/save json talk redact', { reach: { ...reach, sendsFiles: () => true } });
      const [media] = JSON.parse(sent.slice(sent.indexOf('['))) as [{ path: string; name: string; mime: string }];
      assert.deepEqual([media.name, media.mime], ['talk.json', 'application/json']);
      const saved = JSON.parse(await readFile(media.path, 'utf8')) as { id: string; messages: readonly { content: string }[] };
      assert.deepEqual([saved.id, saved.messages.map(({ content }) => content)], ['s1', ['my key is ***', 're: my key is ***']]);
      for (const bad of ['../../etc/passwd', 'json a b', 'pdf x']) assert.match(await give(store, `/save ${bad}`, { reach }), /Usage/, bad);
    } finally {
      await rm(mediaFolder, { recursive: true });
    }
  });
});

eachStore((_engine, open) => {
  test('a shell line of the owner answers with what it printed, and says how it ended', { skip: process.platform === 'win32' && 'there is no POSIX shell' }, async () => {
    const { store } = await open();
    await begin(store);
    const quick_commands = {
      hello: { type: 'exec', command: 'echo "hello $NAME, sk-secret"' },
      broken: { type: 'exec', command: 'echo oops >&2; exit 3' },
      silent: { type: 'exec', command: 'true' },
      fence: { type: 'exec', command: "printf '```\\nx\\n'" },
    };
    const reach = sampleReach({ childEnvironment: () => ({ PATH: '/usr/bin:/bin', NAME: 'Ada' }) });
    const settings = sampleSettings({ quick_commands });
    assert.equal(await give(store, '/hello', { settings, reach }), '```\nhello Ada, ***\n```');
    assert.equal(await give(store, '/broken', { settings, reach }), '⚠️ /broken ended with 3.\n```\noops\n```');
    assert.equal(await give(store, '/silent', { settings, reach }), '/silent printed nothing.');
    assert.equal(await give(store, '/fence', { settings, reach }), '````\n```\nx\n````');
  });
});
