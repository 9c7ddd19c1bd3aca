import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { alternate } from '../../agent/alternation.ts';
import type { TranscriptMessage } from '../../core/transcript.ts';
import { drawBoundaries, exchangesStart, headThrough, tailLimits, tailStart } from './boundaries.ts';
import type { Boundaries, BoundaryRow, Level, TailLimits } from './boundaries.ts';

const row = (id: number, role: BoundaryRow['role'], tokens = 10): BoundaryRow => ({ id, role, tokens });

/** `u` a person, `a` an answer, `c` an answer with calls, `t` a result; each weighs ten tokens. */
const talk = (letters: string): readonly BoundaryRow[] => [...letters].map((letter, at) => row(at + 1, letter === 'u' ? 'user' : letter === 't' ? 'tool' : 'assistant'));

const limits = (tokens: number, wantRows = 0, floorRows = 0, mostRows = 1000): TailLimits => ({ tokens, wantRows, floorRows, mostRows });

test('the newest part is as much as fits, and begins with what somebody said', () => {
  assert.equal(tailStart(talk('uauaua'), limits(40)), 2);
  assert.equal(tailStart(talk('uauaua'), limits(35)), 4, 'the answer alone would fit, without its question it says little');
  assert.equal(tailStart(talk('uauaua'), limits(1000)), 0);
});

test('a call and its results are kept or left together', () => {
  assert.equal(tailStart(talk('uacttau'), limits(30)), 6);
  assert.equal(tailStart(talk('uacttau'), limits(50)), 2);
  assert.equal(tailStart(talk('ucttcttt'), limits(10)), 4, 'the last piece is kept whatever it weighs');
});

test('a wanted number of messages may go a little over the tokens, a floor goes over by anything', () => {
  const rows = talk('uauauauaua');
  assert.equal(tailStart(rows, limits(40, 6)), 4);
  assert.equal(tailStart(rows, limits(30, 6)), 6);
  assert.equal(tailStart(rows, limits(30, 0, 8)), 2);
  assert.equal(tailStart(rows, limits(1000, 20, 0, 5)), 6);
});

test('each level keeps less', () => {
  const rows = talk('ua'.repeat(40));
  const kept = ([0, 1, 2] as const).map((level) => rows.length - tailStart(rows, tailLimits(level, { tailTokens: 140 }, { protectLast: 20, most: 500 })));
  assert.deepEqual(kept, [20, 14, 6]);
});

test('the last exchanges begin where somebody spoke', () => {
  assert.equal(exchangesStart(talk('uauctaua'), 2), 2);
  assert.equal(exchangesStart(talk('uaua'), 9), 0);
});

test('the beginning ends with something of ours and never inside a call', () => {
  const head = (letters: string, protectFirst = 3, tokens = 100): number => headThrough(talk(letters), { protectFirst, tokens, keptThroughId: undefined });
  assert.equal(head('uauaua'), 2);
  assert.equal(head('uactau'), 2);
  assert.equal(head('ucttau'), 0);
  assert.equal(head('uctau'), 3);
  assert.equal(head('uauaua', 4, 30), 2);
  assert.equal(head('uauaua', 0), 0);
});

test('what was asked for last stays, although the work on it has filled the room since', () => {
  const newest = talk('uauuctctct').slice(2);
  const drawn = drawBoundaries({ headThroughId: 2, newest, tailStart: tailStart(newest, limits(20)), keepIds: [6, 5, 9, 1] });
  assert.deepEqual(drawn, { headThroughId: 2, tailFromId: 9, keepIds: [3, 4, 5, 6] });
});

test('the beginning stays the one that was kept before, and gives way when it is too large for the model', () => {
  const first = [row(1, 'user'), row(2, 'assistant'), row(51, 'user'), row(52, 'assistant')];
  assert.equal(headThrough(first, { protectFirst: 6, tokens: 100, keptThroughId: 2 }), 2);
  assert.equal(headThrough(first, { protectFirst: 6, tokens: 10, keptThroughId: 2 }), 0);
  assert.equal(headThrough(first, { protectFirst: 6, tokens: 100, keptThroughId: 0 }), 0);
});

/** A conversation as it really comes about: exchanges, with rounds of calls in between. */
const exchange = fc.tuple(fc.integer({ min: 1, max: 3 }), fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 4 }), fc.boolean());
const sizes = fc.integer({ min: 1, max: 400 });
const conversation = fc
  .array(exchange, { minLength: 1, maxLength: 25 })
  .chain((exchanges) => {
    const letters = exchanges.map(([said, rounds, answered]) => `${'u'.repeat(said)}${rounds.map((results) => `c${'t'.repeat(results)}`).join('')}${answered ? 'a' : ''}`).join('');
    return fc.tuple(fc.constant(letters), fc.array(sizes, { minLength: letters.length, maxLength: letters.length }));
  })
  .map(([letters, weights]) => talk(letters).map((each, at) => ({ ...each, tokens: weights[at] ?? 1 })));

interface Kept {
  readonly rows: readonly BoundaryRow[];
  readonly headThroughId: number;
  readonly throughId: number;
}

