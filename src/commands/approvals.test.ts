import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approvalQuestion, readDecision } from '../agent/approvals/approval-question.ts';
import type { ApprovalRequest } from '../agent/approvals/contract.ts';
import type { Question } from '../core/question.ts';
import { sampleEvent, sampleTarget } from '../../test/support/samples.ts';
import { eachStore } from '../../test/support/stores.ts';
import { everything, grantPatterns, grantsOf } from '../store/agents/grants.ts';
import { findQuestionByKey, keepQuestion, questionCode } from '../store/agents/questions.ts';
import type { Store } from '../store/store.ts';
import { approvals } from './approvals.ts';
import { approve } from './approve.ts';
import { anybody, begin, give, owner, sampleReach, sampleSettings } from './command-call.test-support.ts';
import type { CommandCall } from './contract.ts';
import { deny } from './deny.ts';
import { yolo } from './yolo.ts';

const commands = [approve, deny, approvals, yolo];
const request: ApprovalRequest = { tool: 'terminal', subject: '# in /w\nrm -r x', reasons: ['deletes folders'], pattern: 'rm -r' };

/** A question as a turn asks it. */
const ask = async (store: Store, key: string, facts: { readonly question?: Question; readonly sessionId?: string; readonly askerId?: string; readonly asked?: ApprovalRequest } = {}): Promise<string> => {
  const { question } = await store.write((tx) =>
    keepQuestion(tx, { key, sessionId: facts.sessionId ?? 's1', target: sampleTarget({ chatId: '7' }), askerId: facts.askerId ?? '7', question: facts.question ?? approvalQuestion(facts.asked ?? request, 60_000), purpose: { type: 'call', callId: key } }),
  );
  return questionCode(question.id);
};

const say = (store: Store, text: string, more: Partial<CommandCall> = {}): Promise<string> => give(store, text, { commands, ...more });

const answerOf = async (store: Store, key: string): Promise<unknown> => {
  const found = await store.read((db) => findQuestionByKey(db, key));
  if (found?.state !== 'answered' || found.answer === undefined) return found?.state;
  const decision = readDecision({ type: 'answered', value: found.answer.value, by: found.answer.by }, request);
  return decision.type === 'allowed' ? `${decision.reach} by ${decision.by}` : decision.reason;
};

