import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { changeEntries, joinEntries, parseEntries, sizeOfEntries } from './entries.ts';

const limit = 2200;
const entries = ['Ada lives in Paris', 'Prefers tea', 'Ada lives in Paris since 2020'];

test('entries stand between lines with a section sign, whatever white space is around them', () => {
  assert.deepEqual(parseEntries('one\n§\ntwo\nlines\n§\n\n'), ['one', 'two\nlines']);
  assert.deepEqual(parseEntries('\uFEFF one \r\n\r\n  §  \r\ntwo'), ['one', 'two']);
  assert.deepEqual(parseEntries('costs 5 § of the fee'), ['costs 5 § of the fee']);
  assert.deepEqual(parseEntries(' \n§\n§\n'), []);
  assert.equal(joinEntries(['one', 'two']), 'one\n§\ntwo');
});

test('what the tool writes is read back as it was', () => {
  const entry = fc.string({ unit: fc.constantFrom('a', 'é', '👋', ' ', '\n', '§', '\r'), minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 8 }), (contents) => {
      let kept: readonly string[] = [];
      for (const content of contents) {
        const outcome = changeEntries(kept, { action: 'add', content }, limit);
        if (outcome.type === 'changed') kept = outcome.entries;
      }
      assert.deepEqual(parseEntries(joinEntries(kept)), kept);
    }),
  );
});

test('a new entry is added once, and not beyond the limit', () => {
  assert.deepEqual(changeEntries(entries, { action: 'add', content: ' Has a cat ' }, limit), { type: 'changed', entries: [...entries, 'Has a cat'] });
  assert.deepEqual(changeEntries(entries, { action: 'add', content: 'Prefers tea\n' }, limit), { type: 'duplicate' });
  assert.deepEqual(changeEntries([], { action: 'add', content: 'x'.repeat(11) }, 10), { type: 'too_long', sizeChars: 11 });
  assert.equal(changeEntries([], { action: 'add', content: '👋'.repeat(10) }, 10).type, 'changed', 'characters are counted, not their parts');
  assert.equal(sizeOfEntries(['ab', 'c']), 6);
});

test('an entry is found by its whole text first, else by a part that only it has', () => {
  assert.deepEqual(changeEntries(entries, { action: 'remove', oldText: 'Ada lives in Paris' }, limit), { type: 'changed', entries: entries.slice(1) });
  assert.deepEqual(changeEntries(entries, { action: 'replace', oldText: 'tea', content: 'Prefers coffee' }, limit), { type: 'changed', entries: [entries[0], 'Prefers coffee', entries[2]] });
  assert.deepEqual(changeEntries(entries, { action: 'remove', oldText: 'Ada' }, limit), { type: 'several_match', matches: [entries[0], entries[2]] });
  assert.deepEqual(changeEntries(entries, { action: 'remove', oldText: 'Bob' }, limit), { type: 'no_match', matches: [] });
  assert.deepEqual(changeEntries(entries, { action: 'remove', oldText: ' ' }, limit), { type: 'no_match', matches: [] });
});

test('what would be read back as something else is refused', () => {
  assert.deepEqual(changeEntries([], { action: 'add', content: 'one\n § \ntwo' }, limit), { type: 'has_separator' });
  assert.deepEqual(changeEntries([], { action: 'add', content: ' \n ' }, limit), { type: 'empty' });
});

test('an entry that becomes the same as another leaves one of them', () => {
  assert.deepEqual(changeEntries(entries, { action: 'replace', oldText: 'since 2020', content: 'Prefers tea' }, limit), { type: 'changed', entries: entries.slice(0, 2) });
});

test('entries that people made too long can be made shorter but not longer', () => {
  const long = ['x'.repeat(30), 'y'];
  assert.equal(changeEntries(long, { action: 'replace', oldText: 'xxx', content: 'x'.repeat(20) }, 10).type, 'changed');
  assert.equal(changeEntries(long, { action: 'replace', oldText: 'y', content: 'yy' }, 10).type, 'too_long');
  assert.equal(changeEntries(long, { action: 'remove', oldText: 'y' }, 10).type, 'changed');
});