const draw = (kept: Kept, level: Level, tailTokens: number, again: boolean): Boundaries => {
  const headThroughId = headThrough(kept.rows.slice(0, 32), { protectFirst: 3, tokens: level === 2 ? 0 : tailTokens / 2, keptThroughId: again ? kept.headThroughId : undefined });
  const newest = kept.rows.filter((each) => each.id > headThroughId);
  return drawBoundaries({ headThroughId, newest, tailStart: tailStart(newest, tailLimits(level, { tailTokens }, { protectLast: 20, most: 30 })), keepIds: [] });
};

const apply = (kept: Kept, boundaries: Boundaries): Kept => {
  const isMiddle = ({ id }: BoundaryRow): boolean => id > boundaries.headThroughId && id < boundaries.tailFromId && !boundaries.keepIds.includes(id);
  const middle = kept.rows.filter(isMiddle);
  return { rows: kept.rows.filter((each) => !isMiddle(each)), headThroughId: boundaries.headThroughId, throughId: middle.at(-1)?.id ?? kept.throughId };
};

/** What the model gets: calls and results by position in the whole conversation, and a summary where it belongs. */
const transcript = (whole: readonly BoundaryRow[], kept: Kept): readonly TranscriptMessage[] => {
  const calls = (id: number): readonly number[] => {
    const results: number[] = [];
    for (let at = id; whole[at]?.role === 'tool'; at += 1) results.push(whole[at]?.id ?? 0);
    return results;
  };
  const toMessage = ({ id, role }: BoundaryRow): TranscriptMessage => {
    if (role === 'tool') return { role, content: `result ${id}`, toolCallId: String(id), toolName: 'x' };
    const results = role === 'assistant' ? calls(id) : [];
    return { role, content: `said ${id}`, ...(results.length > 0 && { toolCalls: results.map((result) => ({ id: String(result), name: 'x', arguments: '{}' })) }) };
  };
  const before = kept.rows.filter((each) => each.id <= kept.throughId).map(toMessage);
  const after = kept.rows.filter((each) => each.id > kept.throughId).map(toMessage);
  return kept.throughId === 0 ? after : [...before, { role: 'user', content: 'SUMMARY' }, ...after];
};

const isPairedAndAlternating = (whole: readonly BoundaryRow[], kept: Kept): void => {
  const given = transcript(whole, kept);
  const sent = alternate(given);
  const resultsIn = (rows: readonly TranscriptMessage[]): readonly string[] => rows.filter((each) => each.role === 'tool').map((each) => each.content);
  assert.deepEqual(resultsIn(sent), resultsIn(given), 'no result was dropped or made up');
  for (const [at, each] of sent.entries()) if (at > 0 && each.role !== 'tool') assert.notEqual(each.role, sent[at - 1]?.role);
};

test('whatever the conversation is, pairs stay whole, roles alternate, and what people asked last and the newest piece stay', () => {
  fc.assert(
    fc.property(conversation, fc.constantFrom<Level>(0, 1, 2), fc.integer({ min: 10, max: 2000 }), (whole, level, tailTokens) => {
      const before: Kept = { rows: whole, headThroughId: 0, throughId: 0 };
      const after = apply(before, draw(before, level, tailTokens, false));
      isPairedAndAlternating(whole, after);
      const asked = whole.findLast((each) => each.role === 'user');
      assert.ok(after.rows.some((each) => each.id === asked?.id));
      assert.equal(after.rows.at(-1)?.id, whole.at(-1)?.id);
    }),
    { numRuns: 1000 },
  );
});

test('doing it again changes nothing, and a harder level only takes away', () => {
  fc.assert(
    fc.property(conversation, fc.integer({ min: 10, max: 2000 }), (whole, tailTokens) => {
      let kept: Kept = { rows: whole, headThroughId: 0, throughId: 0 };
      for (const [at, level] of ([0, 1, 2] as const).entries()) {
        const after = apply(kept, draw(kept, level, tailTokens, at > 0));
        assert.ok(after.rows.every((each) => kept.rows.includes(each)));
        assert.deepEqual(apply(after, draw(after, level, tailTokens, true)).rows, after.rows);
        isPairedAndAlternating(whole, after);
        kept = after;
      }
    }),
    { numRuns: 1000 },
  );
});

test('a conversation that goes on and is cut again and again never loses a pair or the last request', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(conversation, fc.constantFrom<Level>(0, 1, 2)), { minLength: 1, maxLength: 6 }), fc.integer({ min: 50, max: 1000 }), (parts, tailTokens) => {
      let whole: BoundaryRow[] = [];
      let kept: Kept = { rows: [], headThroughId: 0, throughId: 0 };
      for (const [at, [more, level]] of parts.entries()) {
        const added = more.map((each) => ({ ...each, id: each.id + whole.length }));
        whole = [...whole, ...added];
        kept = { ...kept, rows: [...kept.rows, ...added] };
        kept = apply(kept, draw(kept, level, tailTokens, at > 0));
        isPairedAndAlternating(whole, kept);
        assert.ok(kept.rows.some((each) => each.id === whole.findLast((one) => one.role === 'user')?.id));
      }
    }),
    { numRuns: 300 },
  );
});
