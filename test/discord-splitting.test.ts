import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composeDeliveries } from '../src/delivery/compose.ts';
import { splitMarkdown } from '../src/delivery/chunks.ts';
import { discord } from '../src/platforms/discord/index.ts';
import { formatDiscord } from '../src/platforms/discord/format.ts';
import vectors from './vectors/discord-splitting.json' with { type: 'json' };

const { limits } = discord;

test('Discord has the limits of the original', () => {
  assert.deepEqual([limits.text, limits.mostParts], [vectors.note.limit, vectors.note.max_messages]);
});

for (const { id, in: given, out } of vectors.cases) {
  if (typeof given === 'string') test(`${id}: shows nothing`, () => assert.equal(formatDiscord(given), out));
  else if ('parts' in given && given.parts !== undefined && typeof out === 'object' && 'n' in out) {
    test(`${id}: is cut into as many messages, each within the limit, and stays whole`, () => {
      const text = given.parts.map(({ s, n }) => s.repeat(n)).join('');
      const pieces = splitMarkdown(text, { limit: given.limit ?? limits.text, measure: (piece) => limits.measure(piece) });
      assert.equal(pieces.length, out.n);
      for (const piece of pieces) assert.ok([...formatDiscord(piece)].length <= vectors.note.limit);
      const words = pieces.map((piece) => piece.replace(/ \(\d+\/\d+\)$/, '')).join('');
      assert.equal(words.replaceAll(/\s/g, ''), text.replaceAll(/\s/g, ''));
    });
  } else if ('chunks' in given && given.chunks !== undefined && typeof out === 'object' && 'sent' in out) {
    test(`${id}: is sent as so many messages`, () => {
      const paragraph = 'word '.repeat(380).trim();
      const text = Array.from({ length: given.chunks }, () => paragraph).join('\n\n');
      const target = { account: 'discord', chatId: '1', chatType: 'dm' as const };
      assert.equal(composeDeliveries(discord, { key: 'k', target, text }).length, out.sent);
    });
  }
}
