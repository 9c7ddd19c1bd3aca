import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../lib/clock.ts';
import { ToolProgress } from './tool-progress.ts';
import type { ToolProgressOptions } from './tool-progress.ts';

const started = (name: string, preview = '') => ({ type: 'tool_started', callId: 'c', name, preview }) as const;

const newProgress = (display: Partial<ToolProgressOptions['display']> = {}) => {
  const clock = manualClock();
  const texts: string[] = [];
  const ended: string[] = [];
  const progress = new ToolProgress({
    display: { tool_progress: 'all', tool_preview_length: 10, long_running_notifications: false, ...display },
    clock,
    open: (number) => ({
      show: (text) => void (texts[number] = text),
      finish: async () => void ended.push(`message ${number}`),
    }),
    cleanUp: async () => void ended.push('cleaned up'),
    onError: (error) => assert.fail(String(error)),
  });
  return { progress, clock, texts, ended };
};

test('every call is a line of one message, cut to its length', async () => {
  const { progress, texts, ended } = newProgress();
  progress.onEvent(started('terminal', 'npm run check -- --all'));
  progress.onEvent(started('look'));
  assert.deepEqual(texts, ['💻 terminal `npm run ch…`\n⚙️ look']);
  await progress[Symbol.asyncDispose]();
  assert.deepEqual(ended, ['message 0', 'cleaned up']);
});

test('with `new`, a tool that is used again counts on in its line', () => {
  const { progress, texts } = newProgress({ tool_progress: 'new' });
  for (const name of ['look', 'look', 'look', 'hear']) progress.onEvent(started(name, 'x'));
  assert.deepEqual(texts, ['⚙️ look (3 times)\n⚙️ hear `x`']);
});

test('with `off` and `log` nothing is shown', () => {
  for (const tool_progress of ['off', 'log'] as const) {
    const { progress, texts } = newProgress({ tool_progress });
    progress.onEvent(started('look'));
    assert.deepEqual(texts, []);
  }
});

test('calls that follow a text stand in a message below it', () => {
  const { progress, texts } = newProgress();
  progress.onEvent(started('look'));
  progress.onEvent({ type: 'text', delta: 'I see.' });
  progress.onEvent(started('hear'));
  assert.deepEqual(texts, ['⚙️ look', '⚙️ hear']);
});

test('a preview cannot break out of its quotation, and old lines make room', () => {
  const { progress, texts } = newProgress({ tool_preview_length: 40 });
  progress.onEvent(started('look', '`@everyone` [x](y)'));
  assert.equal(texts[0]?.split('`').length, 3);
  for (let i = 0; i < 50; i += 1) progress.onEvent(started('look', String(i)));
  assert.equal(texts[0]?.split('\n').length, 20);
  assert.match(texts[0] ?? '', /`49`$/);
});

test('long work says that it goes on, until it ends', async () => {
  const { progress, clock, texts } = newProgress({ tool_progress: 'off', long_running_notifications: true });
  await clock.advance(170_000);
  assert.deepEqual(texts, []);
  await clock.advance(200_000);
  assert.match(texts[0] ?? '', /Still working, 6 min/);
  await progress[Symbol.asyncDispose]();
  assert.equal(clock.waiting(), 0);
});
