import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import vectors from '../../test/vectors/chunking.json' with { type: 'json' };
import { splitMarkdown } from './chunks.ts';

const utf16 = (text: string): number => text.length;
const codePoints = (text: string): number => [...text].length;
const bytes = (text: string): number => Buffer.byteLength(text);

const label = /[ \n]?\(\d+\/\d+\)$/;
const withoutLabel = (chunk: string, count: number): string => (count === 1 ? chunk : chunk.replace(label, ''));

/** Fences as a reader of Markdown sees them, told apart from the code under test. */
const isBalanced = (chunk: string): boolean => {
  let open = '';
  for (const line of chunk.split(/\r?\n/)) {
    const [, marker = '', info = ''] = /^[\s>]*(?:(?:[-*+]|\d+[.)])\s+)*(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (open === '') open = marker.startsWith('`') && info.includes('`') ? '' : marker;
    else if (marker.startsWith(open) && info.trim() === '') open = '';
  }
  return open === '';
};

/** The places in `text` from which it can go on after a chunk, given the fences and white space a cut may add or drop. */
const placesAfter = (text: string, chunk: string, places: readonly number[]): number[] => {
  const lines = chunk.split('\n');
  const bodies = [chunk, lines.slice(1).join('\n'), lines.slice(0, -1).join('\n'), lines.slice(1, -1).join('\n'), lines.slice(1, -1).join('\n').replace(/^[> ]+/, '')];
  const after = new Set<number>();
  for (const place of places)
    for (const start of [place, place + (/^(?:\r?\n| )/.exec(text.slice(place, place + 2))?.[0].length ?? 0)])
      for (const body of bodies.flatMap((each) => [each, `${each}\n`])) if (body !== '' && text.startsWith(body, start)) after.add(start + body.length);
  return [...after];
};

const assertNothingLost = (text: string, chunks: readonly string[]): void => {
  let places = [0];
  for (const chunk of chunks) {
    const bare = withoutLabel(chunk, chunks.length);
    const next = [bare, `${bare}\n`].flatMap((body) => placesAfter(text, body, places));
    assert.ok(next.length > 0, `does not go on where the text does: ${JSON.stringify(chunk)}`);
    places = next;
  }
  assert.ok(
    places.some((place) => text.slice(place).trim() === ''),
    `the end is missing: ${JSON.stringify(text.slice(Math.max(...places)))}`,
  );
};

const assertSound = (text: string, limit: number, measure: (text: string) => number): string[] => {
  const chunks = splitMarkdown(text, { limit, measure });
  if (measure(text) <= limit) assert.deepEqual(chunks, [text]);
  else {
    for (const chunk of chunks) {
      assert.ok(measure(chunk) <= limit, `${measure(chunk)} > ${limit}: ${JSON.stringify(chunk)}`);
      assert.ok(isBalanced(chunk), `an open fence: ${JSON.stringify(chunk)}`);
    }
    assertNothingLost(text, chunks);
  }
  return chunks;
};

test('the texts of the original are cut soundly, into no more chunks than there', async (t) => {
  for (const { id, in: input, out } of vectors.cases) {
    if (input.parts === undefined || input.limit === undefined || out.chunks === undefined) continue;
    const text = input.parts.map((part) => (typeof part === 'string' ? part : part.s.repeat(part.n))).join('');
    await t.test(id, () => {
      const chunks = assertSound(text, input.limit, input.unit === 'utf16' ? utf16 : codePoints);
      assert.ok(chunks.length <= out.chunks.length);
    });
  }
});

test('several chunks are numbered, a single one is not', () => {
  assert.deepEqual(splitMarkdown('a b', { limit: 20, measure: utf16 }), ['a b']);
  assert.deepEqual(splitMarkdown('the quick brown fox jumps over', { limit: 20, measure: utf16 }), ['the quick (1/3)', 'brown fox (2/3)', 'jumps over (3/3)']);
});

