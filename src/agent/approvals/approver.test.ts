import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { ModelError } from '../../core/errors.ts';
import type { Answer, Question } from '../../core/question.ts';
import { noUsage } from '../../core/transcript.ts';
import { silentLogger } from '../../lib/logger.ts';
import { everything, grantPatterns, grantsOf } from '../../store/agents/grants.ts';
import type { Store } from '../../store/store.ts';
import type { ToolContext } from '../tools/contract.ts';
import { approvalSettings, fakeContext } from '../tools/terminal/terminal.test-support.ts';
import { newApprover } from './approver.ts';
import type { ApproverDeps } from './approver.ts';
import type { ApprovalRequest, ApprovalVerdict } from './contract.ts';

const request: ApprovalRequest = { tool: 'terminal', subject: 'rm -r x', reasons: ['deletes folders'], pattern: 'rm -r', morePatterns: ['git clean'] };
const never = new AbortController().signal;

const approver = (store: Store, deps: Partial<ApproverDeps> = {}): ((request: ApprovalRequest, context: ToolContext) => Promise<ApprovalVerdict>) => {
  const approve = newApprover({ store, log: silentLogger, settings: () => approvalSettings(), attended: () => true, keepAlways: async () => undefined, ...deps });
  return (asked, context) => approve(asked, context, never);
};

const choosing = (choice: 'once' | 'session' | 'always' | 'deny') => fakeContext({ answer: (question) => ({ type: 'answered', value: question.options.find((option) => option.value.startsWith(choice))?.value ?? 'none', by: 'ada' }) });
const answering = (answer: Answer) => fakeContext({ answer: () => answer });
const saying = (text: string): NonNullable<ApproverDeps['complete']> => async () => ({ text, usage: noUsage, model: 'm' });

