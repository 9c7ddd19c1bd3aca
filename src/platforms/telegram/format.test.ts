import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { judgeMissing, openJudge } from '../../../test/support/tdlib-judge.ts';
import type { Entity } from '../../../test/support/tdlib-judge.ts';
import vectors from '../../../test/vectors/telegram-markdownv2.json' with { type: 'json' };
import { formatMarkdownV2, measureTelegram, plainText } from './format.ts';

/** These are MarkdownV2 already, not Markdown: the original's way back to plain text and its repair of an indicator on a fence. */
const notMarkdown = ['to-plain-bold', 'to-plain-spoiler', 'indicator-off-fence'];

const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}]+/gu) ?? [];

/** The words a reader has to see: all but addresses behind labels, languages of code and the x of a done task. */
const sourceWords = (markdown: string): string[] => wordsOf(markdown.replace(/\]\([^)]*\)/g, ']').replace(/^```\w*/gm, '').replace(/\[x\]/g, ''));

describe('what Telegram makes of it', { skip: judgeMissing ?? false }, () => {
  const judge = judgeMissing === undefined ? openJudge() : undefined;

  /** Formats, has Telegram's parser accept it, and answers what people see. */
  const show = (markdown: string): { readonly text: string; readonly entities: readonly Entity[]; entity(type: string): string[] } => {
    const formatted = formatMarkdownV2(markdown);
    const verdict = judge?.(formatted);
    assert.ok(verdict?.accepted, `${verdict?.accepted === false ? verdict.error : ''}: ${JSON.stringify(markdown)} -> ${JSON.stringify(formatted)}`);
    const { shows, entities } = verdict;
    return { text: shows, entities, entity: (type) => entities.filter((each) => each.type === type).map(({ offset, length }) => shows.slice(offset, offset + length).replace(/\n$/, '')) };
  };

  const shows = (markdown: string, expected: string, styled: Readonly<Record<string, readonly string[]>> = {}): void => {
    const shown = show(markdown);
    assert.equal(shown.text, expected);
    assert.equal(plainText(markdown), expected);
    assert.equal(shown.entities.length, Object.values(styled).flat().length, JSON.stringify(shown.entities));
    for (const [type, texts] of Object.entries(styled)) assert.deepEqual(shown.entity(type), texts, type);
  };

  test('every text of the original is accepted and shows its words', async (t) => {
    for (const { id, in: markdown } of vectors.cases) {
      if (notMarkdown.includes(id)) continue;
      await t.test(id, () => {
        assert.deepEqual(wordsOf(show(markdown).text), sourceWords(markdown));
      });
    }
  });

  test('emphasis of every kind is shown, also nested', () => {
    shows('**a** __b__ *c* _d_ ~~e~~ ||f||', 'a b c d e f', { Bold: ['a', 'b'], Italic: ['c', 'd'], Strikethrough: ['e'], Spoiler: ['f'] });
    shows('***both*** **bold *inner* bold**', 'both bold inner bold', { Bold: ['both', 'bold inner bold'], Italic: ['both', 'inner'] });
    shows('*a*_b_ **c**__d__', 'ab cd', { Italic: ['ab'], Bold: ['cd'] });
    shows('~~**a `b`** c~~', 'a b c', { Strikethrough: ['a b c'], Bold: ['a b'], Code: ['b'] });
    shows('这是**重点**内容，**「引号」**内容', '这是重点内容，「引号」内容', { Bold: ['重点', '「引号」'] });
    shows('**a\nb**', 'a\nb', { Bold: ['a\nb'] });
  });

  test('signs that are no markup stay as they were written', () => {
    const literal = [
      '2*3*4 = 24',
      'a*(b+c)*d and (a)*(b)*(c)',
      '2**3**2',
      '*.ts and **/*.js and src/**/*.ts',
      '/* a */ b /* c */',
      'snake_case_name, my.__class__, __init__() and __init__.py',
      'a || b || c, a||b||c',
      '~5 minutes, ~10 km',
      'a ** b * c _ d ` e',
      '**open, _open, `open, [open](',
      '[a] [b]( [^1] !x [c]()',
      '<b>x</b> & <script> &lt; &amp;',
      '<https://example.org|x>',
      '#hashtag C# -5 +5 1.5 2)',
      '_*[]()~`>#+-=|{}.!',
      '=====',
    ];
    for (const text of literal) shows(text, text);
    shows('\\*a\\* \\_b\\_ \\`c\\` \\[d\\](e) \\\\', '*a* _b_ `c` [d](e) \\');
  });

  test('code is shown exactly', () => {
    shows('use `a.b(c)*d*` and ``x ` y``', 'use a.b(c)*d* and x ` y', { Code: ['a.b(c)*d*', 'x ` y'] });
    shows('path `C:\\x\\` end', 'path C:\\x\\ end', { Code: ['C:\\x\\'] });
    shows('```\na = `1` \\n\n\n  b\n```\nafter', 'a = `1` \\n\n\n  b\nafter', { Pre: ['a = `1` \\n\n\n  b'] });
    shows('````md\n```js\nx\n```\n````', '```js\nx\n```', { PreCode: ['```js\nx\n```'] });
    shows('~~~\nx\n~~~', 'x', { Pre: ['x'] });
    shows('```\nnever closed', 'never closed', { Pre: ['never closed'] });
    assert.equal(show('```c++ title\nx\n```').entities[0]?.language, 'c++');
    assert.equal(show('```\nx\n```').entities[0]?.type, 'Pre');
  });

  test('links go where they say', () => {
    const urlOf = (markdown: string): string | undefined => show(markdown).entities.find(({ type }) => type === 'TextUrl')?.url;
    assert.equal(urlOf('see [w](https://en.example.org/wiki/A_(b)) ok'), 'https://en.example.org/wiki/A_(b)');
    assert.equal(urlOf('[w](<https://example.org/a b>)') ?? 'none', 'none');
    assert.equal(urlOf('[w](https://example.org/a\\)b "title")'), 'https://example.org/a)b');
    assert.equal(urlOf('[w](https://example.org/a%5Cb\\\\c)'), 'https://example.org/a%5Cb\\c');
    assert.equal(urlOf('![alt](https://example.org/i.png)'), 'https://example.org/i.png');
    shows('[a **b** `c`](https://example.org)', 'a b c', { TextUrl: ['a b c'], Bold: ['b'], Code: ['c'] });
    shows('![](https://example.org/i.png)', 'https://example.org/i.png', { TextUrl: ['https://example.org/i.png'] });
    shows('**see https://example.org/a_b_c**, (https://example.org/x)', 'see https://example.org/a_b_c, (https://example.org/x)', { Bold: ['see https://example.org/a_b_c'] });
    shows('<https://example.org/*a*>', 'https://example.org/*a*');
  });

  test('the address of a link that Telegram would drop is shown', () => {
    shows('[docs](docs/a.md) [x](javascript:y) [local](http://localhost:80/)', 'docs (docs/a.md) x (javascript:y) local (http://localhost:80/)');
    shows('[mail](mailto:a@b.org) [a@b.org](mailto:a@b.org)', 'mail (a@b.org) a@b.org');
  });

  test('headings are bold, rules are lines', () => {
    shows('# One\n### Two **three** _four_ ##\ntext\n\n---\n\n* * *', 'One\nTwo three four\ntext\n\n———\n\n———', { Bold: ['One', 'Two three four'], Italic: ['four'] });
  });

  test('lists keep their levels, numbers and ticks', () => {
    shows('- a\n  - b\n    * c\n- d', '• a\n  • b\n    • c\n• d');
    shows('3. a\n   more\n4) b\n\n+ c', '3. a\n  more\n4) b\n\n+ c');
    shows('- [ ] todo\n- [x] done', '☐ todo\n☑ done');
    shows('1. run\n   ```sh\n   ls\n   ```\n2. done', '1. run\nls\n2. done', { PreCode: ['ls'] });
  });

  test('quotes are quotes, also with code and quotes inside', () => {
    shows('> a\n> **b\n> c**\n>\n> d\nafter', 'a\nb\nc\n\nd\nafter', { BlockQuote: ['a\nb\nc\n\nd'], Bold: ['b\nc'] });
    shows('> a\n> > b\n> c', 'a\n> b\nc', { BlockQuote: ['a\n> b\nc'] });
    shows('> a\n> ```\n> x\n> ```\n> b', 'a\nx\nb', { BlockQuote: ['a', 'b'], Pre: ['x'] });
    shows('> - a\n>   - b\n>\n> # c', 'a\n  b\n\nc'.replace('a', '• a').replace('  b', '  • b'), { BlockQuote: ['• a\n  • b\n\nc'], Bold: ['c'] });
  });

  test('a table becomes a list of its rows', () => {
    shows('| name | age | note |\n|---|:-:|---|\n| Ann | 30 | **x** |\n| Bob | | `y` | more |', 'name: Ann\n• age: 30\n• note: x\n\nname: Bob\n• age\n• note: y\n• more', {
      Bold: ['name: Ann', 'x', 'name: Bob'],
      Code: ['y'],
    });
    shows('| a | b \\| c |\n|---|---|', 'a | b | c', { Bold: ['a | b | c'] });
  });

  const piece = fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom('*', '**', '_', '__', '~~', '||', '`', '``', '[', '](https://x.org/a_b)', '](x)', '![', '\\', '(', ')', '<', '>', '!', '.', '-', '😀', '字', '́') },
    { weight: 2, arbitrary: fc.constantFrom(' ', '\n', '\n\n', '\n- ', '\n  - ', '\n1. ', '\n> ', '\n> > ', '\n# ', '\n```\n', '\n```js\n', '\n~~~\n', '\n---\n', '\n| ', ' | ', ' |\n', '\n|---|---|\n', 'https://x.org/a_b ') },
    { weight: 2, arbitrary: fc.nat({ max: 99 }).map((n) => `w${n}z`) },
  );
  const scribble = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''));

  const withoutLanguages = (markdown: string): string => markdown.replace(/^.*(?:```|~~~).*$/gm, '');

  test('whatever is written, Telegram accepts it and shows the words that were written', () => {
    fc.assert(
      fc.property(scribble, (markdown) => {
        const { text } = show(markdown);
        assert.equal(text, plainText(markdown));
        const words = new Set(text.match(/w\d+z/g));
        for (const word of withoutLanguages(markdown).match(/w\d+z/g) ?? []) assert.ok(words.has(word), word);
      }),
      { numRuns: 3000 },
    );
  });

  test('any string at all is accepted, and never shows more than was measured', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), fc.string({ unit: 'grapheme', maxLength: 200 })), (text) => {
        assert.ok(show(text).text.length <= measureTelegram(text));
      }),
      { numRuns: 1000 },
    );
    show('\uD800 lone \uDC00');
  });
});

test('more text never measures less where markup is closed', () => {
  const piece = fc.constantFrom('word', '**bold words**', '_soft_', '`code`', '[label](https://x.org/a_b)', '~~gone~~', '\n- item', '\n  1. inner', '\n> quote', '\n# Title', '\n\n```js\ncode\n```\n\n', '\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const sizes = pieces.map((_, i) => measureTelegram(pieces.slice(0, i + 1).join(' ')));
      for (const [i, size] of sizes.entries()) assert.ok(size >= (sizes[i - 1] ?? 0), JSON.stringify(pieces.slice(0, i + 1)));
    }),
  );
});

test('long and deep texts take no time to speak of', () => {
  const hard: Readonly<Record<string, string>> = {
    prose: 'The **quick** brown fox `jumps` over [the lazy](https://example.org/x) dog.\n'.repeat(1300),
    stars: '*'.repeat(100_000),
    'open emphasis': '*a '.repeat(33_000),
    'closed emphasis': '*a **b '.repeat(7000) + 'c** d*'.repeat(7000),
    neighbours: '_a_*b*'.repeat(16_000),
    brackets: '['.repeat(100_000),
    'open links': '[a]('.repeat(25_000),
    parentheses: `http://a${')'.repeat(100_000)}`,
    ticks: Array.from({ length: 440 }, (_, i) => '`'.repeat(i + 1)).join(' '),
    quotes: '>'.repeat(100_000),
    items: '- '.repeat(50_000),
    'deep lists': Array.from({ length: 2000 }, (_, i) => `${' '.repeat(i % 100)}- x`).join('\n'),
    spaces: `# ${' '.repeat(100_000)}x`,
    pipes: `${'|'.repeat(50_000)}\n${'|-'.repeat(25_000)}`,
    newlines: '\n'.repeat(100_000),
  };
  for (const [name, text] of Object.entries(hard)) {
    const startedMs = performance.now();
    formatMarkdownV2(text);
    const tookMs = performance.now() - startedMs;
    assert.ok(tookMs < 15_000, `${name} took ${tookMs} ms`);
  }
});
