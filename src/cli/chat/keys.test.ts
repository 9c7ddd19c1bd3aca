import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { KeyDecoder } from './keys.ts';
import type { Key } from './keys.ts';

const shown = (key: Key): string => (key.type === 'key' ? key.name : `${key.type}:${key.text}`);

const decode = (...pieces: readonly string[]): readonly string[] => {
  const decoder = new KeyDecoder();
  return [...pieces.flatMap((piece) => decoder.read(piece)), ...decoder.flush()].map(shown);
};

test('text comes as it is typed, in any script', () => {
  assert.deepEqual(decode('abc', '世界', '👩‍👩‍👧'), ['text:abc', 'text:世界', 'text:👩‍👩‍👧']);
});

test('keys of both kinds of terminals have the same names', () => {
  assert.deepEqual(decode('\u001b[A\u001bOA\u001b[B\u001b[C\u001b[D\u001b[H\u001b[1~\u001b[F\u001b[4~\u001b[3~'), ['up', 'up', 'down', 'right', 'left', 'home', 'home', 'end', 'end', 'delete']);
});

test('return sends, and makes a new line with Alt, Control-J, Shift or Control where the terminal tells', () => {
  assert.deepEqual(decode('\r\n\u001b\r\u001b[13;2u\u001b[27;5;13~\u001b[13u'), ['enter', 'newline', 'newline', 'newline', 'newline', 'enter']);
});

test('Control and Alt have names, and arrows with them go by words', () => {
  assert.deepEqual(decode('\u0001\u0012\u001bb\u001b\u007f\u007f\u0008\t\u001b[1;5D\u001b[1;3C\u001b[1;2D'), ['ctrl-a', 'ctrl-r', 'alt-b', 'alt-backspace', 'backspace', 'backspace', 'tab', 'word-left', 'word-right', 'left']);
});

test('a lone Escape is one once nothing follows', () => {
  assert.deepEqual(decode('\u001b'), ['escape']);
  assert.deepEqual(decode('\u001b\u001b'), ['escape', 'escape']);
  assert.deepEqual(decode('\u001b', '[A'), ['up']);
});

test('what is unknown is swallowed whole', () => {
  assert.deepEqual(decode('\u001b[15~x\u001b[?1;2cy\u001b[<0;1;2Mz'), ['text:x', 'text:y', 'text:z']);
});

test('pasted text is one thing, whatever it contains', () => {
  assert.deepEqual(decode('\u001b[200~one\r\ntwo\u001b[A\u0003\u001b[201~x'), ['paste:one\r\ntwo\u001b[A\u0003', 'text:x']);
});

test('it does not matter where the bytes are cut', () => {
  const whole = 'a\u001b[200~one\ntwo\u001b[201~\u001b[1;5D\u001bOHb\u001b[13;2u';
  const expected = decode(whole);
  const joined = (keys: readonly string[]): string => keys.join('|').replaceAll(/\|text:(?=.)/g, '|text:');
  fc.assert(
    fc.property(fc.array(fc.nat(whole.length), { maxLength: 6 }), (cuts) => {
      const places = [0, ...cuts.toSorted((x, y) => x - y), whole.length];
      const pieces = places.slice(1).map((end, i) => whole.slice(places[i], end));
      assert.equal(joined(decode(...pieces)), joined(expected));
    }),
  );
});
