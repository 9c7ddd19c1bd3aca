import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { closeContext, contextBudget, emptyContext, extendContext, rowSizeBytes } from './context.ts';
import type { ContextRow } from './context.ts';

/** 40 bytes are 10 tokens, and every row costs 10 more. */
const row = (role: ContextRow['role'], sizeBytes = 40): ContextRow => ({ role, sizeBytes });
const exchange = [row('assistant'), row('user')];
const withTools = [row('assistant'), row('tool'), row('tool'), row('assistant'), row('user')];

test('whole exchanges are taken until the budget is used up', () => {
  const window = extendContext(emptyContext(130), [...exchange, ...withTools, ...exchange]);
  assert.equal(window.keep, 2);
  assert.equal(window.keepTokens, 40);
  assert.ok(window.full);
  assert.equal(extendContext(emptyContext(140), [...exchange, ...withTools, ...exchange]).keep, 7);
});

test('the newest exchange is kept although it is over the budget', () => {
  const window = extendContext(emptyContext(50), [row('tool', 4000), row('assistant'), row('user'), ...exchange]);
  assert.equal(window.keep, 3);
  assert.ok(window.full);
});

test('a history that fits is kept whole, also when it begins with a message of ours', () => {
  const window = closeContext(extendContext(emptyContext(1000), [...exchange, row('assistant')]));
  assert.equal(window.keep, 3);
  const tight = closeContext(extendContext(emptyContext(50), [...exchange, row('assistant')]));
  assert.equal(tight.keep, 2);
});

test('images count', () => {
  assert.equal(extendContext(emptyContext(1000), [...exchange, row('assistant'), { ...row('user'), images: 1 }]).keep, 2);
});

const history = fc.array(fc.tuple(fc.constantFrom('user', 'assistant', 'tool' as const), fc.nat(400)).map(([role, size]) => row(role as ContextRow['role'], size)), {
  maxLength: 40,
});

test('where the pages are cut does not matter, and a cut history begins at a user message within the budget', () => {
  fc.assert(
    fc.property(history, fc.nat(2000), fc.integer({ min: 1, max: 10 }), (rows, budget, pageSize) => {
      let paged = emptyContext(budget);
      for (let at = 0; at < rows.length && !paged.full; at += pageSize) paged = extendContext(paged, rows.slice(at, at + pageSize));
      paged = closeContext(paged);
      assert.deepEqual(paged, closeContext(extendContext(emptyContext(budget), rows)));
      if (paged.keep === rows.length) return;
      assert.equal(rows[paged.keep - 1]?.role, 'user');
      const isNewestExchange = rows.findIndex(({ role }) => role === 'user') === paged.keep - 1;
      assert.ok(paged.keepTokens <= budget || isNewestExchange);
    }),
    { numRuns: 1000 },
  );
});

test('the budget leaves room for the answer, the prompt and the tools', () => {
  assert.equal(contextBudget({ fixedBytes: 4000 }), 128_000 - 8192 - 1000);
  assert.equal(contextBudget({ contextTokens: 4096, outputTokens: 100_000, fixedBytes: 0 }), 2048);
  assert.equal(contextBudget({ contextTokens: 1024, fixedBytes: 1_000_000 }), 0);
});

test('the size of a row is what the model reads of it, in bytes', () => {
  assert.equal(rowSizeBytes({ role: 'user', content: '你好' }), 6);
  assert.equal(rowSizeBytes({ role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'bc', arguments: '{}' }] }), 5);
});
