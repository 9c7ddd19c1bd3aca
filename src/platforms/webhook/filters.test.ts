import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstUnmet } from './filters.ts';
import { webhookOptions } from './options.ts';
import type { Condition } from './options.ts';

const payload = { action: 'opened', draft: false, none: null, labels: ['bug', 'ui'], pr: { title: 'Fix the door', user: { login: 'bob' } }, n: 3 };

const conditions = (filters: readonly unknown[]): readonly Condition[] => webhookOptions.parse({ routes: { r: { secret: 'long enough', filters } } }).routes['r']?.filters ?? [];

const holds = (...filters: readonly unknown[]): boolean => firstUnmet(conditions(filters), payload) === undefined;

test('each test says what it says', () => {
  const expected: readonly (readonly [unknown, boolean])[] = [
    [{ path: 'pr.title', exists: true }, true],
    [{ path: 'pr.nothing', exists: true }, false],
    [{ path: 'pr.nothing', exists: false }, true],
    [{ path: 'none', exists: true }, true],
    [{ path: 'none', equals: null }, true],
    [{ path: 'draft', equals: false }, true],
    [{ path: 'draft', equals: 'false' }, false],
    [{ path: 'action', not_equals: 'closed' }, true],
    [{ path: 'action', not_equals: 'opened' }, false],
    [{ path: 'labels', contains: 'bug' }, true],
    [{ path: 'labels', contains: 'bu' }, false],
    [{ path: 'pr.title', contains: 'the' }, true],
    [{ path: 'n', in: [1, 2, 3] }, true],
    [{ path: 'n', in: ['3'] }, false],
    [{ path: 'labels.1', equals: 'ui' }, true],
    [{ path: 'pr.title', regex: '^Fix\\b' }, true],
    [{ path: 'pr.title', regex: '^fix' }, false],
    [{ path: 'n', regex: '3' }, false],
    [{ path: 'pr.title', contains: 'Fix', regex: 'door$' }, true],
    [{ path: 'pr.title', contains: 'Fix', regex: 'wall$' }, false],
  ];
  for (const [filter, outcome] of expected) assert.equal(holds(filter), outcome, JSON.stringify(filter));
});

test('conditions are put together with all, any and not', () => {
  const [yes, no] = [{ path: 'n', equals: 3 }, { path: 'n', equals: 4 }];
  assert.deepEqual([holds({ all: [yes, no] }), holds({ any: [yes, no] }), holds({ any: [no] }), holds({ not: no }), holds({ not: yes }), holds(yes, no)], [false, true, false, true, false, false]);
  assert.equal(firstUnmet(conditions([yes, no]), payload), 2);
});

test('a condition that asks for nothing is refused', () => {
  for (const filter of [{}, { path: 'a' }, { equals: 1 }, { not: {} }, { any: [] }, { path: 'a', regex: '(' }]) assert.throws(() => conditions([filter]), JSON.stringify(filter));
});

test('an expression that would never end is broken off, and the call is not taken for one that nobody wants', () => {
  assert.throws(() => firstUnmet(conditions([{ path: 'text', regex: '^(a+)+$' }]), { text: `${'a'.repeat(60)}!` }), { code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' });
});
