import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textWidth } from '../../lib/text-width.ts';
import { layOut } from './layout.ts';
import type { View } from './layout.ts';
import { newPrompt } from './prompt.ts';
import { promptRows, visibleRows } from './prompt-rows.ts';
import { statusLine } from './status-line.ts';
import type { StatusFacts } from './status-line.ts';
import { lineText } from './style.ts';

const status: StatusFacts = { model: 'some-model', contextTokens: 3_200, contextLength: 128_000, usage: { inputTokens: 12_345, outputTokens: 678 }, session: { id: '20261115_100000_0a1b2c3d', title: null }, workingMs: undefined, waiting: 0, away: undefined, unsent: 0 };
const view = (facts: Partial<View> = {}): View => ({ live: [], prompt: newPrompt([]), status, hint: undefined, nowMs: 0, ...facts });
const typed = (text: string, cursor = text.length) => ({ ...newPrompt([]), editor: { text, cursor, killed: '' } });
const texts = (shown: View, columns = 60, rows = 20): readonly string[] => layOut(shown, { columns, rows }, false).lines.map((each) => lineText(each).trimEnd());

test('the status line says the state first and drops details for which there is no room', () => {
  assert.equal(lineText(statusLine(status, 80)).replace(/─+$/, '').trim(), '─ idle · some-model · 0a1b2c3d · ~3% of 128k · ↑12k ↓678');
  assert.match(lineText(statusLine({ ...status, usage: { ...status.usage, cost: { usd: 0.123, status: 'estimated' } } }, 90)), /↓678 · ~\$0\.12 /);
  assert.equal(lineText(statusLine({ ...status, workingMs: 61_500, waiting: 2 }, 60)).replace(/─+$/, '').trim(), '─ working 61 s, 2 waiting · some-model · 0a1b2c3d');
  assert.equal(lineText(statusLine({ ...status, away: 'the gateway is away', unsent: 1 }, 40)).replace(/─+$/, '').trim(), '─ the gateway is away, 1 to send');
  assert.match(lineText(statusLine({ ...status, session: { id: 'x', title: 'Trip to Rome\u001b[2J' } }, 80)), /“Trip to Rome”/);
  for (let columns = 10; columns < 140; columns += 1) assert.ok(textWidth(lineText(statusLine(status, columns))) <= columns);
});

test('the cursor stands where the text is, also behind wide characters and at the edge', () => {
  assert.deepEqual(promptRows('世界ab', 2, 20).cursor, { row: 0, column: 4 });
  assert.deepEqual(promptRows('abcd', 4, 4), { rows: ['abcd', ''], cursor: { row: 1, column: 0 } });
  assert.deepEqual(promptRows('世界世', 3, 5), { rows: ['世界', '世'], cursor: { row: 1, column: 2 } });
  assert.deepEqual(promptRows('one\ntwo', 4, 20), { rows: ['one', 'two'], cursor: { row: 1, column: 0 } });
  assert.deepEqual(promptRows('a\tb', 2, 20), { rows: ['a    b'], cursor: { row: 0, column: 5 } });
});

test('of a long input the rows around the cursor are shown', () => {
  const rows = promptRows(Array.from({ length: 30 }, (_, i) => `line ${i}`).join('\n'), 0, 20);
  assert.deepEqual(visibleRows(rows, 3), { rows: ['line 0', 'line 1', 'line 2'], cursor: { row: 0, column: 0 }, above: 0, below: 27 });
  const middle = visibleRows({ ...rows, cursor: { row: 15, column: 2 } }, 5);
  assert.deepEqual([middle.rows[middle.cursor.row], middle.above, middle.below], ['line 15', 13, 12]);
});

test('live text, status, input and candidates stand in this order', () => {
  const shown = view({ live: [{ type: 'growing', id: 'a1', text: '# Title\n\ngrows ▉' }, { type: 'tool', callId: 'c', name: 'search', preview: 'rome', startedMs: -1500 }], prompt: { ...typed('/re'), menu: ['/reset', '/resume'] }, hint: 'Ctrl-C again to leave' });
  assert.deepEqual(texts(shown), ['', '# Title', '', 'grows ▉', '', '⚙ search rome … 1.5 s', '', '─ idle · some-model · 0a1b2c3d · ~3% of 128k · ↑12k ↓678 ───', '› /re', '  /reset  /resume', '  Ctrl-C again to leave']);
});

test('it is never higher than the screen or wider than it, and the input line is always in sight', () => {
  const long = Array.from({ length: 40 }, (_, i) => `line ${i} 世界 and some more words to fill it`).join('\n');
  for (const [columns, rows] of [[20, 5], [40, 8], [60, 20], [120, 50]] as const) {
    const shown = view({ live: [{ type: 'growing', id: 'a1', text: long }], prompt: { ...typed(long, 500), menu: Array.from({ length: 100 }, (_, i) => `/candidate-${i}`) } });
    const { lines, cursor } = layOut(shown, { columns, rows }, true);
    assert.ok(lines.length < rows, `${lines.length} lines on ${rows} rows`);
    for (const each of lines) assert.ok(textWidth(lineText(each)) <= columns, lineText(each));
    assert.ok(cursor.row < lines.length && cursor.column <= columns);
  }
});

test('a search in the history says what is looked for', () => {
  const prompt = { ...typed('git status'), search: { query: 'git', at: 0, before: { text: '', cursor: 0, killed: '' } } };
  assert.equal(texts(view({ prompt })).at(-1), '  history: git▏  Ctrl-R older · Enter take · Esc back');
});
