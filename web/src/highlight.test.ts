import assert from 'node:assert/strict';
import { test } from 'node:test';
import { highlight } from './highlight.ts';

const kinds = (code: string, language: string): readonly string[] => highlight(code, language).filter((token) => token.kind !== 'text').map((token) => `${token.kind}:${token.text}`);

test('the pieces joined are the code, whatever the code is', () => {
  const code = 'const a = `x${1}`; // "no\n/* open \'\n"un\\"closed\n#!/bin/sh -- $x#y 0xFF 1.5e3\n+added\n-removed';
  for (const language of ['ts', 'py', 'sh', 'sql', 'go', 'diff', 'nonsense', '']) {
    assert.equal(highlight(code, language).map((token) => token.text).join(''), code, language);
  }
});

test('words, strings, numbers and comments are told apart by language', () => {
  assert.deepEqual(kinds('const x = "const"; // const', 'ts'), ['keyword:const', 'string:"const"', 'comment:// const']);
  assert.deepEqual(kinds('def f(): return 42  # def', 'python'), ['keyword:def', 'keyword:return', 'number:42', 'comment:# def']);
  assert.deepEqual(kinds('SELECT 1 -- one', 'sql'), ['keyword:SELECT', 'number:1', 'comment:-- one']);
  assert.deepEqual(kinds('default: gpt-5-mini', 'yaml'), []);
  assert.deepEqual(kinds('+a\n-b\n c', 'diff'), ['added:+a\n', 'removed:-b\n']);
  assert.deepEqual(kinds('const', 'cobol'), []);
});