eachStore((_engine, open) => {
  test('/approve allows the oldest once, for the session or for good, and says what', async () => {
    const { store } = await open();
    await begin(store);
    assert.equal(await say(store, '/approve'), 'Nothing waits for an approval.');
    const code = await ask(store, 'a');
    await ask(store, 'b');
    await ask(store, 'c');
    assert.equal(await say(store, '/approve'), `✅ Allowed once: \`rm -r x\` (\`#${code}\`)`);
    assert.match(await say(store, '/approve session'), /^✅ Allowed for this session: /);
    assert.match(await say(store, '/approve always'), /^✅ Always allowed: /);
    assert.deepEqual(await Promise.all(['a', 'b', 'c'].map((key) => answerOf(store, key))), ['once by 7', 'session by 7', 'always by 7']);
  });

  test('/approve always is for those who decide for everybody', async () => {
    const { store } = await open();
    await begin(store);
    await ask(store, 'a');
    assert.match(await say(store, '/approve always', { access: anybody }), /^⛔ Only admins/);
    assert.equal(await answerOf(store, 'a'), 'open');
    assert.match(await say(store, '/approve session', { access: anybody }), /^✅/);
  });

  test('/approve takes a code, or all of the conversation', async () => {
    const { store } = await open();
    await begin(store);
    const [a, b, c] = [await ask(store, 'a'), await ask(store, 'b'), await ask(store, 'c')];
    assert.match(await say(store, `/approve #${b}`), new RegExp(`#${b}`));
    assert.deepEqual([await answerOf(store, 'a'), await answerOf(store, 'b')], ['open', 'once by 7']);
    assert.equal((await say(store, '/approve all session')).split('\n').length, 2);
    assert.deepEqual([await answerOf(store, 'a'), await answerOf(store, 'c')], ['session by 7', 'session by 7']);
    assert.match(await say(store, `/approve ${a}`), /Nothing that you may decide about is open/);
    assert.match(await say(store, '/approve bananas and more'), /^Usage:/);
    assert.ok(c !== b);
  });

  test('/deny refuses with a reason that the agent hears', async () => {
    const { store } = await open();
    await begin(store);
    const code = await ask(store, 'a');
    await ask(store, 'b');
    assert.match(await say(store, '/deny not on a Friday'), new RegExp(`^⛔ Denied: .*#${code}`));
    assert.match(await say(store, '/deny all'), /^⛔ Denied/);
    assert.deepEqual([await answerOf(store, 'a'), await answerOf(store, 'b')], ['The person said no: not on a Friday. Do not try it in another way', 'The person said no. Do not try it in another way']);
    const other = await ask(store, 'c');
    assert.match(await say(store, `/deny #${other} use git instead`), /Denied/);
    assert.equal(await answerOf(store, 'c'), 'The person said no: use git instead. Do not try it in another way');
    assert.equal(await say(store, '/deny'), 'Nothing waits for an approval.');
  });

  test('nobody decides about what others have asked for, unless they are admins', async () => {
    const { store } = await open();
    await begin(store);
    const code = await ask(store, 'a', { askerId: '7' });
    const stranger = { access: anybody, event: sampleEvent({ chat: { id: '7', type: 'group' }, sender: { id: '8', isBot: false } }) };
    for (const text of ['/approve', `/approve #${code}`, '/approve all always', '/deny']) await say(store, text, stranger);
    assert.equal(await answerOf(store, 'a'), 'open');
    const own = { access: anybody, event: sampleEvent({ chat: { id: '7', type: 'group' }, sender: { id: '9', altId: '7', isBot: false } }) };
    assert.match(await say(store, '/approve', own), /Allowed once/);
    await ask(store, 'b', { askerId: '7' });
    assert.match(await say(store, '/approve', { ...stranger, access: { ...owner, isOwner: false } }), /Allowed once/);
  });

  test('another conversation of the chat needs the code, another chat cannot be reached at all', async () => {
    const { store } = await open();
    await begin(store);
    const code = await ask(store, 'a', { sessionId: 's2' });
    assert.equal(await say(store, '/approve'), `Nothing waits for an approval in this conversation. Elsewhere in this chat:\n- \`#${code}\` \`rm -r x\``);
    assert.match(await say(store, `/approve ${code}`, { event: sampleEvent({ chat: { id: '99', type: 'dm' }, sender: { id: '7', isBot: false } }) }), /Nothing that you may decide about/);
    assert.match(await say(store, `/approve ${code}`), /Allowed once/);
  });

  test('what can be allowed once only is not allowed for longer, and other questions are left alone', async () => {
    const { store } = await open();
    await begin(store);
    await ask(store, 'a', { asked: { ...request, widest: 'once' } });
    assert.match(await say(store, '/approve always'), /cannot be allowed for so long/);
    assert.equal(await answerOf(store, 'a'), 'open');
    await say(store, '/deny');
    await ask(store, 'b', { question: { text: 'Which colour?', options: [{ label: 'Red', value: 'red' }], answerer: 'asker', timeoutMs: 60_000 } });
    assert.equal(await say(store, '/approve'), 'Nothing waits for an approval.');
  });

  test('/approvals shows mode, grants and what waits', async () => {
    const { store } = await open();
    await begin(store);
    assert.match(await say(store, '/approvals'), /\*\*Mode\*\* manual: a person is asked .*\n\*\*Allowed in this conversation\*\* nothing\n\*\*Always allowed\*\* nothing\n\*\*Waiting\*\* nothing/);
    const code = await ask(store, 'a');
    await store.write((tx) => grantPatterns(tx, 's1', ['rm -r', everything].map((pattern) => ({ pattern, grantedBy: '7' }))));
    const settings = sampleSettings({ approvals: { mode: 'smart', deny: ['git push*'] }, command_allowlist: ['sudo'] });
    const shown = await say(store, '/approvals', { settings });
    assert.match(shown, /\*\*Mode\*\* smart/);
    assert.match(shown, /nobody is asked\*\* \(\/yolo off/);
    assert.match(shown, /\*\*Allowed in this conversation\*\* `rm -r`\n\*\*Always allowed\*\* `sudo`\n\*\*Never run\*\* `git push\*`/);
    assert.match(shown, new RegExp(`- \`#${code}\` \`rm -r x\`, \\d+ seconds left`));
  });

  test('/approvals revoke takes back what was allowed here, and for admins what is always allowed', async () => {
    const { store } = await open();
    await begin(store);
    const patterns = async (): Promise<readonly string[]> => (await store.read((db) => grantsOf(db, 's1'))).map((grant) => grant.pattern);
    await store.write((tx) => grantPatterns(tx, 's1', ['rm -r', 'sudo', 'git clean'].map((pattern) => ({ pattern, grantedBy: '7' }))));
    assert.equal(await say(store, '/approvals revoke rm -r'), 'I will ask again about `rm -r`.');
    assert.deepEqual(await patterns(), ['git clean', 'sudo']);
    assert.match(await say(store, '/approvals revoke bananas'), /not allowed here/);
    const written: (readonly string[])[] = [];
    const reach = sampleReach({ changeSetting: async (...setting) => void written.push(setting) });
    const settings = sampleSettings({ command_allowlist: ['sudo', 'dd'] });
    assert.equal(await say(store, '/approvals revoke sudo', { settings, reach }), 'I will ask again about `sudo`.');
    assert.deepEqual([written, await patterns()], [[['command_allowlist', '["dd"]']], ['git clean']]);
    assert.match(await say(store, '/approvals revoke dd', { settings, reach, access: anybody }), /for admins/);
    assert.match(await say(store, '/approvals revoke all', { settings }), /ask again about everything.*always allowed/s);
    assert.deepEqual(await patterns(), []);
    assert.match(await say(store, '/approvals nonsense'), /^Usage:/);
  });

  test('/yolo is for admins, warns first, and holds for one conversation until it is switched off', async () => {
    const { store } = await open();
    await begin(store);
    const patterns = async (): Promise<readonly string[]> => (await store.read((db) => grantsOf(db, 's1'))).map((grant) => grant.pattern);
    assert.match(await say(store, '/yolo', { access: anybody }), /for admins/);
    assert.match(await say(store, '/yolo', { asks: true }), /^ASKS ⚠️ \*\*Nobody would be asked/);
    assert.deepEqual(await patterns(), []);
    assert.match(await say(store, '/yolo'), /From now on I ask nobody/);
    assert.deepEqual(await patterns(), [everything]);
    assert.match(await say(store, '/yolo status'), /I ask nobody/);
    assert.match(await say(store, '/yolo', { asks: true }), /I ask again/);
    assert.deepEqual(await patterns(), []);
    assert.match(await say(store, '/yolo off'), /as always/);
    assert.match(await say(store, '/yolo maybe'), /^Usage:/);
  });
});
