import assert from 'node:assert/strict';
import { test } from 'node:test';
import { styleText } from 'node:util';
import { table } from './environment.ts';

test('columns are as wide as they are seen, whatever colours and characters are in them', () => {
  const green = styleText('green', 'on', { validateStream: false });
  const dim = styleText('dim', 'off', { validateStream: false });
  assert.deepEqual(table([['a', green, 'x'], ['日本', dim, 'y'], ['abc', '', 'z']]).split('\n'), [`a     ${green}   x`, `日本  ${dim}  y`, 'abc        z']);
});

test('what others call themselves is one line, and nothing that a terminal obeys', () => {
  assert.equal(table([['Eve\n\u001b[2J\u001b[8m\u001b]0;owned\u0007', 'b']]), 'Eve   b');
});
