import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { inlineText, parseInlines } from './inlines.ts';
import { parseMarkdown } from './parse.ts';
import { inlineRanges } from './ranges.ts';
import type { Block, Inline } from './tree.ts';

/** A short notation for trees, so that expectations can be read. */
const inlines = (nodes: readonly Inline[]): string =>
  nodes
    .map((node) => {
      if (node.type === 'text') return node.text;
      if (node.type === 'code') return `code(${node.text})`;
      if (node.type === 'image') return `image(${node.alt}|${node.url})`;
      return `${node.type}(${inlines(node.children)}${node.type === 'link' ? `|${node.url}` : ''})`;
    })
    .join('');

const blocks = (nodes: readonly Block[]): string[] =>
  nodes.map((node) => {
    switch (node.type) {
      case 'paragraph':
        return inlines(node.children);
      case 'heading':
        return `h${node.level}(${inlines(node.children)})`;
      case 'code':
        return `code[${node.language}](${node.text})`;
      case 'quote':
        return `quote(${blocks(node.blocks).join(' / ')})`;
      case 'list':
        return `list(${node.items.map((item) => `${item.marker}${item.checked === undefined ? '' : item.checked} ${blocks(item.blocks).join(' / ')}`).join(', ')})`;
      case 'table':
        return `table(${[node.header, ...node.rows].map((row) => row.map(inlines).join('|')).join(', ')})`;
      default:
        return node.type;
    }
  });

const reads = (source: string, ...expected: readonly string[]): void => assert.deepEqual(blocks(parseMarkdown(source)), expected);
const inline = (source: string, expected: string): void => assert.equal(inlines(parseInlines(source)), expected);

test('emphasis follows the flanking rules', () => {
  inline('**a** __b__ *c* _d_ ~~e~~ ||f||', 'bold(a) bold(b) italic(c) italic(d) strike(e) spoiler(f)');
  inline('***a*** **b *c* d** *e **f** g*', 'italic(bold(a)) bold(b italic(c) d) italic(e bold(f) g)');
  inline('snake_case_name a_b_ _c d_e', 'snake_case_name a_b_ _c d_e');
  inline('a * b * c ** d ~e~ |f|', 'a * b * c ** d ~e~ |f|');
  inline('*a **b*', '*a *italic(b)');
  inline('un**frigging**believable', 'unbold(frigging)believable');
});

test('a style never contains itself and never neighbours itself', () => {
  inline('**a __b__ c**', 'bold(a b c)');
  inline('*a*_b_', 'italic(ab)');
  inline('*a _b_*_c_', 'italic(a bc)');
});

test('code wins over everything, and needs its own number of backticks', () => {
  inline('`*a*` ``b ` c`` `` ` ``', 'code(*a*) code(b ` c) code(`)');
  inline('*a `b* c`', '*a code(b* c)');
  inline('`open **b**', '`open bold(b)');
  inline('\\`a\\` `b\\`', '`a` code(b\\)');
});

test('links may contain markup and parentheses, but no links', () => {
  inline('[a **b**](https://x.org/a_(b)_c "t") [c](<d e>)', 'link(a bold(b)|https://x.org/a_(b)_c) link(c|d e)');
  inline('[a [b](c) d](e)', '[a link(b|c) d](e)');
  inline('![a **b**](c) [![d](e)](f)', 'image(a b|c) link(image(d|e)|f)');
  inline('*[a*](b) **[c](d)**', '*link(a*|b) bold(link(c|d))');
  inline('[a] [b]( [c](d e) [f]()', '[a] [b]( [c](d e) [f]()');
});

test('addresses are links and end where their sentence goes on', () => {
  inline('see https://x.org/a_b_c, (https://x.org/(y)). <https://z.org/*>', 'see link(https://x.org/a_b_c|https://x.org/a_b_c), (link(https://x.org/(y)|https://x.org/(y))). link(https://z.org/*|https://z.org/*)');
  inline('**https://x.org** xhttps://y.org https://', 'bold(link(https://x.org|https://x.org)) xhttps://y.org https://');
});

test('blocks are told apart, with the blank lines between them', () => {
  reads('# A\ntext\nmore\n\n---\n> q\n> r\nafter', 'h1(A)', 'text\nmore', 'rule', 'quote(q\nr)', 'after');
  assert.deepEqual(
    parseMarkdown('\na\n\n\nb\nc').map(({ gap }) => gap),
    [1, 2],
  );
  reads('#tag\n####### seven\n- \n1.5', '#tag\n####### seven\n- \n1.5');
  reads('  indented\n    more', '  indented\n    more');
  reads('a\r\nb\r\n\r\nc', 'a\nb', 'c');
});

test('lists nest by two columns, and own their code however it is indented', () => {
  reads('- a\n  - b\n    c\n* d\n\n+ e', 'list(- a / list(- b / c), * d, + e)'.replace('b / c', 'b\nc'));
  reads('1. a\n  - b\n2) c\n- d', 'list(1. a / list(- b), 2) c)', 'list(- d)');
  reads('- a\n\n  b\n\nc', 'list(- a / b)', 'c');
  reads('- [ ] a\n- [X] b\n- [x]', 'list(-false a, -true b, - [x])');
  reads('- a\n  ```js\nno indent\n\n  x\n  ```\n- b', 'list(- a / code[js](no indent\n\nx), - b)');
});

test('fences may be longer, of tildes, quoted, indented or open', () => {
  reads('````md\n```js\nx\n```\n````', 'code[md](```js\nx\n```)');
  reads('~~~ c++ title\n```\n~~~', 'code[c++](```)');
  reads('   ```\n     a\n    b\n   ```', 'code[](  a\n b)');
  reads('> ```\n> a\nb', 'quote(code[](a))', 'b');
  reads('```\na\n``` b', 'code[](a\n``` b)');
  reads('a\n```js', 'a\n```js');
  reads('```only info\n```', 'code[](only info)');
});

test('a table has a rule with as many cells as its header', () => {
  reads('a | b\n--|:-:\n1 | `2` | 3\nend', 'table(a|b, 1|code(2)|3)', 'end');
  reads('| a |\n|---|\n| x \\| y |', 'table(a, x | y)');
  reads('| a | b |\n|---|', '| a | b |\n|---|');
});

const scribble = fc.array(fc.constantFrom('*', '**', '_', '~~', '||', '`', '``', '[', '](u)', '![', '\\', ' ', '\n', 'a', 'b', '(', ')', 'https://x.org ', '<', '>', '- ', '# '), { maxLength: 50 }).map((parts) => parts.join(''));

test('ranges are in order, inside the text, and nest or are apart', () => {
  fc.assert(
    fc.property(scribble, (text) => {
      const open: number[] = [];
      let last = 0;
      for (const { start, innerStart, innerEnd, end } of inlineRanges(text)) {
        assert.ok(last <= start && start <= innerStart && innerStart <= innerEnd && innerEnd <= end && end <= text.length);
        while ((open.at(-1) ?? Infinity) <= start) open.pop();
        assert.ok(end <= (open.at(-1) ?? Infinity));
        open.push(end);
        last = start;
      }
    }),
    { numRuns: 2000 },
  );
});

test('letters are never lost, whatever surrounds them', () => {
  fc.assert(
    fc.property(scribble, (text) => {
      const letters = (words: string): string => words.replace(/[^ab]/g, '');
      assert.equal(letters(inlineText(parseInlines(text))), letters(text));
    }),
    { numRuns: 2000 },
  );
});
