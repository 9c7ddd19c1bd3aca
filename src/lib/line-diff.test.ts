import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lineDiff } from './line-diff.ts';

test('equal texts have no difference', () => assert.deepEqual(lineDiff('a\nb\n', 'a\nb\n'), []));

test('a changed line is shown as taken and given, with what stands around it', () => {
  assert.deepEqual(lineDiff('1\n2\n3\n4\n5\n6\n7\n', '1\n2\n3\nfour\n5\n6\n7\n'), ['  2', '  3', '- 4', '+ four', '  5', '  6']);
});

test('changes far apart are shown apart', () => {
  const lines = Array.from({ length: 20 }, (_, i) => String(i));
  const changed = lines.with(1, 'x').with(18, 'y');
  assert.deepEqual(lineDiff(lines.join('\n'), changed.join('\n')), ['  0', '- 1', '+ x', '  2', '  3', '  …', '  16', '  17', '- 18', '+ y', '  19']);
});

test('what is shown turns one text into the other', () => {
  const a = 'model: demo\ntimezone: UTC\n\nhttp:\n  port: 1\n';
  const b = 'model: demo\n\nhttp:\n  port: 1\ncron:\n  timezone: UTC\n';
  const shown = lineDiff(a, b);
  assert.deepEqual(shown.filter((line) => line.startsWith('- ')), ['- timezone: UTC']);
  assert.deepEqual(shown.filter((line) => line.startsWith('+ ')), ['+ cron:', '+   timezone: UTC']);
});
