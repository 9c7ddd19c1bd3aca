import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { newCapture } from './capture.ts';
import { cleanText, shorten } from './clean-output.ts';
import { parseStat } from './process-start.ts';
import { quoteWord } from './pty.ts';
import { shellScript } from './shell-script.ts';

test('a capture keeps the beginning and the end of anything, and counts the rest', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 }), fc.nat(20), fc.integer({ min: 1, max: 20 }), (pieces, headBytes, tailBytes) => {
      const whole = Buffer.concat(pieces);
      const capture = newCapture({ headBytes, tailBytes });
      for (const piece of pieces) capture.add(Buffer.from(piece));
      const { head, tail, droppedBytes } = capture.result();
      assert.deepEqual(head, whole.subarray(0, headBytes));
      assert.deepEqual(tail, whole.subarray(Math.max(head.length, whole.length - tailBytes)));
      assert.equal(head.length + droppedBytes + tail.length, whole.length);
    }),
  );
});

test('cleaned text has no controls, whatever the bytes were', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => assert.doesNotMatch(cleanText(Buffer.from(bytes)), /[[\p{Cc}\u202e]--[\n\t]]/v)));
});

test('overwritten lines show what was left, line ends are plain', () => {
  assert.equal(cleanText(Buffer.from('a\r\nb\rc\nd\r\n10%\r90%\r\ndone')), 'a\nc\nd\n90%\ndone');
});

test('a short text is whole, a long one has two parts of its beginning and three of its end', () => {
  assert.deepEqual(shorten('ab', 'cd', { maxChars: 10, missing: 0 }), { text: 'abcd', cut: false });
  assert.deepEqual(shorten('', '0123456789'.repeat(3), { maxChars: 10, missing: 0 }), { text: '0123\n\n[… 20 characters of output left out …]\n\n456789', cut: true });
  assert.deepEqual(shorten('HEADhead', 'tailtailTAIL', { maxChars: 10, missing: 100 }).text, 'HEAD\n\n[… about 110 characters of output left out …]\n\nilTAIL');
});

test('the folder is taken off the end of the output, also when something follows it', () => {
  const script = shellScript('sh', 'ls');
  const mark = script.program.at(-1) ?? '';
  assert.deepEqual(script.read(`a\nb\n\n${mark}/x y\n`), { output: 'a\nb\n', folder: '/x y' });
  assert.deepEqual(script.read(`a\n${mark}/x\nlate\n`), { output: 'alate\n', folder: '/x' });
  assert.deepEqual(script.read('killed'), { output: 'killed', folder: undefined });
  assert.notEqual(shellScript('sh', 'ls').program.at(-1), mark);
});

test('any text is one word for a shell', () => {
  assert.equal(quoteWord(`it's "x" $y`), `'it'\\''s "x" $y'`);
});

test('the start of a process is found behind any name', () => {
  const rest = Array.from({ length: 16 }, (_, i) => String(i)).join(' ');
  assert.deepEqual(parseStat(`12 (a) b (c)) S 7 8 ${rest} 987654 1 2`), { state: 'S', parent: 7, group: 8, start: '987654' });
  assert.equal(parseStat(''), undefined);
});
