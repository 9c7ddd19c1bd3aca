import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ToolError } from '../contract.ts';
import { applyHunks } from './apply-hunks.ts';
import { parsePatch } from './parse-patch.ts';

const patchOf = (...lines: string[]): string => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');
const applied = (text: string, ...lines: string[]): string => {
  const [patch] = parsePatch(patchOf('*** Update File: a', ...lines));
  assert.ok(patch?.type === 'update');
  return applyHunks(text, patch.hunks, 'a');
};
const refused = (work: () => unknown, message: RegExp): void => {
  assert.throws(work, (error) => error instanceof ToolError && message.test(error.message));
};

test('a patch names files to add, delete, move and update', () => {
  const patch = patchOf('*** Add File: new.txt', '+one', '+', '*** Delete File: old.txt', '', '*** Update File: src/a b.ts', '*** Move to: src/c.ts', '@@ class A', '@@ f()', ' kept', '-gone', '+here', '*** End of File');
  assert.deepEqual(parsePatch(`apply this:\n${patch}\n`), [
    { type: 'add', path: 'new.txt', text: 'one\n\n' },
    { type: 'delete', path: 'old.txt' },
    { type: 'update', path: 'src/a b.ts', moveTo: 'src/c.ts', hunks: [{ anchors: ['class A', 'f()'], lines: [' kept', '-gone', '+here'], atEnd: true, line: 10 }] },
  ]);
});

test('a path that climbs is refused, in every place where one may stand', () => {
  for (const line of ['*** Add File: ../x', '*** Delete File: a/../../x', '*** Update File: ..', '*** Update File: a\\..\\x']) refused(() => parsePatch(patchOf(line, '+x')), /must not contain "\.\."/);
  refused(() => parsePatch(patchOf('*** Update File: a', '*** Move to: ../../b', '-x')), /must not contain/);
});

test('a patch that is cut off or not one is refused with the line that is wrong', () => {
  refused(() => parsePatch('*** Begin Patch\n*** Delete File: a\n'), /must end with/);
  refused(() => parsePatch('--- a\n+++ b\n'), /must begin with/);
  refused(() => parsePatch(patchOf()), /names no file/);
  refused(() => parsePatch(patchOf('*** Rename File: a')), /Line 2 of the patch/);
  refused(() => parsePatch(patchOf('*** Update File: a', '@@', ' x')), /changes nothing/);
  refused(() => parsePatch(patchOf('*** Update File: a', '@@', '!x')), /Line 4 of the patch: begin every line/);
  refused(() => parsePatch(patchOf('*** Add File: a', 'x')), /begins with "\+"/);
});

test('lines are replaced where the old ones stand, and the rest stays', () => {
  assert.equal(applied('a\nb\nc\nd\n', '@@', ' a', '-b', '+B', ' c'), 'a\nB\nc\nd\n');
  assert.equal(applied('a\nb\nc\nd\ne\n', ' a', '-b', '@@', ' d', '+x', ' e'), 'a\nc\nd\nx\ne\n');
  assert.equal(applied('a\nb', '-b', '+c'), 'a\nc', 'a file without a last line feed keeps none');
});

test('an empty line in a part is an unchanged empty line', () => {
  assert.equal(applied('a\n\nb\n', ' a', '', '-b', '+c'), 'a\n\nc\n');
});

test('lines that occur twice are refused, unless an anchor or the order says which', () => {
  refused(() => applied('x\ny\nx\ny\n', '-x', '+z'), /occur 2 times \(lines 1, 3\)/);
  assert.equal(applied('A\nx\nB\nx\n', '@@ B', '-x', '+z'), 'A\nx\nB\nz\n');
  assert.equal(applied('A\nf\nx\nB\nf\nx\n', '@@ B', '@@ f', '-x', '+z'), 'A\nf\nx\nB\nf\nz\n');
  assert.equal(applied('x\nm\nx\n', ' m', '+n', '@@', '-x', '+z'), 'x\nm\nn\nz\n');
  refused(() => applied('B\nx\nB\nx\n', '@@ B', '-x', '+z'), /2 lines are "B" \(1, 3\)/);
});

test('new lines without old ones need to know their place', () => {
  assert.equal(applied('a\nb\n', '@@ a', '+x'), 'a\nx\nb\n');
  assert.equal(applied('a\n', '+x', '*** End of File'), 'a\nx\n');
  assert.equal(applied('', '+x'), 'x\n');
  refused(() => applied('a\n', '+x'), /need a few unchanged lines/);
});

test('the end of the file is meant when it is said', () => {
  assert.equal(applied('x\ny\nx\n', '-x', '+z', '*** End of File'), 'x\ny\nz\n');
  refused(() => applied('x\ny\n', '-x', '+z', '*** End of File'), /at the end of the file/);
});

test('white space and indentation may differ; unchanged lines stay as the file has them and new ones are moved along', () => {
  assert.equal(applied('if (a) {  \n\tb();\n}\n', ' if (a) {', '-    b();', '+    c();', '+      d();', ' }'), 'if (a) {  \n\tc();\n\t  d();\n}\n');
});

test('what is not there, and parts that overlap, are refused', () => {
  refused(() => applied('a\n', '-b', '+c'), /not there:\nb/);
  refused(() => applied('a\nb\nc\n', ' a', '-b', '@@', '-b', '+x', ' c'), /overlaps/);
});
