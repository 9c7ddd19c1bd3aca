import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { judgeMissing, openJudge } from '../../../../test/support/tdlib-judge.ts';
import { parseMarkdownV2 } from './markdown-v2.ts';

const names: Readonly<Record<string, string>> = {
  Bold: 'bold',
  Italic: 'italic',
  Underline: 'underline',
  Strikethrough: 'strikethrough',
  Spoiler: 'spoiler',
  Code: 'code',
  Pre: 'pre',
  PreCode: 'pre',
  TextUrl: 'text_link',
  CustomEmoji: 'custom_emoji',
  BlockQuote: 'blockquote',
  ExpandableBlockQuote: 'expandable_blockquote',
};

/** Pieces from which every rule of the grammar can be met and broken. */
const pieces =
  ['*', '_', '__', '~', '||', '|', '`', '```', '[', ']', '(', ')', '!', '![', '>', '\n', '\n>', '\\', '\\*', '\\.', 'a', 'b ', 'é', '👍', '.', '#', '\r', '\r\n', '**', 'py\n', '](http://a.b/c)', '](tg://emoji?id=5368324170671202286)', ' ', '||\n'];

const sorted = (entities: readonly { type: string; offset: number; length: number }[]): readonly string[] => entities.map(({ type, offset, length }) => `${type} ${offset} ${length}`).toSorted();

describe('MarkdownV2 in the simulator', () => {
  it('is judged as Telegram judges it, with its words', { skip: judgeMissing }, () => {
    const judge = openJudge();
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 14 }), (parts) => {
        const source = parts.join('');
        const verdict = judge(source);
        const ours = parseMarkdownV2(source);
        if (verdict.accepted) {
          assert.ok(ours.ok, `${JSON.stringify(source)} is refused: ${ours.ok ? '' : ours.error}`);
          assert.equal(ours.text, verdict.shows);
          // Which words are links without a scheme is beyond the grammar.
          const withoutLinks = (type: string): boolean => type !== 'text_link';
          const theirs = verdict.entities.map((entity) => ({ ...entity, type: names[entity.type] ?? entity.type }));
          assert.deepEqual(sorted(ours.entities.filter(({ type }) => withoutLinks(type))), sorted(theirs.filter(({ type }) => withoutLinks(type))));
        } else {
          assert.deepEqual(ours, { ok: false, error: verdict.error.replace("Can't parse entities: ", '') });
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('keeps the address of a link', () => {
    assert.deepEqual(parseMarkdownV2('[x](https://a.b/c\\)d)'), { ok: true, text: 'x', entities: [{ type: 'text_link', url: 'https://a.b/c)d', offset: 0, length: 1 }] });
  });
});