test('the number never stands on a line that means something as a whole', () => {
  const code = `\`\`\`js\n${'let a;\n'.repeat(20)}\`\`\``;
  for (const chunk of splitMarkdown(code, { limit: 60, measure: utf16 })) assert.match(chunk, /\n```\n\(\d\/\d\)$/);
  const table = `| a | b |\n|---|---|\n${'| 1 | 2 |\n'.repeat(12)}`;
  for (const chunk of splitMarkdown(table, { limit: 60, measure: utf16 })) assert.match(chunk, /\|\n\(\d\/\d\)$/);
  assert.match(splitMarkdown(`${'word '.repeat(8)}\n---\n${'word '.repeat(8)}`, { limit: 50, measure: utf16 })[0] ?? '', /---\n\(1\/2\)$/);
});

test('code is closed and reopened with its language and keeps its indentation', () => {
  const lines = Array.from({ length: 12 }, (_, i) => `${' '.repeat((i % 4) * 4)}call(${i})`);
  const chunks = splitMarkdown(`Look:\n\`\`\`python\n${lines.join('\n')}\n\`\`\`\ndone`, { limit: 90, measure: utf16 });
  assert.ok(chunks.length > 2);
  const inside = chunks.flatMap((chunk) => /```python\n([^`]*)\n```/.exec(chunk)?.[1]?.split('\n') ?? []);
  assert.deepEqual(inside, lines);
});

test('a code block that fits a chunk is not cut in two', () => {
  const block = `\`\`\`\n${'some code\n'.repeat(4)}\`\`\``;
  const chunks = splitMarkdown(`${'word '.repeat(11)}\n${block}\n${'word '.repeat(11)}`, { limit: 80, measure: utf16 });
  assert.ok(chunks.some((chunk) => chunk.includes(block)));
});

test('longer, tilde, quoted and listed fences are told apart', () => {
  const inner = '```js\nnot a fence\n```\n';
  const texts = [
    `\`\`\`\`md\n${inner.repeat(10)}\`\`\`\``,
    `~~~\n${inner.repeat(10)}~~~`,
    `> \`\`\`\n${'> quoted code\n'.repeat(20)}> \`\`\`\nafter it`,
    `1. item\n   \`\`\`sh\n${'   ls -la\n'.repeat(20)}   \`\`\`\n2. next`,
    `- \`\`\`sh\n${'  ls -la\n'.repeat(20)}  \`\`\`\n- next`,
    `\`\`\`\n${'never closed\n'.repeat(20)}`,
    `\`\`\`\n${'x'.repeat(400)}\n\`\`\``,
    `> \`\`\`\n> ${'x'.repeat(400)}\n> \`\`\``,
    `\`\`\`\n${'aaaa```'.repeat(60)}\n\`\`\``,
    `${'use ```js to open '.repeat(20)}`,
  ];
  for (const text of texts) for (const limit of [60, 61, 62, 63, 100]) assertSound(text, limit, utf16);
});

test('a cut inside a line of code never makes a fence of the rest of the line', () => {
  for (let length = 20; length < 80; length += 1) assertSound(`\`\`\`\n${'x'.repeat(length)}\`\`\`\nmore code\n\`\`\`\nafter`, 60, utf16);
});

test('a long line of quoted code stays quoted', () => {
  const text = `> \`\`\`\n> ${'x'.repeat(200)}\n> \`\`\``;
  for (const chunk of splitMarkdown(text, { limit: 60, measure: utf16 })) for (const line of withoutLabel(chunk, 2).split('\n')) assert.match(line, /^>/);
});

test('a quoted block of code ends with its quote', () => {
  const chunks = splitMarkdown(`> \`\`\`\n> code\n${'plain text '.repeat(20)}`, { limit: 60, measure: utf16 });
  for (const chunk of chunks.slice(1)) assert.ok(!chunk.includes('```'), chunk);
});

test('no chunk has an empty block of code', () => {
  for (let lines = 1; lines < 30; lines += 1)
    for (const chunk of splitMarkdown(`intro\n\`\`\`js\n${'let a;\n'.repeat(lines)}\`\`\`\`\`\`\nend`, { limit: 60, measure: utf16 })) assert.doesNotMatch(chunk, /```js\n+```/);
});

test('markup that the measure does not count is used to the full, and never makes a chunk too long', () => {
  const shown = (text: string): number => text.replace(/\[([^\]]*)\]\([^)\s]*\)/g, '$1').length;
  const link = `[w](https://example.org/${'x'.repeat(70)})`;
  for (let padding = 0; padding < 40; padding += 1) {
    const text = `${'a'.repeat(padding)} ${`${link} `.repeat(100)}`;
    const chunks = splitMarkdown(text, { limit: 100, measure: shown });
    for (const chunk of chunks) assert.ok(shown(chunk) <= 100);
    assert.equal(chunks.length, 3);
    assert.equal(chunks.join('').split(link).length, 101);
  }
});

