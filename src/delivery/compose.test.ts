import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleTarget } from '../../test/support/samples.ts';
import { eachStore } from '../../test/support/stores.ts';
import type { Platform } from '../platforms/contract.ts';
import { telegram } from '../platforms/telegram/index.ts';
import { headOfLane } from '../store/messages/outbox.ts';
import { outLane } from '../store/lanes/lanes.ts';
import { composeDeliveries, enqueueText, repeatMark } from './compose.ts';

const platform = telegram as Platform;
const target = sampleTarget({ replyTo: '5', threadId: '3' });
const long = Array.from({ length: 2000 }, (_, i) => `word${i}`).join(' ');

test('a text that fits is one message under the key of its cause', () => {
  assert.deepEqual(composeDeliveries(platform, { key: 'turn:1', target, text: 'hello' }), [{ message: { key: 'turn:1', target, text: 'hello' } }]);
});

test('nothing to say is no message', () => {
  assert.deepEqual(composeDeliveries(platform, { key: 'k', target, text: ' \n ' }), []);
});

test('a long text is numbered parts, each with room for the mark of a repeat; only the first is attached and finishes the preview', () => {
  const parts = composeDeliveries(platform, { key: 'turn:1', target, text: long, finishes: '9' });
  assert.ok(parts.length > 2);
  assert.deepEqual(parts.map(({ message }) => message.key), parts.map((_, i) => `turn:1:${i + 1}`));
  for (const { message } of parts) assert.ok(platform.limits.measure(`${repeatMark.short}${message.text}`) <= platform.limits.text);
  assert.deepEqual(parts.map(({ message }) => message.target.replyTo), ['5', ...parts.slice(1).map(() => undefined)]);
  assert.deepEqual(parts.map(({ message }) => message.target.threadId), parts.map(() => '3'));
  assert.deepEqual(parts.map(({ finishes }) => finishes), ['9', ...parts.slice(1).map(() => undefined)]);
});

test('every part is attached where that is wanted', () => {
  const parts = composeDeliveries(platform, { key: 'k', target, text: long, anchorAll: true });
  assert.deepEqual(parts.map(({ message }) => message.target.replyTo), parts.map(() => '5'));
});

test('files and buttons go with the last part, and files need no text', () => {
  const media = [{ kind: 'photo', path: 'p', mime: 'image/png', name: 'n' }] as const;
  const choices = [[{ label: 'Yes', data: 'y' }]];
  const parts = composeDeliveries(platform, { key: 'k', target, text: long, media, choices, quiet: true });
  assert.deepEqual(parts.map(({ message }) => message.media !== undefined && message.choices !== undefined), [...parts.slice(1).map(() => false), true]);
  assert.ok(parts.every(({ message }) => message.quiet === true));
  assert.deepEqual(composeDeliveries(platform, { key: 'k', target, text: '', media }), [{ message: { key: 'k', target, text: '', media } }]);
});

test('files never keep a text from taking the place of its preview', () => {
  const media = [{ kind: 'photo', path: 'p', mime: 'image/png', name: 'n' }] as const;
  const parts = composeDeliveries(platform, { key: 'k', target, text: 'short', media, finishes: '9' });
  assert.deepEqual(parts.map(({ message, finishes }) => [message.key, message.text, message.media !== undefined, finishes]), [['k:1', 'short', false, '9'], ['k:2', '', true, undefined]]);
});

eachStore((_engine, open) => {
  test('the same cause again enqueues nothing more', async () => {
    const { store } = await open();
    for (let i = 0; i < 2; i += 1) await store.write((tx) => enqueueText(tx, platform, { key: 'turn:1', target, text: `try ${i}`, turnId: 1 }));
    const rows = await store.read((db) => db.q.selectFrom('outbox').select(['key', 'turn_id']).execute());
    assert.deepEqual(rows.map((row) => [row.key, row.turn_id]), [['turn:1', 1]]);
    assert.equal((await store.read((db) => headOfLane(db, outLane(target.account, target.chatId))))?.delivery.message.text, 'try 0');
  });
});
