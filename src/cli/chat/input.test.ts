import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readInput } from './input.ts';
import { withoutSecrets } from './shell.ts';

const read = (text: string, at: Partial<Parameters<typeof readInput>[1]> = {}) => readInput(text, { lastShell: undefined, hasQuestion: false, ...at });

test('what belongs to the terminal stays there, everything else is said', () => {
  assert.deepEqual(['/quit', '/exit', '/clear', '/redraw', '/help', '/commands'].map((text) => read(text).type), ['leave', 'leave', 'clear', 'redraw', 'help', 'help']);
  for (const text of ['/status', '/q later', '/quitting', 'quit', '/etc/hosts', 'what is /quit?', '7']) assert.deepEqual(read(text), { type: 'say', text });
});

test('an exclamation mark runs a command, and two repeat the last one', () => {
  assert.deepEqual(read('!ls -l'), { type: 'shell', command: 'ls -l' });
  assert.deepEqual(read('!!', { lastShell: 'make' }), { type: 'shell', command: 'make' });
  assert.deepEqual(read('!!'), { type: 'shell', command: '' });
});

test('a bare number answers a question, if there is one', () => {
  assert.deepEqual(read('2', { hasQuestion: true }), { type: 'choice', number: 2 });
  assert.deepEqual(read('2 of them', { hasQuestion: true }), { type: 'say', text: '2 of them' });
});

test('commands of the person do not see what the settings call secret', () => {
  const env = { PATH: '/bin', OPENAI_API_KEY: 'k', TELEGRAM_BOT_TOKEN: 't', DATABASE_URL: 'postgres://', MY_OWN_TOKEN: 'x' };
  assert.deepEqual(withoutSecrets(env), { PATH: '/bin', MY_OWN_TOKEN: 'x' });
});