test('a measure that counts open markup for more is obeyed', () => {
  const measure = (text: string): number => text.length + (text.split('$').length % 2 === 0 ? 30 : 0);
  const text = '$some words$and-a-long-word '.repeat(20);
  for (let limit = 60; limit < 100; limit += 1) for (const chunk of splitMarkdown(text, { limit, measure })) assert.ok(measure(chunk) <= limit);
});

test('emphasis too long for a chunk is cut between its words', () => {
  for (let limit = 40; limit < 60; limit += 1)
    for (const chunk of splitMarkdown(`${'wordy '.repeat(6)}**${'wordy '.repeat(6)}wordy**`, { limit, measure: utf16 })) assert.match(withoutLabel(chunk, 2), /^(?:\*\*)?(?:wordy ?(?:\*\*)?)+$/);
});

test('tiny limits still end, within the limit', () => {
  const texts = ['```typescript\nconst x = 1;\n```', `\`\`\`${'i'.repeat(80)}\ncode\n\`\`\``, '`````````````````````\nx\n`````````````````````', `${' '.repeat(40)}\`\`\`\nx\n`, 'a'.repeat(300), '\n'.repeat(100)];
  for (const text of texts) for (const chunk of splitMarkdown(text, { limit: 20, measure: utf16 })) assert.ok(chunk.length <= 20, JSON.stringify(chunk));
});

test('a chunk never consists of white space only', () => {
  for (const chunk of splitMarkdown(`a${'\n'.repeat(100)}b${' '.repeat(100)}c`, { limit: 20, measure: utf16 })) assert.notEqual(withoutLabel(chunk, 2).trim(), '');
});

test('a break between paragraphs is preferred to one between lines, and that to one between words', () => {
  const [first] = splitMarkdown(`${'one two\n'.repeat(6)}\n${'three four\n'.repeat(3)}`, { limit: 80, measure: utf16 });
  assert.equal(first, `${'one two\n'.repeat(6)}(1/2)`);
  const [line] = splitMarkdown(`${'one '.repeat(12)}\n${'two '.repeat(12)}`, { limit: 80, measure: utf16 });
  assert.equal(line, `${'one '.repeat(12)} (1/2)`);
});

test('a cut never makes a sentence into a list, a heading or a quote', () => {
  for (let words = 1; words < 12; words += 1)
    for (const sign of ['- b', '# b', '> b', '1. b', '```js b', '| b'])
      for (const chunk of splitMarkdown(`${'a'.repeat(words)} ${'word '.repeat(5)}${sign} ${'word '.repeat(8)}`, { limit: 40, measure: utf16 })) assert.doesNotMatch(chunk, /^(?:[->#|]|1\.|```)/);
});

const word = fc.stringMatching(/^[a-z]{1,12}$/);
const words = fc.array(word, { minLength: 1, maxLength: 12 }).map((list) => list.join(' '));
const short = fc.array(word, { minLength: 1, maxLength: 2 }).map((list) => list.join(' '));
const kept = fc.oneof(
  short.map((text) => `\`${text}\``),
  short.map((text) => `**${text}**`),
  short.map((text) => `_${text}_`),
  short.map((text) => `~~${text}~~`),
  fc.tuple(short, word).map(([text, path]) => `[${text}](https://x.org/${path})`),
);

test('inline code, links and emphasis that fit a chunk are never cut', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(words, kept), { minLength: 1, maxLength: 12 }), fc.integer({ min: 70, max: 200 }), (parts, limit) => {
      const text = parts.map(([before, mark]) => `${before} ${mark}`).join(' ');
      const whole = assertSound(text, limit, utf16).join('\n');
      for (const [, mark] of parts) assert.ok(whole.includes(mark), mark);
    }),
  );
});

test('writing without spaces is cut before code and emphasis, too', () => {
  const run = fc.array(fc.constantFrom('字', '测', '试', '，'), { minLength: 1, maxLength: 40 }).map((list) => list.join(''));
  fc.assert(
    fc.property(fc.array(fc.tuple(run, fc.constantFrom('`代码`', '**重点**', '[链接](https://x.org/a)')), { minLength: 1, maxLength: 12 }), fc.integer({ min: 40, max: 90 }), (parts, limit) => {
      const whole = assertSound(parts.flat().join(''), limit, utf16).join('\n');
      for (const [, mark] of parts) assert.ok(whole.includes(mark), mark);
    }),
  );
});

