import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeyDecoder } from './keys.ts';
import { newPrompt, press, remember } from './prompt.ts';
import type { Action, Prompt } from './prompt.ts';

interface Typed {
  readonly prompt: Prompt;
  readonly actions: readonly Action[];
  /** The text with `|` at the cursor. */
  readonly shown: string;
}

/** What the input line holds after these bytes from a keyboard. */
const type = (bytes: string, from: Prompt = newPrompt([])): Typed => {
  const decoder = new KeyDecoder();
  const actions: Action[] = [];
  let prompt = from;
  for (const key of [...decoder.read(bytes), ...decoder.flush()]) {
    const pressed = press(prompt, key);
    prompt = pressed.prompt;
    if (pressed.action !== undefined) actions.push(pressed.action);
  }
  const { text, cursor } = prompt.editor;
  return { prompt, actions, shown: `${text.slice(0, cursor)}|${text.slice(cursor)}` };
};

const [ctrlA, ctrlE, ctrlK, ctrlU, ctrlW, ctrlY, ctrlR, ctrlD, ctrlJ] = ['\u0001', '\u0005', '\u000b', '\u0015', '\u0017', '\u0019', '\u0012', '\u0004', '\n'];
const [left, right, up, down, backspace, escape] = ['\u001b[D', '\u001b[C', '\u001b[A', '\u001b[B', '\u007f', '\u001b'];
const [wordLeft, wordRight, altD, altEnter] = ['\u001bb', '\u001bf', '\u001bd', '\u001b\r'];

test('the cursor moves over characters as people see them', () => {
  assert.equal(type(`a👩‍👩‍👧e\u0301${left}${left}`).shown, 'a|👩‍👩‍👧e\u0301');
  assert.equal(type(`世界${left}${backspace}`).shown, '|界');
  assert.equal(type(`👍🏽🇩🇪${backspace}`).shown, '👍🏽|');
  assert.equal(type(`${left}${left}x${right}${right}`).shown, 'x|');
});

test('Emacs keys cut, yank and jump', () => {
  assert.equal(type(`one two${ctrlA}x`).shown, 'x|one two');
  assert.equal(type(`one two${ctrlA}x${ctrlE}y`).shown, 'xone twoy|');
  assert.equal(type(`one two${wordLeft}${ctrlK}${ctrlA}${ctrlY}`).shown, 'two|one ');
  assert.equal(type(`one two${ctrlU}x${ctrlY}`).shown, 'xone two|');
  assert.equal(type(`cd ~/some-folder/x${ctrlW}`).shown, 'cd |');
  assert.equal(type(`one two three${wordLeft}${wordLeft}${altD}`).shown, 'one | three');
  assert.equal(type(`äöü 世界${wordLeft}${wordLeft}${wordRight}`).shown, 'äöü| 世界');
});

test('several lines are made by Alt-Enter, Control-J and a backslash at the end, and sent by Enter', () => {
  assert.equal(type(`one${altEnter}two${ctrlJ}three\\\rfour`).shown, 'one\ntwo\nthree\nfour|');
  assert.deepEqual(type(`one${ctrlJ}two\r`).actions, [{ type: 'submit', text: 'one\ntwo' }]);
  assert.deepEqual(type('a path ends in \\\\\r').actions, [{ type: 'submit', text: 'a path ends in \\\\' }]);
  assert.deepEqual(type(`  ${ctrlJ} \r`).actions, []);
});

test('within several lines Up and Down keep the column, Home and End stay in the line', () => {
  const three = `first${ctrlJ}世界 two${ctrlJ}third`;
  assert.equal(type(`${three}${up}x`).shown, 'first\n世界 twx|o\nthird');
  assert.equal(type(`${three}${up}${up}${down}${ctrlA}x`).shown, 'first\nx|世界 two\nthird');
  assert.equal(type(`${three}${ctrlU}${backspace}`).shown, 'first\n世界 two|');
  assert.equal(type(`${three}${up}${ctrlA}${ctrlK}${ctrlK}`).shown, 'first\n|third');
});

test('pasted text is one input: its lines do not send it, and nothing in it is obeyed', () => {
  const pasted = type(`\u001b[200~one\r\ntwo\u001b[31m\u0007\rthree\u001b[201~`);
  assert.equal(pasted.shown, 'one\ntwo\nthree|');
  assert.deepEqual(pasted.actions, []);
});

test('Up and Down walk through the history and come back to what was being written', () => {
  const prompt = newPrompt(['oldest', 'two\nlines', 'newest']);
  assert.equal(type(`draft${up}`, prompt).shown, 'newest|');
  assert.equal(type(`draft${up}${up}`, prompt).shown, 'two\nlines|');
  assert.equal(type(`draft${up}${up}${up}${up}`, prompt).shown, 'oldest|');
  assert.equal(type(`draft${up}${up}${down}${down}`, prompt).shown, 'draft|');
  assert.equal(type(`${down}`, prompt).shown, '|');
});

test('what is sent is remembered once, and not when it begins with a space', () => {
  const { history } = remember(remember(remember(remember(newPrompt([]), 'a'), 'a'), ' secret'), 'b');
  assert.deepEqual(history, ['a', 'b']);
});

test('Control-R finds what was typed before, goes further back, and gives the draft back on Escape', () => {
  const prompt = newPrompt(['git status', 'make test', 'Git diff', 'other']);
  assert.equal(type(`draft${ctrlR}git`, prompt).shown, 'Git diff|');
  assert.equal(type(`draft${ctrlR}git${ctrlR}`, prompt).shown, 'git status|');
  assert.equal(type(`draft${ctrlR}git${ctrlR}${ctrlR}`, prompt).shown, 'git status|');
  assert.equal(type(`draft${ctrlR}git st`, prompt).shown, 'git status|');
  assert.equal(type(`draft${ctrlR}gitx${backspace}`, prompt).shown, 'Git diff|');
  assert.equal(type(`draft${ctrlR}nothing like it`, prompt).shown, 'draft|');
  assert.equal(type(`draft${ctrlR}git${escape}`, prompt).shown, 'draft|');
  assert.deepEqual(type(`${ctrlR}make\r`, prompt).actions, []);
  assert.deepEqual(type(`${ctrlR}make\r\r`, prompt).actions, [{ type: 'submit', text: 'make test' }]);
  assert.equal(type(`${ctrlR}make${left}x`, prompt).shown, 'make tesx|t');
});

test('keys that mean more than editing say so', () => {
  const names = (bytes: string): readonly string[] => type(bytes).actions.map((action) => action.type);
  assert.deepEqual(names('\u0003'), ['interrupt']);
  assert.deepEqual(names(escape), ['stop']);
  assert.deepEqual(names(ctrlD), ['leave']);
  assert.deepEqual(names(`ab${left}${ctrlD}`), []);
  assert.deepEqual(names('\t'), ['complete']);
  assert.deepEqual(names('\u000c\u001a'), ['clear', 'suspend']);
});
