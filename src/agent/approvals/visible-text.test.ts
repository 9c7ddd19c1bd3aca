import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fenced, fingerprint, hasHiddenCharacters, shownText, visibleText } from './visible-text.ts';

test('what cannot be seen is named', () => {
  assert.equal(visibleText('a\u200bb\u202ec\u0007d\re\u00a0f'), 'a⟨U+200B⟩b⟨U+202E⟩c⟨U+0007⟩d⟨U+000D⟩e⟨U+00A0⟩f');
  assert.equal(visibleText('plain\n\ttext é 漢字'), 'plain\n\ttext é 漢字');
  for (const text of ['\u200d', '\u2066', '\ufeff', '\u{e0041}', '\u3164', '\u0000', '\ud800', '\u2028']) assert.ok(hasHiddenCharacters(`ls ${text}`), JSON.stringify(text));
  for (const text of ['ls -la', 'échо', '👩‍💻 ⚠️ ❤️', '\n\t']) assert.ok(!hasHiddenCharacters(text), text);
});

test('what is shown has nothing hidden in it', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => assert.ok(!hasHiddenCharacters(visibleText(text)))));
});

test('of a long text the beginning, the end and the length are shown', () => {
  const text = `BEGIN${'x'.repeat(5000)}END`;
  const shown = shownText(text);
  assert.ok(shown.startsWith('BEGINxxx') && shown.endsWith('xxxEND') && shown.length < 1600);
  assert.match(shown, /3608 of 5008 characters not shown/);
  assert.equal(shownText('x'.repeat(1500)), 'x'.repeat(1500));
});

test('nothing inside a fence closes it', () => {
  assert.equal(fenced('ls'), '```\nls\n```');
  assert.equal(fenced('echo "```"'), '````\necho "```"\n````');
});

test('a fingerprint is of the whole, and of its parts as they are cut', () => {
  assert.equal(fingerprint('a', 'b'), fingerprint('a', 'b'));
  assert.notEqual(fingerprint('a', 'b'), fingerprint('ab', ''));
  assert.notEqual(fingerprint('a', `${'x'.repeat(9999)}1`), fingerprint('a', `${'x'.repeat(9999)}2`));
});
