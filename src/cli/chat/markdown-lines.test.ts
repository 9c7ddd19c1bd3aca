import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { textWidth } from '../../lib/text-width.ts';
import { markdownLines, markdownTail } from './markdown-lines.ts';
import { lineText, paintLine } from './style.ts';

const plain = (markdown: string, columns = 40): readonly string[] => markdownLines(markdown, { columns, colored: false }).map((each) => lineText(each).trimEnd());
const painted = (markdown: string): readonly string[] => markdownLines(markdown, { columns: 60, colored: true }).map((each) => paintLine(each, true));

test('headings, emphasis and code are styled, or marked where there are no colours', () => {
  assert.deepEqual(painted('# Title\n\nIs **bold**, *soft*, ~~gone~~ and `code`.'), ['\u001b[1;4mTitle\u001b[0m', '', 'Is \u001b[1mbold\u001b[0m, \u001b[3msoft\u001b[0m, \u001b[9mgone\u001b[0m and \u001b[36mcode\u001b[0m.']);
  assert.deepEqual(plain('## Title\n\nIs **bold** and `code`.'), ['## Title', '', 'Is bold and `code`.']);
});

test('paragraphs wrap between words, and wide characters anywhere', () => {
  assert.deepEqual(plain('one two three four five', 11), ['one two', 'three four', 'five']);
  assert.deepEqual(plain('世界世界世界', 7), ['世界世', '界世界']);
  assert.deepEqual(plain('abcdefghijklmnop', 6), ['abcdef', 'ghijkl', 'mnop']);
  for (const each of markdownLines('one  two three   four', { columns: 9, colored: false })) assert.equal(lineText(each), lineText(each).trimEnd());
});

test('lists hang, nest and keep their numbers and boxes', () => {
  assert.deepEqual(plain('- one two three four\n  - inner\n- [x] done\n\n9. nine\n10. ten', 12), ['• one two', '  three four', '  • inner', '☑ done', '', '9. nine', '10. ten']);
});

test('code keeps its spaces behind a gutter and is cut hard', () => {
  assert.deepEqual(plain('```ts\nif (x) {\n\treturn  y;\n}\n```', 12), ['│ if (x) {', '│     return', '│   y;', '│ }']);
});

test('quotes have a gutter, also inside one another', () => {
  assert.deepEqual(plain('> one\n> > two'), ['▌ one', '▌ ▌ two']);
});

test('tables are aligned by what is seen, and wrap inside their columns', () => {
  assert.deepEqual(plain('| name | what |\n|---|---|\n| 世界 | wide |\n| `a` | **b** |'), ['name │ what', '─────┼─────', '世界 │ wide', '`a`  │ b']);
  assert.deepEqual(plain('| a | b |\n|---|---|\n| one | two three four five |', 20), ['a   │ b', '────┼───────────────', 'one │ two three four', '    │ five']);
});

test('a table without room becomes a list', () => {
  assert.deepEqual(plain('| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |', 16), ['a: 1', 'b: 2', 'c: 3']);
});

test('the address of a link is always shown', () => {
  assert.deepEqual(plain('[bank](https://evil.example) https://example.org'), ['bank (https://evil.example)', 'https://example.org']);
});

test('nothing in a text can control the terminal', () => {
  assert.deepEqual(plain('a\u001b[2Jb `c\u0007d`\n\n```\n\u001b]0;x\u0007e\n```'), ['ab `cd`', '', '│ e']);
});

const chunk = fc.constantFrom('# h\n', '- a\n', '  - b\n', '1. c\n', '> q\n', '| x | y |\n|---|---|\n| 1 | 2 |\n', '```\ncode code\n```\n', '**bold** ', '`code` ', '世界世界 ', '👩‍👩‍👧', 'word ', '\n', 'averyveryverylongwordwithoutanyspace ', '[l](https://example.org/path) ');

test('no line is ever wider than the window', () => {
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 30 }), fc.integer({ min: 24, max: 90 }), (parts, columns) => {
      for (const each of plain(parts.join(''), columns)) assert.ok(textWidth(each) <= columns, `${textWidth(each)} > ${columns}: ${each}`);
    }),
  );
});

test('the tail is the end of the whole', () => {
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 30 }), fc.integer({ min: 1, max: 12 }), (parts, rows) => {
      const look = { columns: 50, colored: true };
      const markdown = parts.join('');
      assert.deepEqual(markdownTail(markdown, look, rows), markdownLines(markdown, look).slice(-rows));
    }),
  );
});
