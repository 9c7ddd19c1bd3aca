import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { splitMarkdown } from '../src/delivery/chunks.ts';
import { formatMarkdownV2, measureTelegram } from '../src/platforms/telegram/format.ts';
import { judgeMissing, openJudge } from './support/tdlib-judge.ts';

const limit = 4096;

const number = fc.nat({ max: 9999 }).map((n) => `w${n}z`);
const words = fc.array(number, { minLength: 3, maxLength: 40 }).map((list) => list.join(' '));
const block = fc.oneof(
  words,
  words.map((text) => `## ${text}`),
  words.map((text) => `> ${text}`),
  fc.tuple(words, number, words).map(([a, b, c]) => `${a} **${b}** [${b}](https://example.org/${'x'.repeat(80)}) \`${b}\` ${c}`),
  fc.array(words, { minLength: 1, maxLength: 12 }).map((items) => items.map((item, i) => `${i % 3 === 2 ? '  ' : ''}- ${item}`).join('\n')),
  fc.array(words, { minLength: 1, maxLength: 60 }).map((lines) => `\`\`\`python\n${lines.map((line) => `    ${line}`).join('\n')}\n\`\`\``),
  fc.array(fc.tuple(number, number, number), { minLength: 1, maxLength: 30 }).map((rows) => ['| a | b | c |', '|---|---|---|', ...rows.map((row) => `| ${row.join(' | ')} |`)].join('\n')),
);

test('a long answer reaches Telegram in chunks that it accepts, whole and in order', { skip: judgeMissing ?? false }, () => {
  const judge = openJudge();
  fc.assert(
    fc.property(fc.array(block, { minLength: 5, maxLength: 60 }), (blocks) => {
      const text = blocks.join('\n\n');
      const shown = splitMarkdown(text, { limit, measure: measureTelegram }).map((chunk) => {
        const verdict = judge(formatMarkdownV2(chunk));
        assert.ok(verdict.accepted, verdict.accepted ? '' : verdict.error);
        assert.ok(verdict.shows.length <= limit, String(verdict.shows.length));
        return verdict.shows;
      });
      assert.deepEqual(shown.join('\n').match(/w\d+z/g), text.replace(/\(https[^)]*\)/g, '').match(/w\d+z/g));
    }),
    { numRuns: 60 },
  );
});

test('a megabyte is cut and formatted without a long pause', () => {
  const text = 'The **quick** brown fox `jumps` over [the lazy dog](https://example.org/path).\n\n'.repeat(13_000);
  const startedMs = performance.now();
  const chunks = splitMarkdown(text, { limit, measure: measureTelegram });
  const tookMs = performance.now() - startedMs;
  assert.ok(chunks.length > 100);
  assert.ok(tookMs < 30_000, `${tookMs} ms`);
});
