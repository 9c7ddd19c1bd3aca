import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import vectors from '../../test/vectors/media-directives.json' with { type: 'json' };
import { splitMedia, withoutMediaTags } from './media-directives.ts';

const paths = (text: string): readonly string[] => splitMedia(text).files.map(({ path }) => path);

for (const { id, in: given, out } of vectors.cases) {
  test(`the vector ${id} holds`, () => {
    const split = splitMedia(given);
    if ('files' in out) assert.deepEqual({ files: split.files.map(({ path, asVoice }) => [path, asVoice]), text: split.text }, out);
    else assert.deepEqual({ images: split.images.map(({ url, alt }) => [url, alt]), text: split.text }, out);
  });
}

test('a path may be quoted, stand in backticks, begin in the home folder, and have spaces if it ends in a known way', () => {
  assert.deepEqual(paths('MEDIA:"/tmp/my file.bin"'), ['/tmp/my file.bin']);
  assert.deepEqual(paths("MEDIA:'/tmp/a.png' MEDIA:`/tmp/b.png`"), ['/tmp/a.png', '/tmp/b.png']);
  assert.deepEqual(paths('`MEDIA:/tmp/a b.pdf`'), ['/tmp/a b.pdf']);
  assert.deepEqual(paths('MEDIA: ~/out/Quarter 3 report.xlsx, as promised'), ['~/out/Quarter 3 report.xlsx']);
  assert.deepEqual(paths('MEDIA:/tmp/data.parquet.'), ['/tmp/data.parquet']);
  assert.deepEqual(paths('MEDIA:/a.png MEDIA:/b.png'), ['/a.png', '/b.png']);
  assert.deepEqual(paths('twice MEDIA:/a.png and MEDIA:/a.png'), ['/a.png']);
});

test('what names no path stays as it was written', () => {
  for (const text of ['MEDIA: see below', 'MULTIMEDIA:/tmp/a.png', 'media:/tmp/a.png', 'MEDIA:relative/a.png', 'MEDIA:"nothing"', '[[AS_DOCUMENT]]', '[[other]]', '`MEDIA:` is how files are sent']) {
    assert.deepEqual(splitMedia(text), { text, files: [], images: [], mentioned: [] }, text);
  }
});

test('code is code, whatever stands in it', () => {
  const block = '```sh\necho MEDIA:/tmp/a.png [[as_document]]\n```';
  assert.deepEqual(splitMedia(block), { text: block, files: [], images: [], mentioned: [] });
  const open = 'Look:\n~~~\nMEDIA:/tmp/a.png\n```\n/tmp/b.png';
  assert.deepEqual(splitMedia(open), { text: open, files: [], images: [], mentioned: [] });
  const around = splitMedia(`MEDIA:/tmp/x.png\n${block}\nMEDIA:/tmp/y.png`);
  assert.deepEqual([around.files.map(({ path }) => path), around.text], [['/tmp/x.png', '/tmp/y.png'], block]);
});

test('directives hold for the whole answer, wherever they stand', () => {
  const split = splitMedia('Here.\nMEDIA:/tmp/a.png\n[[as_document]]\nMEDIA:/tmp/v.ogg\n[[audio_as_voice]]');
  assert.deepEqual(split.files, [
    { path: '/tmp/a.png', asVoice: true, asDocument: true },
    { path: '/tmp/v.ogg', asVoice: true, asDocument: true },
  ]);
  assert.equal(split.text, 'Here.');
});

test('lines that held only a tag are gone, and no gap is left in the others', () => {
  assert.equal(splitMedia('One.\n\nMEDIA:/tmp/a.png\n\nTwo.').text, 'One.\n\nTwo.');
  assert.equal(splitMedia('See MEDIA:/tmp/a.png for it.\n  indented').text, 'See for it.\n  indented');
  assert.equal(splitMedia('ME[[as_document]]DIA:/tmp/a.png').text, 'ME DIA:/tmp/a.png', 'nothing is put together to a tag');
});

