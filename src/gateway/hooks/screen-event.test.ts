import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TranscriptMessage } from '../../core/transcript.ts';
import type { TurnEvent } from '../../core/turn.ts';
import { hookEvents } from '../../hooks/events.ts';
import { newTestFolder, startHooks, ts } from '../../hooks/hook-folder.test-support.ts';
import { screenEvent } from './screen-event.ts';

const { text: _text, interim: _interim, ...about } = hookEvents['message:outbound'].sample;
const said = (content: string, more: Partial<TranscriptMessage> = {}): TurnEvent => ({ type: 'message', message: { role: 'assistant', content, ...more } });
const call = { id: 'c1', name: 'terminal', arguments: '{}' };

test('where a hook decides, a text is told whole and only as the hook has left it', async () => {
  await using folder = await newTestFolder();
  await folder.hook('loud', { events: ['message:outbound'] }, ts('export const handle = (_: string, { text }: { text: string }) => text.includes("secret") ? { decision: "drop" } : { decision: "replace", text: text.toUpperCase() };'));
  await using running = await startHooks(() => [{ path: folder.path }]);
  const screened = async (event: TurnEvent): Promise<readonly TurnEvent[]> => (await screenEvent(running.hooks, about, event)).events;
  assert.deepEqual(await screened({ type: 'text', delta: 'hel' }), []);
  assert.deepEqual(await screened({ type: 'reasoning', delta: 'hm' }), []);
  assert.deepEqual(await screened(said('hello')), [{ type: 'text', delta: 'HELLO' }, said('HELLO')]);
  assert.deepEqual(await screened(said('hello', { toolCalls: [call] })), [{ type: 'text', delta: 'HELLO' }, said('HELLO', { toolCalls: [call] })]);
  assert.deepEqual(await screened(said('a secret')), [said('[SILENT]')]);
  assert.deepEqual(await screened(said('a secret', { toolCalls: [call] })), [said('', { toolCalls: [call] })], 'the calls are made all the same');
  for (const untouched of [said(''), said('[SILENT]'), said('NO_REPLY'), { type: 'message', message: { role: 'tool', content: 'result', toolCallId: 'c1' } }, { type: 'end', reason: 'completed' }] as const) assert.deepEqual(await screened(untouched), [untouched]);
});

test('where hooks only watch, or are somebody else’s, everything comes as it is', async () => {
  await using folder = await newTestFolder();
  await using own = await newTestFolder();
  const drop = ts('export const handle = () => ({ decision: "drop" });');
  await folder.hook('watch', { events: ['message:*'], kind: 'observe' }, drop);
  await own.hook('guard', { events: ['message:*'] }, drop);
  await using running = await startHooks(() => [{ path: folder.path }, { path: own.path, agent: 'other' }]);
  for (const event of [{ type: 'text', delta: 'hel' }, said('hello')] as const) assert.deepEqual(await screenEvent(running.hooks, about, event), { events: [event], decisions: [] });
});
