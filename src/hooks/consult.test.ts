import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../lib/clock.ts';
import { consult } from './consult.ts';
import type { Asked, Decider } from './consult.ts';
import { hookEvents } from './events.ts';
import type { CommandContext } from './events.ts';
import { agentMatter, commandMatter, inboundMatter } from './matters.ts';

const clock = manualClock();
const refused: string[] = [];

const decider = (id: string, answer: unknown, onFailure: Decider['onFailure'] = 'pass'): Decider & { readonly seen: unknown[] } => {
  const seen: unknown[] = [];
  return {
    id,
    onFailure,
    seen,
    ask: (_event, context) => {
      seen.push(context);
      return Promise.resolve<Asked>(answer === 'fails' ? { type: 'failed', problem: 'no answer within 2 s' } : { type: 'answered', value: answer });
    },
    refuse: (problem) => void refused.push(`${id}: ${problem}`),
  };
};

const command: CommandContext = hookEvents['command:*'].sample;
const inbound = hookEvents['message:inbound'].sample;

test('the first hook with an opinion decides about a command, and nobody is asked after it', async () => {
  const last = decider('c', { decision: 'allow' });
  const { state, decisions, by } = await consult([decider('a', null), decider('b', { decision: 'deny', message: 'Not now.' }), last], commandMatter(command), clock);
  assert.deepEqual(state, { type: 'deny', by: 'b', message: 'Not now.' });
  assert.deepEqual(decisions, [{ step: 'hook a', verdict: 'command:new: no opinion' }, { step: 'hook b', verdict: 'command:new: denied' }]);
  assert.equal(by, 'b');
  assert.equal(last.seen.length, 0);
});

test('a command is allowed, handled and rewritten as its hook says', async () => {
  const verdict = async (answer: unknown) => (await consult([decider('a', answer)], commandMatter(command), clock)).state;
  assert.deepEqual(await verdict({ decision: 'allow' }), { type: 'allow' });
  assert.deepEqual(await verdict({ decision: 'handled', message: 'Done.' }), { type: 'handled', by: 'a', message: 'Done.' });
  assert.deepEqual(await verdict({ decision: 'rewrite', command_name: '/title', raw_args: 'Two words' }), { type: 'rewrite', by: 'a', text: '/title Two words' });
  assert.deepEqual(await verdict({ decision: 'rewrite', command_name: 'status' }), { type: 'rewrite', by: 'a', text: '/status' });
});

test('filters see the text as the one before them has left it, and a drop ends it', async () => {
  const [first, second, third, fourth] = [decider('a', { decision: 'replace', text: 'one' }), decider('b', { decision: 'pass' }), decider('c', { decision: 'drop', reason: 'spam' }), decider('d', null)];
  const { state, decisions } = await consult([first, second, third, fourth], inboundMatter(inbound), clock);
  assert.deepEqual([first.seen, second.seen, third.seen].map(([context]) => (context as { text: string }).text), [inbound.text, 'one', 'one']);
  assert.deepEqual(state, { type: 'drop', by: 'c', reason: 'spam', message: undefined });
  assert.deepEqual(decisions.map(({ verdict }) => verdict), ['message:inbound: replaced the text', 'message:inbound: passed', 'message:inbound: dropped, spam']);
  assert.equal(fourth.seen.length, 0);
});

test('without an answer things go on, unless the hook is one without which they may not', async () => {
  const text = async (onFailure: Decider['onFailure']) => consult([decider('guard', 'fails', onFailure)], inboundMatter(inbound), clock);
  const passed = await text('pass');
  assert.deepEqual(passed.state, { type: 'pass', text: inbound.text });
  assert.match(passed.decisions[0]?.verdict ?? '', /no answer \(no answer within 2 s\), goes on without it/);
  const blocked = await text('block');
  assert.equal(blocked.state.type, 'drop');
  assert.match(blocked.decisions[0]?.verdict ?? '', /dropped, for it gave no answer/);
  assert.equal((await consult([decider('guard', 'fails', 'block')], commandMatter(command), clock)).state.type, 'deny');
  assert.deepEqual((await consult([decider('guard', 'fails', 'block')], agentMatter(hookEvents['select_agent'].sample), clock)).state, {}, 'there is nothing to refuse');
});

test('an answer that is none counts as no answer', async () => {
  for (const answer of ['allow', { decision: 'maybe' }, { decision: 'replace' }, { decision: 'replace', text: '' }, { decision: 'drop', reason: 7 }, 42, [], { action: 'skip' }]) {
    refused.length = 0;
    const { state } = await consult([decider('guard', answer, 'block')], inboundMatter(inbound), clock);
    assert.equal(state.type, 'drop', JSON.stringify(answer));
    assert.equal(refused.length, 1, JSON.stringify(answer));
  }
  const unsafe = await consult([decider('guard', { decision: 'rewrite', command_name: 'two words' }, 'block')], commandMatter(command), clock);
  assert.equal(unsafe.state.type, 'deny');
});

test('an agent is named by a word or a field, and the first word counts', async () => {
  const agent = async (...answers: unknown[]) => (await consult(answers.map((answer, i) => decider(String(i), answer)), agentMatter(hookEvents['select_agent'].sample), clock)).state.agent;
  assert.equal(await agent(null, '', 'support', 'other'), 'support');
  assert.equal(await agent({ agent: 'support' }), 'support');
  assert.equal(await agent({ agent: null }), undefined);
});

test('all hooks of a decision together have ten seconds', async () => {
  const slow = (id: string): Decider => ({
    ...decider(id, null),
    async ask(_event, _context, limitMs) {
      limits.push(limitMs);
      await clock.advance(Math.min(limitMs, 4_000));
      return { type: 'answered', value: null };
    },
  });
  const limits: number[] = [];
  const { decisions } = await consult(['a', 'b', 'c', 'd'].map(slow), inboundMatter(inbound), clock);
  assert.deepEqual(limits, [10_000, 6_000, 2_000]);
  assert.match(decisions[3]?.verdict ?? '', /took too long/);
});