eachStore((_engine, open) => {
  test('a person is asked about exactly this, with four answers, and no answer means no', async () => {
    const { store } = await open();
    const context = answering({ type: 'expired' });
    const verdict = await approver(store)(request, context);
    assert.ok(!verdict.allowed && /Nobody answered in time/.test(verdict.reason));
    const [question] = context.questions;
    assert.equal(question?.text, '⚠️ **May I do this?** (terminal)\n\n```\nrm -r x\n```\n\nThis deletes folders.\nWhat is allowed for longer is everything of this kind: `rm -r` and `git clean`.\nNo answer within 5 minutes means no.');
    assert.deepEqual(question?.options.map((option) => option.label), ['Allow once', 'Allow for this session', 'Always allow', 'Deny']);
    assert.deepEqual([question?.answerer, question?.timeoutMs], ['approver', 300_000]);
    const words = question?.options.flatMap((option) => option.words ?? []) ?? [];
    assert.equal(new Set(words).size, words.length);
    assert.ok(['yes', 'y', 'approve', 'no', 'deny', 'always', 'session'].every((word) => words.includes(word)));
  });

  test('once is once: the next time the person is asked again', async () => {
    const { store } = await open();
    const approve = approver(store);
    assert.deepEqual(await approve(request, choosing('once')), { allowed: true, how: 'once' });
    const again = choosing('deny');
    const verdict = await approve(request, again);
    assert.ok(!verdict.allowed && /said no\. Do not try it in another way/.test(verdict.reason));
    assert.equal(again.questions.length, 1);
    assert.deepEqual(await store.read((db) => grantsOf(db, 's1')), []);
  });

  test('an answer that was given to another request does not count for this one', async () => {
    const { store } = await open();
    const first = answering({ type: 'expired' });
    await approver(store)(request, first);
    const value = first.questions[0]?.options[0]?.value ?? '';
    for (const other of [{ ...request, subject: 'rm -r y' }, { ...request, tool: 'write_file' }, { ...request, subject: 'rm -r x ' }]) {
      const verdict = await approver(store)(other, answering({ type: 'answered', value, by: 'ada' }));
      assert.ok(!verdict.allowed && /given for something else/.test(verdict.reason));
    }
    assert.equal((await approver(store)(request, answering({ type: 'answered', value, by: 'ada' }))).allowed, true);
    for (const forged of ['once', 'once:', 'always', 'yes', '', 'once:0', 'sure']) assert.equal((await approver(store)(request, answering({ type: 'answered', value: forged, by: 'ada' }))).allowed, false, forged);
  });

  test('what is allowed for the session holds for the session, all classes of it, after a restart too', async () => {
    const { store, another } = await open();
    assert.deepEqual(await approver(store)(request, choosing('session')), { allowed: true, how: 'session' });
    const later = approver(await another());
    const silent = choosing('deny');
    assert.deepEqual(await later({ ...request, subject: 'rm -r other' }, silent), { allowed: true, how: 'session' });
    assert.deepEqual(await later({ ...request, morePatterns: [] }, silent), { allowed: true, how: 'session' });
    assert.equal(silent.questions.length, 0);
    assert.equal((await later({ ...request, morePatterns: ['sudo'] }, silent)).allowed, false);
    assert.equal((await later(request, fakeContext({ sessionId: 's2' }))).allowed, false);
    assert.deepEqual((await store.read((db) => grantsOf(db, 's1'))).map((grant) => [grant.pattern, grant.grantedBy]), [['git clean', 'ada'], ['rm -r', 'ada']]);
  });

  test('what is allowed for good is written down, and read from there', async () => {
    const { store } = await open();
    const kept: (readonly string[])[] = [];
    const approve = approver(store, { keepAlways: async (patterns) => void kept.push(patterns) });
    assert.deepEqual(await approve(request, choosing('always')), { allowed: true, how: 'always' });
    assert.deepEqual(kept, [['rm -r', 'git clean']]);
    const reading = approver(store, { settings: () => approvalSettings({ allowlist: ['rm -r', 'git clean'] }) });
    const elsewhere = fakeContext({ sessionId: 's9' });
    assert.deepEqual(await reading(request, elsewhere), { allowed: true, how: 'always' });
    assert.equal(elsewhere.questions.length, 0);
    assert.equal((await reading({ ...request, morePatterns: ['sudo'] }, elsewhere)).allowed, false);
  });

  test('what cannot be written down holds for the session at least', async () => {
    const { store } = await open();
    assert.deepEqual(await approver(store, { keepAlways: async () => 'config.yaml is read-only' })(request, choosing('always')), { allowed: true, how: 'session' });
  });

  test('what nobody can foresee is approved once at a time', async () => {
    const { store } = await open();
    const context = choosing('once');
    await approver(store)({ ...request, widest: 'once' }, context);
    assert.deepEqual(context.questions[0]?.options.map((option) => option.label), ['Allow once', 'Deny']);
    assert.ok(!context.questions[0]?.text.includes('for longer'));
    const session = choosing('once');
    await approver(store)({ ...request, widest: 'session' }, session);
    assert.equal(session.questions[0]?.options.length, 3);
  });

  test('in mode off, and after /yolo, nobody is asked', async () => {
    const { store } = await open();
    const context = choosing('deny');
    assert.deepEqual(await approver(store, { settings: () => approvalSettings({ mode: 'off' }) })(request, context), { allowed: true, how: 'mode' });
    await store.write((tx) => grantPatterns(tx, 's1', [{ pattern: everything, grantedBy: 'ada' }]));
    assert.deepEqual(await approver(store)({ ...request, widest: 'once' }, context), { allowed: true, how: 'mode' });
    assert.equal(context.questions.length, 0);
    assert.equal((await approver(store)(request, fakeContext({ sessionId: 's2' }))).allowed, false);
  });

  test('where nobody can be asked it is denied, unless the owner has said otherwise', async () => {
    const { store } = await open();
    const attended = (): boolean => false;
    const here = choosing('once');
    const verdict = await approver(store, { attended })(request, here);
    assert.ok(!verdict.allowed && /nobody can be asked here \(approvals\.unattended_mode/.test(verdict.reason));
    assert.equal(here.questions.length, 0);
    const job = fakeContext({ sessionId: 'cron_1' });
    const settings = (): ReturnType<typeof approvalSettings> => approvalSettings({ cron_mode: 'approve' });
    assert.deepEqual(await approver(store, { attended, settings })(request, job), { allowed: true, how: 'mode' });
    assert.equal((await approver(store, { attended, settings })(request, here)).allowed, false);
    assert.equal((await approver(store)(request, answering({ type: 'unattended' }))).allowed, false);
    const smart = approver(store, { attended, settings: () => approvalSettings({ mode: 'smart' }), complete: saying('ALLOW') });
    assert.equal((await smart(request, here)).allowed, false);
  });

  test('a model decides what is clear, a person the rest', async () => {
    const { store } = await open();
    const settings = (): ReturnType<typeof approvalSettings> => approvalSettings({ mode: 'smart' });
    const silent = choosing('deny');
    assert.deepEqual(await approver(store, { settings, complete: saying('ALLOW') })(request, silent), { allowed: true, how: 'mode' });
    const refused = await approver(store, { settings, complete: saying('DENY') })(request, silent);
    assert.ok(!refused.allowed && /too dangerous: it deletes folders/.test(refused.reason));
    assert.equal(silent.questions.length, 0);
    const failing: NonNullable<ApproverDeps['complete']> = async () => {
      throw new ModelError('overloaded', 'busy');
    };
    for (const complete of [saying('ASK'), saying('Sure, allow'), failing]) {
      const asked = choosing('once');
      assert.deepEqual(await approver(store, { settings, complete })(request, asked), { allowed: true, how: 'once' });
      assert.equal(asked.questions.length, 1);
    }
    const hidden = choosing('once');
    await approver(store, { settings, complete: saying('ALLOW') })({ ...request, widest: 'once' }, hidden);
    assert.equal(hidden.questions.length, 1);
  });

  test('after several refusals in a row the agent is told to stop', async () => {
    const { store } = await open();
    const approve = approver(store, { settings: () => approvalSettings({ mode: 'smart' }), complete: saying('DENY') });
    const reasons: string[] = [];
    for (let i = 0; i < 3; i += 1) {
      const verdict = await approve(request, fakeContext());
      if (!verdict.allowed) reasons.push(verdict.reason);
    }
    assert.deepEqual(reasons.map((reason) => /stop trying/.test(reason)), [false, false, true]);
  });

  test('a long or strange subject is shown as it is, and bound as a whole', async () => {
    const { store } = await open();
    const asked: Question[] = [];
    for (const tail of ['1', '2']) {
      const context = answering({ type: 'expired' });
      await approver(store)({ ...request, subject: `echo \u202e${'x'.repeat(9000)}${tail}` }, context);
      asked.push(...context.questions);
    }
    assert.match(asked[0]?.text ?? '', /echo ⟨U\+202E⟩x+\n⟨… \d+ of \d+ characters not shown …⟩\nx+1\n/);
    assert.notEqual(asked[0]?.options[0]?.value, asked[1]?.options[0]?.value);
  });
});
