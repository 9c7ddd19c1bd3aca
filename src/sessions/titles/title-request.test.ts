import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TranscriptMessage } from '../../core/transcript.ts';
import { readTitle, titleRequest } from './title-request.ts';

const plain = { redact: (text: string) => text };

const rows = (...said: readonly (readonly [TranscriptMessage['role'], string])[]): TranscriptMessage[] => said.map(([role, content]) => ({ role, content }));

test('the model is shown what was said, without results of tools, and cut where it is long', () => {
  const request = titleRequest(rows(['user', 'p'.repeat(2000)], ['assistant', ''], ['tool', 'a result'], ['assistant', 'a'.repeat(2000)]), plain);
  assert.equal(request?.prompt, `<conversation>\nPerson: ${'p'.repeat(1000)}…\n\nAgent: ${'a'.repeat(500)}…\n</conversation>`);
  assert.match(request.system, /in the language of the person/);
});

test('secrets are taken out before anything is cut, and a language can be asked for', () => {
  const request = titleRequest(rows(['user', `${'p'.repeat(995)} sk-secret`]), { language: 'Deutsch', redact: (text) => text.replaceAll('sk-secret', '***') });
  assert.equal(request?.prompt.includes('sk-'), false);
  assert.match(request?.system ?? '', /in this language: Deutsch/);
});

test('where no person has spoken there is nothing to ask', () => {
  assert.equal(titleRequest([], plain), undefined);
  assert.equal(titleRequest(rows(['assistant', 'Hello'], ['user', '  ']), plain), undefined);
});

test('a title is read without what models put around it', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['Trip to Rome', 'Trip to Rome'],
    ['  "Trip to Rome."  ', 'Trip to Rome'],
    ['**Title:** “Trip to Rome”', 'Trip to Rome'],
    ['# Title: Trip to Rome\n\nThis names what is planned.', 'Trip to Rome'],
    ['修复登录按钮。', '修复登录按钮'],
    ['Fix C++ build #12', 'Fix C++ build #12'],
    ['Trip\u202Eto\u0007 Rome', 'Tripto Rome'],
  ];
  for (const [answer, title] of cases) assert.equal(readTitle(answer), title, answer);
});

test('what is no title is none: a hyphen, nothing, and an answer to what was said', () => {
  for (const answer of ['-', '—', '42', '"-"', '', '...', 'Of course, here is how you can plan a trip to Rome in the spring with two children', `${'Word'.repeat(25)}`]) assert.equal(readTitle(answer), undefined, answer);
});
