import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { changedLines } from './changed-lines.ts';

test('changes are shown with the line where each begins', () => {
  assert.equal(changedLines('a\nb\nc\nd\ne\n', 'a\nB\nc\nd\ne\nf\n', 20), '@@ line 2\n-b\n+B\n@@ line 6\n+f');
  assert.equal(changedLines('', 'new\n', 20), '@@ line 1\n+new');
  assert.equal(changedLines('same\n', 'same\n', 20), '');
  assert.equal(changedLines('1\n2\n3\n4\n', '', 2), '@@ line 1\n-1\n… 3 more lines');
});

test('what is taken out and put in turns one text into the other', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 });
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const text = (each: readonly string[]): string => each.map((line) => `${line}\n`).join('');
      const shown = changedLines(text(before), text(after), 1000).split('\n');
      const count = (mark: string): number => shown.filter((line) => line.startsWith(mark)).length;
      assert.equal(before.length - count('-') + count('+'), after.length);
    }),
  );
});