test('pictures on the web are taken out, other links stay', () => {
  const split = splitMedia('![a chart](https://e.org/c.png?x=1 "title") and <img alt="b" src="https://e.org/b.jpg"> but ![page](https://e.org/page)');
  assert.deepEqual(split.images, [
    { url: 'https://e.org/c.png?x=1', alt: 'a chart' },
    { url: 'https://e.org/b.jpg', alt: '' },
  ]);
  assert.equal(split.text, 'and but ![page](https://e.org/page)');
});

test('pictures that a text names by their path are noticed outside of code, and stay in the text', () => {
  const text = 'Saved to /tmp/plot.png and ~/films/a.mp4, see https://e.org/tmp/x.png, `/tmp/code.png` and /etc/hosts.';
  const split = splitMedia(text);
  assert.deepEqual([split.mentioned, split.text, split.files], [['/tmp/plot.png', '~/films/a.mp4'], text, []]);
});

const word = fc.constantFrom('MEDIA:', 'MEDIA', '/tmp/a.png', '~/b c.ogg', '[[as_document]]', '[[audio_as_voice]]', '[[', '`', '```', '\n', ' ', '"', 'text', '![a](https://e.org/1.png)', '<img src="https://e.org/2.png">', 'é', '\u0000');
const soup = fc.array(word, { maxLength: 30 }).map((words) => words.join(''));

test('no text breaks it, and what it leaves holds no tag any more', () => {
  fc.assert(
    fc.property(soup, (text) => {
      const split = splitMedia(text);
      assert.equal(split.text.includes('\u0000'), false);
      const again = splitMedia(split.text);
      assert.deepEqual(again.files, []);
      assert.deepEqual(again.images, []);
    }),
    { numRuns: 3000 },
  );
});

test('a text without anything to send comes back unchanged', () => {
  const plain = fc.string({ unit: 'grapheme' }).filter((text) => !/MEDIA:|\[\[|!\[|<img|\0/i.test(text));
  fc.assert(fc.property(plain, (text) => splitMedia(text).text === text));
});

test('a text that grows never shows a tag, a directive or a path that belongs to one', () => {
  const answer = 'Here it is:\nMEDIA:/secret/folder/my chart.png\n[[audio_as_voice]]\nand `MEDIA:/secret/b.png` ![x](https://e.org/secret.png) done.';
  for (let length = 0; length <= answer.length; length += 1) {
    const shown = withoutMediaTags(answer.slice(0, length));
    assert.doesNotMatch(shown, /MED|secret|\[\[|audio_as|!\[/, `after ${length} characters: ${shown}`);
  }
  assert.equal(withoutMediaTags(answer), 'Here it is:\nand done.');
});

test('a text that grows is shown whole where nothing is held back', () => {
  for (const text of ['Hello, how are', 'An [index', 'It was 5 PM', 'a < b', '```\nMEDIA:/tmp/a', 'He said "M. Dupont']) assert.equal(withoutMediaTags(text), text);
});

test('growing texts of any kind show nothing that the whole one takes out', () => {
  fc.assert(
    fc.property(soup.map((text) => text.replaceAll('`', '')), fc.nat(200), (text, at) => {
      assert.doesNotMatch(withoutMediaTags(text.slice(0, at)), /\[\[as_document|\[\[audio_as_voice|(?<!\w)MEDIA:[~/]/);
    }),
    { numRuns: 2000 },
  );
});

test('lines without an end do not hang it', () => {
  for (const text of ['MEDIA:/'.repeat(20_000), `MEDIA:/${'a '.repeat(100_000)}`, '!['.repeat(50_000), '<img '.repeat(50_000), '/a.'.repeat(50_000), '`'.repeat(100_000), '[['.repeat(50_000)]) {
    splitMedia(text);
    withoutMediaTags(text);
  }
});
