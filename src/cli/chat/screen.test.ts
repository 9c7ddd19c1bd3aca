import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModelTerminal } from './model-terminal.test-support.ts';
import { Screen } from './screen.ts';
import { line } from './style.ts';

const area = (...texts: readonly string[]) => ({ lines: texts.map((text) => line(text)), cursor: { row: texts.length - 1, column: 2 } });
const lines = (...texts: readonly string[]) => texts.map((text) => line(text));

const open = (columns = 20, rows = 6) => {
  const terminal = new ModelTerminal(columns, rows);
  return { terminal, screen: new Screen({ colored: false, size: () => terminal, write: (text) => terminal.write(text) }) };
};

test('finished lines are printed once, above an area that is drawn in place', () => {
  const { terminal, screen } = open();
  screen.draw(area('status', '> '));
  screen.draw(area('status', '> a'), lines('one'));
  screen.draw(area('grows', 'status', '> ab'), lines('two', 'three'));
  screen.draw(area('status', '> abc'));
  assert.deepEqual(terminal.shown(), ['one', 'two', 'three', 'status', '> abc']);
  assert.equal(terminal.cursor.line, '> abc');
  assert.equal(terminal.cursor.column, 2);
});

test('what has scrolled away stays as it was', () => {
  const { terminal, screen } = open();
  for (let i = 0; i < 30; i += 1) screen.draw(area(`live ${i}`, 'status', '> '), lines(`line ${i}`));
  assert.deepEqual(terminal.shown(), [...Array.from({ length: 30 }, (_, i) => `line ${i}`), 'live 29', 'status', '>']);
});

test('a line that fills its row keeps its last character', () => {
  const { terminal, screen } = open(10);
  screen.draw(area('0123456789', '> '), lines('abcdefghij'));
  screen.draw(area('0123456789', '> '), lines('ABCDEFGHIJ'));
  assert.deepEqual(terminal.shown(), ['abcdefghij', 'ABCDEFGHIJ', '0123456789', '>']);
});

test('the area goes away without a trace', () => {
  const { terminal, screen } = open();
  screen.draw(area('status', '> half'), lines('said'));
  screen.release(lines('last words'));
  terminal.write('shell output\r\n');
  screen.draw(area('status', '> half'));
  assert.deepEqual(terminal.shown(), ['said', 'last words', 'shell output', 'status', '> half']);
});

test('after the window got narrower, everything that its lines have become is replaced', () => {
  const { terminal, screen } = open(20, 10);
  screen.draw(area('--------------------', '> '), lines('said'));
  // As a terminal does it that wraps long lines anew.
  terminal.columns = 10;
  terminal.lines.splice(1, 1, '----------', '----------');
  terminal.write('\n');
  screen.invalidate();
  screen.draw(area('----------', '> '));
  assert.deepEqual(terminal.shown(), ['said', '----------', '>']);
});

test('nothing is written when nothing has changed', () => {
  let written = 0;
  const screen = new Screen({ colored: false, size: () => ({ columns: 20, rows: 6 }), write: () => void (written += 1) });
  screen.draw(area('status', '> '));
  screen.draw(area('status', '> '));
  assert.equal(written, 1);
});
