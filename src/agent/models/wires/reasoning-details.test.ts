import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newReasoningDetails } from './reasoning-details.ts';

test('pieces of one detail grow together; another type or index begins another', () => {
  const details = newReasoningDetails();
  details.take([{ type: 'reasoning.text', index: 0, text: 'they ', format: 'f' }]);
  details.take([{ type: 'reasoning.text', index: 0, text: 'greet', signature: null }]);
  details.take([{ type: 'reasoning.text', index: 0, signature: 'SEALED' }]);
  details.take([{ type: 'reasoning.encrypted', index: 1, data: 'AA' }, 'nonsense']);
  assert.deepEqual(details.all(), [
    { type: 'reasoning.text', index: 0, text: 'they greet', format: 'f', signature: 'SEALED' },
    { type: 'reasoning.encrypted', index: 1, data: 'AA' },
  ]);
});

test('nothing is nothing', () => {
  const details = newReasoningDetails();
  details.take(undefined);
  details.take([]);
  assert.equal(details.all(), undefined);
});
