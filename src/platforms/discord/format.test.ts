import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatDiscord, measureDiscord, plainDiscord } from './format.ts';
import { shownText } from './simulator/markup.ts';

describe('Markdown', () => {
  for (const [what, markdown, written] of [
    ['bold, italic, strikethrough and spoilers', '**b** *i* ~~s~~ ||x||', '**b** *i* ~~s~~ ||x||'],
    ['styles inside each other', '**b *both* b**', '**b *both* b**'],
    ['headings up to the third', '# one\n## two\n##### five', '# one\n## two\n### five'],
    ['links', '[label](https://example.org/a_(b))', '[label](https://example.org/a_%28b%29)'],
    ['bare addresses, untouched', 'see https://example.org/a_b_c*d', 'see https://example.org/a_b_c*d'],
    ['links to what Discord does not open', '[mail](mailto:a@example.org)', 'mail (a@example.org)'],
    ['lists as bullets', '- one\n- two', '• one\n• two'],
    ['quotes', '> said\n> so', '> said\n> so'],
    ['code with its language', '```ts\nconst a = `b`;\n```', '```ts\nconst a = `b`;\n```'],
    ['code that holds a fence', '````\n```\nx\n```\n````', '```\n`\u200B``\nx\n`\u200B``\n```'],
    ['code with a backtick in it', '``a`b``', '``a`b``'],
    ['mentions, channels, emoji and times, untouched', 'hi <@12> <@&3> <#4> <:wave:5> <t:6:R>', 'hi <@12> <@&3> <#4> <:wave:5> <t:6:R>'],
    ['names with underscores, untouched', 'snake_case_name and __dunder__', 'snake_case_name and **dunder**'],
    ['tables as lists', '| a | b |\n|---|---|\n| 1 | 2 |', '**a: 1**\n• b: 2'],
    ['nothing', '', ''],
  ] as const) {
    it(`has ${what}`, () => assert.equal(formatDiscord(markdown), written));
  }

  it('counts code points of what is sent', () => {
    assert.deepEqual([measureDiscord('😀'.repeat(3)), measureDiscord('**b**'), measureDiscord('2*3')], [3, 5, 4]);
  });
});

/** Words with every sign that means something to Discord. */
const words = fc.array(fc.constantFrom('a', 'B', '7', ' ', '\n', '*', '**', '_', '__', '~~', '||', '`', '```', '>', '> ', '#', '# ', '-', '- ', '-# ', '[x](y)', '<', '<@', '@everyone', '\\', '(', ')', ':', 'https', '😀'), { maxLength: 24 }).map((parts) => parts.join(''));

describe('plain text', () => {
  it('is shown sign by sign, whatever it is', () => {
    fc.assert(fc.property(words, (text) => assert.equal(shownText(plainDiscord(text)), text)), { numRuns: 2000 });
  });
});

describe('any text', () => {
  it('is written so that writing its words again changes nothing', () => {
    fc.assert(
      fc.property(words, (text) => {
        const shown = shownText(formatDiscord(text));
        assert.equal(shownText(plainDiscord(shown)), shown);
      }),
      { numRuns: 500 },
    );
  });

  it('without markup is shown as it was written', () => {
    for (const text of ['2*3*4', 'a_b_', '_x', '\\o/', '1. first', 'C:\\dir', 'a | b || c', '~5 ~~', 'x > y', '<b>', 'end`', '#1', '-5 degrees', '+1']) assert.equal(shownText(formatDiscord(text)), text);
  });
});
