import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { noUsage } from '../core/transcript.ts';
import type { TranscriptMessage } from '../core/transcript.ts';
import { closeContext, emptyContext, extendContext, newPromptMeter, toolsSizeBytes, trustedTokens, windowOf } from './context.ts';
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

test('a model that says nothing about itself has a window of 128k, and never more than half of it is left for the answer', () => {
  assert.deepEqual(windowOf({}), { windowTokens: 128_000, outputTokens: 8192 });
  assert.deepEqual(windowOf({ contextTokens: 4096, outputTokens: 100_000 }), { windowTokens: 4096, outputTokens: 2048 });
});

test('the definitions of tools are counted as they are sent', () => {
  assert.equal(toolsSizeBytes([{ name: 'a', description: 'ß', parameters: {} }]), '{"name":"a","description":"ss","parameters":{}}'.length);
});

const said = (content: string): TranscriptMessage => ({ role: 'user', content });

test('what the model counted takes the place of the estimate, and only what came later is estimated', () => {
  const rows = [said('x'.repeat(400))];
  const meter = newPromptMeter(150, rows);
  assert.equal(meter.tokens(rows), 150);
  meter.answered({ ...noUsage, inputTokens: 90 }, rows);
  assert.equal(meter.tokens(rows), 90);
  rows.push(said('x'.repeat(40)));
  assert.equal(meter.tokens(rows), 110);
  assert.equal(meter.tokens(rows), 110);
  meter.restart(30, rows.slice(1));
  assert.equal(meter.tokens([said('a'), said('x'.repeat(40))]), 50);
});

test('a count that cannot be one is not believed', () => {
  assert.equal(trustedTokens(100, 401), 401);
  assert.equal(trustedTokens(100, 400), 100);
  assert.equal(trustedTokens(0, 40), 40);
  const rows = [said('x'.repeat(4000))];
  const meter = newPromptMeter(1000, rows);
  meter.answered(noUsage, rows);
  assert.equal(meter.tokens(rows), 1000);
});
