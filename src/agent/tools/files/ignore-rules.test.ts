import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readGlob } from './glob.ts';
import { isIgnored, parseIgnoreFile } from './ignore-rules.ts';

const matched = (glob: string, ...paths: string[]): string[] => paths.filter((path) => readGlob(glob)?.test(path) ?? false);

test('patterns of names match as git and shells do', () => {
  assert.deepEqual(matched('*.ts', 'a.ts', 'a.tsx', 'b/a.ts', '.ts'), ['a.ts', '.ts']);
  assert.deepEqual(matched('**/a', 'a', 'x/a', 'x/y/a', 'xa'), ['a', 'x/a', 'x/y/a']);
  assert.deepEqual(matched('a/**/b', 'a/b', 'a/x/b', 'a/x/y/b', 'ab'), ['a/b', 'a/x/b', 'a/x/y/b']);
  assert.deepEqual(matched('a/**', 'a/x', 'a/x/y', 'b/x'), ['a/x', 'a/x/y']);
  assert.deepEqual(matched('?[a-c][!x]', 'zbq', 'zbx', 'zdq', 'zb/'), ['zbq']);
  assert.deepEqual(matched('*.{ts,tsx}', 'a.ts', 'a.tsx', 'a.js'), ['a.ts', 'a.tsx']);
  assert.deepEqual(matched('a\\*[', 'a*[', 'ab['), ['a*['], 'what is no pattern stands for itself');
  assert.deepEqual(matched('{a', '{a', 'a'), ['{a']);
});

test('rules of .gitignore: anchors, folders, exceptions, comments, and inner files over outer ones', () => {
  const outer = parseIgnoreFile('/r', '# comment\n\n*.log\n!keep.log\n/top\nbuild/\ndoc/*.txt\n\\#odd\n[z-a]\ntrailing   \r\n');
  const inner = parseIgnoreFile('/r/in', '!a.log\n');
  const ignored = (path: string, isFolder = false): boolean => isIgnored(path, isFolder, path.startsWith('/r/in/') ? [outer, inner] : [outer]);
  assert.deepEqual(
    ['/r/a.log', '/r/x/a.log', '/r/keep.log', '/r/top', '/r/x/top', '/r/doc/a.txt', '/r/doc/x/a.txt', '/r/#odd', '/r/trailing', '/r/in/a.log', '/r/in/b.log'].map((path) => ignored(path)),
    [true, true, false, true, false, true, false, true, true, false, true],
  );
  assert.deepEqual([ignored('/r/build', true), ignored('/r/build', false), ignored('/r/x/build', true)], [true, false, true]);
});
