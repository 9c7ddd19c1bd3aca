import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Question } from '../core/question.ts';
import { questionCode } from '../store/agents/questions.ts';
import type { StoredQuestion } from '../store/agents/questions.ts';
import { readMessage, readPress } from './read-answer.ts';

const approval: Question = {
  text: 'Shall I run `rm -r build`?',
  options: [
    { label: 'Allow once', value: 'once', words: ['yes', 'approve'] },
    { label: 'Deny', value: 'deny', words: ['no'] },
  ],
  answerer: 'approver',
  timeoutMs: 60_000,
};
const open: Question = { text: 'Which colour?', options: [], answerer: 'asker', timeoutMs: 60_000 };
const mixed: Question = { ...approval, text: 'Where to?', freeText: true };

const asked = (id: number, question: Question, more: Partial<StoredQuestion> = {}): StoredQuestion => ({
  id,
  key: `k${id}`,
  sessionId: 's',
  turnId: 1,
  target: { account: 'telegram', chatId: '42', chatType: 'dm' },
  askerId: '7',
  question,
  purpose: { type: 'call', callId: 'c' },
  state: 'open',
  answer: undefined,
  leftMs: 1000,
  ...more,
});

const read = (text: string, questions: readonly StoredQuestion[], more: { mayAnswer?: (question: StoredQuestion) => boolean; repliedTo?: StoredQuestion; sessionId?: string } = {}): string => {
  const result = readMessage({ text }, { open: questions, sessionId: 's', mayAnswer: () => true, ...more });
  return result.type === 'answer' ? `${result.question.id}=${result.value}` : result.type;
};

test('a number, a label, a value or one of its words answers the only open question', () => {
  const only = [asked(5, approval)];
  for (const text of ['1', 'Allow once', 'once', 'YES', 'approve!', ' yes. ']) assert.equal(read(text, only), '5=once', text);
  for (const text of ['2', 'deny', 'No']) assert.equal(read(text, only), '5=deny', text);
});

test('what is no answer is conversation', () => {
  for (const text of ['3', '0', 'yes please do', 'what does it do?', '', '11']) assert.equal(read(text, [asked(5, approval)]), 'other', text);
  assert.equal(read('yes', []), 'other');
});

test('a question without options takes any words, one with options only when it says so', () => {
  assert.equal(read('  dark blue ', [asked(5, open)]), '5=dark blue');
  assert.equal(read('to the moon', [asked(5, mixed)]), '5=to the moon');
  assert.equal(read('1', [asked(5, mixed)]), '5=once');
});

test('bare words answer nothing while several questions could be meant', () => {
  const two = [asked(5, approval), asked(41, approval)];
  assert.equal(read('yes', two), 'refused');
  assert.equal(read('hello', two), 'other');
  assert.equal(read(`#${questionCode(41)} yes`, two), '41=once');
  assert.equal(read(`#${questionCode(41).toUpperCase()} 2`, two), '41=deny');
  assert.equal(read(`#${questionCode(41)} maybe`, two), 'refused');
  assert.equal(read('#zzz yes', two), 'other');
});

test('a reply to a question answers it, and is conversation when it is no answer', () => {
  const second = asked(41, approval);
  const two = [asked(5, approval), second];
  assert.equal(read('yes', two, { repliedTo: second }), '41=once');
  assert.equal(read('why?', two, { repliedTo: second }), 'other');
});

test('a question of another conversation, or for another person, is not answered in bare words', () => {
  assert.equal(read('yes', [asked(5, approval, { sessionId: 'other' })]), 'other');
  assert.equal(read('yes', [asked(5, approval)], { mayAnswer: () => false }), 'other');
  assert.equal(read(`#${questionCode(5)} yes`, [asked(5, approval)], { mayAnswer: () => false }), 'refused');
  assert.equal(read('yes', [asked(5, approval), asked(41, approval)], { mayAnswer: (question) => question.id === 41 }), '41=once');
});

test('a press counts once, in time, by whom it is meant for, and only for an option that exists', () => {
  const press = (question: StoredQuestion | undefined, option: number, may = true): string => {
    const result = readPress(question, option, () => may);
    return result.type === 'answer' ? result.value : result.type;
  };
  assert.equal(press(asked(5, approval), 1), 'deny');
  assert.equal(press(asked(5, approval), 2), 'refused');
  assert.equal(press(asked(5, approval, { state: 'used' }), 1), 'refused');
  assert.equal(press(asked(5, approval, { leftMs: 0 }), 1), 'refused');
  assert.equal(press(asked(5, approval), 1, false), 'refused');
  assert.equal(press(undefined, 1), 'refused');
});