const codeLine = fc.tuple(fc.nat({ max: 6 }), words).map(([indent, text]) => ' '.repeat(indent) + text);
const code = fc
  .record({ marker: fc.constantFrom('```', '````', '~~~'), info: fc.constantFrom('', 'js', 'python'), lines: fc.array(codeLine, { maxLength: 12 }), lead: fc.constantFrom('', '', '  ', '> ') })
  .map(({ marker, info, lines, lead }) => [marker + info, ...lines, marker].map((line) => lead + line).join('\n'));
const block = fc.oneof(
  words,
  code,
  fc.array(words, { minLength: 1, maxLength: 5 }).map((items) => items.map((item) => `- ${item}`).join('\n')),
  words.map((text) => `# ${text}`),
  words.map((text) => `> ${text}`),
  fc.tuple(words, kept, words).map((parts) => parts.join(' ')),
  fc.integer({ min: 50, max: 200 }).map((length) => 'x'.repeat(length)),
);
const document = fc.array(fc.tuple(block, fc.constantFrom('\n', '\n\n')), { maxLength: 10 }).map((parts) => parts.flat().join(''));

test('whatever is written, every chunk is sound and nothing is lost', () => {
  fc.assert(
    fc.property(document, fc.integer({ min: 60, max: 300 }), fc.constantFrom(utf16, codePoints, bytes), (text, limit, measure) => {
      assertSound(text, limit, measure);
    }),
    { numRuns: 500 },
  );
});

test('any characters at all stay within the limit', () => {
  const noise = fc.array(fc.constantFrom('`', '```', '~~~', '\n', '\r\n', ' ', '  ', '> ', '- ', '1. ', '**', '*', '_', '[', '](', ')', '|', '||', '#', '\\', 'a', 'word', '😀', '👩‍👩‍👧', '字', '\u0301'), { maxLength: 200 });
  fc.assert(
    fc.property(noise, fc.integer({ min: 20, max: 80 }), (parts, limit) => {
      const text = parts.join('');
      const chunks = splitMarkdown(text, { limit, measure: utf16 });
      for (const chunk of chunks) assert.ok(chunk.length <= limit, JSON.stringify(chunk));
      const visible = (string: string): string => string.replace(/[\s`~>]|\(\d+\/\d+\)/g, '');
      assert.equal(visible(chunks.join('')), visible(text));
    }),
    { numRuns: 500 },
  );
});

test('what people see as one character is never taken apart', () => {
  const character = fc.constantFrom('a', '字', '😀', '👩‍👩‍👧‍👦', '🇩🇪', '🇫🇷', 'e\u0301', '👍🏽', '\r\n', ' ');
  const graphemes = (text: string): string[] => [...new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text)].map(({ segment }) => segment);
  fc.assert(
    fc.property(fc.array(character, { minLength: 10, maxLength: 80 }), fc.integer({ min: 24, max: 60 }), (parts, limit) => {
      const text = `x${parts.join('')}x`;
      const chunks = splitMarkdown(text, { limit, measure: utf16 });
      const shown = chunks.flatMap((chunk) => graphemes(withoutLabel(chunk, chunks.length)));
      const solid = (list: string[]): string[] => list.filter((each) => each.trim() !== '');
      assert.deepEqual(solid(shown), solid(graphemes(text)));
    }),
  );
});

test('a character longer than a chunk is cut between code points', () => {
  const monster = `e${'\u0301'.repeat(100)}😀`;
  const chunks = splitMarkdown(monster, { limit: 20, measure: utf16 });
  assert.equal(chunks.map((chunk) => withoutLabel(chunk, chunks.length)).join(''), monster);
});

test('long texts are measured only a few times over', () => {
  const texts = ['The **quick** brown fox `jumps` over [it](https://example.org/path).\n'.repeat(4000), 'x'.repeat(300_000), `\`\`\`\n${'code();\n'.repeat(40_000)}\`\`\``, '字'.repeat(200_000), '**bold words** '.repeat(20_000)];
  for (const text of texts) {
    let measured = 0;
    const measure = (part: string): number => {
      measured += part.length;
      return part.length;
    };
    splitMarkdown(text, { limit: 4096, measure });
    assert.ok(measured < 8 * text.length, `${measured / text.length} times`);
  }
});
