import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spokenText } from './spoken-text.ts';

test('markup, code, addresses and signs are not spoken', () => {
  const answer = '# Result 🎉\n\nIt is **done**, see [the page](https://a.example/x) or https://www.b.example/y?z=1.\n\n- one ✅\n- `two`\n\n```sh\nrm -rf /tmp/x\n```\n\n> quoted\n\n---\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nMEDIA:/tmp/x.png';
  assert.equal(spokenText(answer, 4000), 'Result.\nIt is done, see the page or b.example.\none\ntwo\nquoted\na: 1\nb: 2');
});

test('an answer of nothing but code, signs or a file is not spoken', () => {
  for (const answer of ['```\ncode\n```', '👍', '---', ' \n ', 'MEDIA:/tmp/x.png']) assert.equal(spokenText(answer, 4000), '', answer);
});

test('numbers, flags and letters of every script stay', () => {
  assert.equal(spokenText('3 🇩🇪 Ärzte, 你好 1️⃣ ©2026 👩‍👩‍👧', 4000), '3 Ärzte, 你好 2026');
});

test('a long answer ends with a sentence, or with a word where the sentence is too long', () => {
  assert.equal(spokenText('First sentence. Second one is here. Third one is cut off somewhere', 50), 'First sentence. Second one is here.');
  assert.equal(spokenText('Short. And then a very long sentence that goes on and on without an end', 40), 'Short. And then a very long sentence');
  assert.equal(spokenText('x'.repeat(60), 40), 'x'.repeat(40));
  assert.ok(spokenText('😀x'.repeat(200), 101).isWellFormed());
});
