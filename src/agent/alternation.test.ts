import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { TranscriptMessage } from '../core/transcript.ts';
import { alternate } from './alternation.ts';

const user = (content: string): TranscriptMessage => ({ role: 'user', content });
const said = (content: string): TranscriptMessage => ({ role: 'assistant', content });
const called = (...ids: string[]): TranscriptMessage => ({
  role: 'assistant',
  content: '',
  toolCalls: ids.map((id) => ({ id, name: 'look', arguments: '{}' })),
});
const result = (id: string, content = `result ${id}`): TranscriptMessage => ({ role: 'tool', content, toolCallId: id, toolName: 'look' });

/** The invariants themselves, written apart from the code that establishes them. */
const assertAlternates = (rows: readonly TranscriptMessage[]): void => {
  let owed: string[] = [];
  for (const [index, row] of rows.entries()) {
    const before = rows[index - 1]?.role;
    if (row.role === 'tool') {
      assert.equal(row.toolCallId, owed.shift(), 'a result follows its call, in order');
      continue;
    }
    assert.deepEqual(owed, [], 'every call has its result before anyone speaks');
    if (row.role === 'user') {
      assert.ok(before === undefined || before === 'assistant', `user after ${before}`);
      assert.ok(row.content.trim() !== '' || (row.attachments?.length ?? 0) > 0, 'a user message says something');
    } else {
      assert.ok(before === 'user' || before === 'tool', `assistant after ${before}`);
      assert.ok(row.content.trim() !== '' || (row.toolCalls?.length ?? 0) > 0, 'an assistant message says or calls something');
      if (row.toolCalls !== undefined) assert.ok(row.toolCalls.length > 0, 'no empty list of calls');
      owed = (row.toolCalls ?? []).map((call) => call.id);
      assert.equal(new Set(owed).size, owed.length, 'ids of calls differ');
    }
  }
  assert.deepEqual(owed, []);
};

const id = fc.constantFrom('a', 'b', 'c', 'd');
const content = fc.constantFrom('', ' ', 'x', 'hello');
const row: fc.Arbitrary<TranscriptMessage> = fc.oneof(
  content.map(user),
  fc.record({ content, photo: fc.boolean() }).map(({ content: text, photo }) => ({
    ...user(text),
    ...(photo && { attachments: [{ kind: 'photo' as const, mime: 'image/png', name: 'p.png', path: 'p.png' }] }),
  })),
  content.map(said),
  fc.tuple(content, fc.array(id, { maxLength: 3 })).map(([text, ids]) => ({ ...called(...ids), content: text })),
  id.map((each) => result(each)),
  fc.constant<TranscriptMessage>({ role: 'tool', content: 'nobody asked' }),
);
const transcript = fc.array(row, { maxLength: 25 });

test('whatever the transcript, what comes out alternates', () => {
  fc.assert(fc.property(transcript, (rows) => assertAlternates(alternate(rows))), { numRuns: 2000 });
});

test('repairing twice changes nothing more', () => {
  fc.assert(fc.property(transcript, (rows) => assert.deepEqual(alternate(alternate(rows)), alternate(rows))), { numRuns: 1000 });
});

test('no word of a person, no attachment and no result that was asked for is lost', () => {
  fc.assert(
    fc.property(transcript, (rows) => {
      const out = alternate(rows);
      const words = (all: readonly TranscriptMessage[], text: string): number =>
        all.filter((each) => each.role === 'user').reduce((sum, each) => sum + each.content.split(text).length - 1, 0);
      assert.equal(words(out, 'hello'), words(rows, 'hello'));
      const photos = (all: readonly TranscriptMessage[]): number => all.reduce((sum, each) => sum + (each.attachments?.length ?? 0), 0);
      assert.equal(photos(out), photos(rows));
    }),
    { numRuns: 1000 },
  );
});

const turn = fc.oneof(
  fc.constant([user('q'), said('a')]),
  fc.uniqueArray(id, { minLength: 1, maxLength: 3 }).map((ids) => [user('q'), called(...ids), ...ids.map((each) => result(each)), said('a')]),
);

test('a history in order is sent as it is, and stays the same bytes as it grows', () => {
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 6 }), (turns) => {
      const rows = turns.flat();
      assert.deepEqual(alternate(rows), rows);
      const broken = [...rows, user('x'), called('a', 'b'), result('b')];
      const longer = [...broken, user('again'), said('fine')];
      const before = alternate([...broken, user('again')]);
      assert.deepEqual(alternate(longer).slice(0, before.length), before);
    }),
  );
});

test('consecutive user messages become one, with a blank line between and all attachments', () => {
  const photo = { kind: 'photo', mime: 'image/png', name: 'p.png', path: 'p.png' } as const;
  assert.deepEqual(alternate([user('a'), { ...user('b'), attachments: [photo] }, user(' '), user('c')]), [
    { role: 'user', content: 'a\n\nb\n\nc', attachments: [photo] },
  ]);
});

test('orphan results are dropped, missing ones stubbed, late ones brought home', () => {
  const out = alternate([user('q'), result('x'), called('a', 'b'), user('hurry'), result('b'), said('ok'), result('a')]);
  assert.deepEqual(out.map((each) => each.toolCallId ?? each.role), ['user', 'assistant', 'a', 'b', 'assistant', 'user', 'assistant']);
  assert.match(out[2]!.content, /not run again/);
  assert.equal(out[3]!.content, 'result b');
  assert.equal(out[5]!.content, 'hurry');
});

test('ids that a server uses again in a later message find their own results', () => {
  const rows = [user('q'), called('call_0'), result('call_0', 'first'), called('call_0'), result('call_0', 'second'), said('done')];
  assert.deepEqual(alternate(rows), rows);
});

test('a conversation that the agent began starts with a user message', () => {
  const out = alternate([said('Good morning, here is your report.'), user('thanks')]);
  assert.deepEqual(out.map((each) => each.role), ['user', 'assistant', 'user']);
  assert.match(out[0]!.content, /starts with a message from you/);
});
