import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replyTarget } from '../../core/message.ts';
import { never } from '../conformance-bench.ts';
import { webhookOptions } from './options.ts';
import { open, secret, send, statusOf } from './webhook.test-support.ts';
import type { Door } from './webhook.test-support.ts';

const answersOf = async (door: Door, delivery: string): Promise<readonly string[]> => {
  const response = await door.request(`/r?delivery=${delivery}`, { headers: { authorization: `Bearer ${secret}` } });
  return ((await response.json()) as { answers: readonly { text: string }[] }).answers.map(({ text }) => text);
};

test('calls that belong together are one conversation, each is stored, and each finds the answer that was given to all', async () => {
  const door = open({ prompt: '{n}', trusted: true, coalesce: { key: '{pr}', window_seconds: 5 } });
  for (const [id, pr] of [['a', 1], ['b', 1], ['c', 2], ['d', 1]] as const) assert.deepEqual(await statusOf(send(door, { id, payload: { pr, n: id } })), [202, 'coalesced']);
  assert.deepEqual(await statusOf(send(door, { id: 'a', payload: { pr: 1, n: 'a' } })), [200, 'duplicate']);
  const [first, second, other, last] = door.inbox.events;
  assert.ok(first !== undefined && second !== undefined && other !== undefined && last !== undefined);
  assert.deepEqual([first.chat.id, first.batch], [second.chat.id, second.batch]);
  assert.notEqual(first.chat.id, other.chat.id);
  assert.deepEqual(first.batch, { id: first.batch?.id, kind: 'calls', hold: { ms: 5000, mostMs: 300_000 } });
  await door.answers.keep({ key: 'k1', target: replyTarget(second), text: 'to a and b' }, never);
  assert.deepEqual([await answersOf(door, 'a'), await answersOf(door, 'b'), await answersOf(door, 'c'), await answersOf(door, 'd')], [['to a and b'], ['to a and b'], [], []]);
  await door.answers.keep({ key: 'k2', target: replyTarget(last), text: 'to d' }, never);
  assert.deepEqual([await answersOf(door, 'a'), await answersOf(door, 'd'), await answersOf(door, 'nothing')], [['to a and b'], ['to d'], []]);
});

test('a call without the key is answered by itself, and calls with answers for different places never together', async () => {
  const door = open({ deliver: 'github_comment', coalesce: { key: '{repository.full_name}' } });
  const call = (number: number) => send(door, { payload: { repository: { full_name: 'octo/app' }, issue: { number } } });
  for (const number of [1, 2]) assert.deepEqual(await statusOf(call(number)), [202, 'coalesced']);
  const [one, two] = door.inbox.events;
  assert.notEqual(one?.chat.id, two?.chat.id);
  assert.deepEqual([one?.arranged?.deliver, two?.arranged?.deliver], ['webhook:github:octo/app#1', 'webhook:github:octo/app#2']);
  const alone = open({ coalesce: { key: '{pr}' } });
  assert.deepEqual(await statusOf(send(alone, { id: 'x', payload: {} })), [202, 'accepted']);
  assert.deepEqual([alone.inbox.events[0]?.chat.id, alone.inbox.events[0]?.batch], ['r/x', undefined]);
});

test('a call that names nothing to comment on, or is about a comment of ours, is ignored with its reason', async () => {
  const door = open({ deliver: 'github_comment' });
  assert.deepEqual(await statusOf(send(door, { payload: { ref: 'main' } })), [200, 'ignored']);
  const own = { repository: { full_name: 'octo/app' }, issue: { number: 1 }, comment: { body: `hi\n\n<!-- hermes-gateway:${'a'.repeat(32)} -->` } };
  assert.deepEqual(await statusOf(send(door, { payload: own })), [200, 'ignored']);
  assert.deepEqual(door.inbox.offered, []);
  assert.ok(['it names no issue', 'it is a comment of ours'].every((reason) => door.lines.some((line) => line.includes(reason))));
});

test('calls that are answered together cannot be waited for, passed on as they are, or share one conversation with others', () => {
  for (const [wrong, path] of [[{ wait_seconds: 5 }, 'wait_seconds'], [{ deliver_only: true, deliver: 'telegram:7' }, 'coalesce'], [{ conversation: 'route' }, 'conversation']] as const) {
    const { error } = webhookOptions.safeParse({ routes: { r: { secret, coalesce: { key: '{a}' }, ...wrong } } });
    assert.deepEqual(error?.issues.map((issue) => issue.path.at(-1)), [path]);
  }
});
