import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markdownWords } from '../../src/lib/markdown/words.ts';
import { completeMarkdown } from './growing-markdown.ts';

test('what the last line has opened is closed', () => {
  for (const [growing, whole] of [
    ['a **bo', 'a **bo**'],
    ['a **bold*', 'a **bold**'],
    ['a **bold**', 'a **bold**'],
    ['- **', '- '],
    ['a `co', 'a `co`'],
    ['a `', 'a '],
    ['`**` and **b', '`**` and **b**'],
    ['see [the do', 'see the do'],
    ['see [the docs](https://exa', 'see the docs'],
    ['~~old', '~~old~~'],
    ['plain', 'plain'],
    ['', ''],
  ] as const) assert.equal(completeMarkdown(growing), whole, growing);
});

test('code is left alone while its fence is open', () => {
  assert.equal(completeMarkdown('```py\na ** b'), '```py\na ** b');
  assert.equal(completeMarkdown('```py\nx\n```\n**b'), '```py\nx\n```\n**b**');
});

test('however a text is cut, no marker of it shows', () => {
  const text = 'One **bold** word, `code`, ~~gone~~ and a [link](https://example.com).\n\n- **first** item\n- second';
  for (let end = 0; end <= text.length; end += 1) assert.doesNotMatch(markdownWords(completeMarkdown(text.slice(0, end))), /[*`~[\]]/, text.slice(0, end));
});
