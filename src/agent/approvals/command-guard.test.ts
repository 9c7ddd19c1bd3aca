import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approvalSettings, fakeContext } from '../tools/terminal/terminal.test-support.ts';
import { newCommandGuard } from './command-guard.ts';
import type { GuardVerdict, GuardedCommand } from './command-guard.ts';
import type { ApprovalRequest } from './contract.ts';

const judge = async (command: string, more: Partial<GuardedCommand> & { readonly deny?: string[]; readonly owner?: string } = {}): Promise<{ readonly verdict: GuardVerdict; readonly asked: readonly ApprovalRequest[] }> => {
  const { deny = [], owner, ...facts } = more;
  const asked: ApprovalRequest[] = [];
  const guard = newCommandGuard({
    approve: async (request) => {
      asked.push(request);
      return { allowed: true, how: 'once' };
    },
    settings: () => approvalSettings({ deny }),
    facts: { home: '/home/ada', parentPid: 9, gateway: { home: '/home/ada/.hermes', pid: 9, commandLine: 'node hermes' } },
    isOwner: ({ userId }) => userId === owner,
  });
  return { verdict: await guard({ command, cwd: '/w', dialect: 'bash', background: false, isolated: false, ...facts }, fakeContext(), new AbortController().signal), asked };
};

test('what does no harm is allowed without a question', async () => {
  assert.deepEqual(await judge('ls'), { verdict: { allowed: true }, asked: [] });
});

test('what may do harm is asked about with folder, reasons and classes', async () => {
  const { verdict, asked } = await judge('rm -r x && sudo ls', { background: true });
  assert.deepEqual(verdict, { allowed: true, how: 'once' });
  assert.deepEqual(asked, [{ tool: 'terminal', subject: '# in /w, in the background\nrm -r x && sudo ls', reasons: ['deletes folders with everything in them', "runs with somebody else's rights"], pattern: 'rm -r', morePatterns: ['sudo'], widest: 'always' }]);
});

test('one part that nobody can foresee makes the whole approvable once only', async () => {
  assert.equal((await judge('rm -r x; $y')).asked[0]?.widest, 'once');
  assert.equal((await judge("x='$(id)'; rm -r y")).asked[0]?.widest, 'session');
});

test('the floor and the list of the owner come before every approval, in a sandbox too', async () => {
  for (const isolated of [false, true]) {
    const floor = await judge('rm -rf /', { isolated });
    assert.ok(!floor.verdict.allowed && /never run here/.test(floor.verdict.reason));
    const denied = await judge('cd x && curl https://a', { isolated, deny: ['curl *'] });
    assert.ok(!denied.verdict.allowed && denied.verdict.reason.includes('approvals.deny: "curl *"'));
    assert.deepEqual([...floor.asked, ...denied.asked], []);
  }
});

test('the gateway ends or starts anew for its owner only, who is asked', async () => {
  const { sender } = fakeContext().place;
  const refused = await judge('hermes gateway restart', { owner: 'somebody else' });
  assert.ok(!refused.verdict.allowed && /Only the owner of the gateway/.test(refused.verdict.reason));
  assert.deepEqual(refused.asked, []);
  assert.deepEqual((await judge('cd x && hermes gateway stop', { owner: sender?.id ?? '' })).asked.map((request) => request.pattern), ['gateway restart']);
});

test('in a sandbox that reaches nothing, harm is nobody else’s', async () => {
  assert.deepEqual(await judge('rm -rf x', { isolated: true }), { verdict: { allowed: true }, asked: [] });
});

test('a shell that reads differently makes doubtful what it reads differently', async () => {
  assert.deepEqual((await judge("echo $'a'", { dialect: 'posix' })).asked.map((request) => request.pattern), ['unreadable']);
  assert.deepEqual((await judge("echo $'a'")).asked, []);
});
