import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModelError } from '../../../core/errors.ts';
import type { TranscriptMessage } from '../../../core/transcript.ts';
import { manualClock } from '../../../lib/clock.ts';
import { currentTime } from '../../tools/current-time.ts';
import type { ModelEvent, ModelRequest } from '../contract.ts';
import { newDemoProvider } from './demo.ts';

const user = (content: string): TranscriptMessage => ({ role: 'user', content });

const request = (...messages: TranscriptMessage[]): ModelRequest => ({ model: 'demo', system: 'x', messages, tools: [currentTime.definition] });

const stream = (input: ModelRequest): Promise<ModelEvent[]> =>
  Array.fromAsync(newDemoProvider({ clock: manualClock(), pieceDelayMs: 0 }).stream(input, new AbortController().signal));

const textOf = (events: readonly ModelEvent[]): string => events.map((event) => (event.type === 'text' ? event.delta : '')).join('');

const say = async (...messages: TranscriptMessage[]): Promise<string> => textOf(await stream(request(...messages)));

test('a newcomer reads what this is, what to try, and the exact lines for a real model and for Telegram', async () => {
  const text = await say(user('What are you?'));
  assert.match(text, /demo model/);
  assert.match(text, /\*\*no intelligence\*\*/);
  assert.match(text, /\*\*Try:\*\*/);
  assert.match(text, /```yaml\nmodel:\n {2}provider: openai\n {2}default: \S+/);
  for (const line of ['base_url: https://api.openai.com/v1', 'OPENAI_API_KEY=', 'TELEGRAM_BOT_TOKEN=', '/pair approve CODE']) assert.ok(text.includes(line), line);
});

test('every prompt that the introduction offers leads somewhere else than the introduction', async () => {
  const intro = await say(user('What are you?'));
  const offered = [...intro.matchAll(/^- `([^`]+)`/gm)].map((match) => match[1]!);
  assert.equal(offered.length, 5);
  for (const prompt of offered) {
    const answer = await say(user('What are you?'), { role: 'assistant', content: intro }, user(prompt));
    assert.doesNotMatch(answer, /that is as far as I understand|# Hello/, prompt);
  }
});

test('a long answer has headings, a list, a table and code, and comes in many small pieces', async () => {
  const events = await stream(request(user('show me something long')));
  const text = textOf(events);
  assert.ok(text.length > 3000 && text.length < 10_000, String(text.length));
  for (const shape of [/^## /m, /^- /m, /^1\. /m, /^\|---\|---\|$/m, /^```ts$/m]) assert.match(text, shape);
  assert.equal(text.match(/^```/gm)!.length % 2, 0);
  assert.ok(events.length > 100);
  for (const event of events) if (event.type === 'text') assert.ok(event.delta.length < 120, event.delta);
});

test('a question about the time calls the tool, with the zone that was named, and then uses its result', async () => {
  const asked = await stream(request(user('What time is it in Asia/Tokyo?')));
  const finish = asked.at(-1);
  assert.ok(finish?.type === 'finish' && finish.reason === 'tool_calls');
  const call = finish.toolCalls[0]!;
  assert.deepEqual([call.name, JSON.parse(call.arguments)], ['current_time', { zone: 'Asia/Tokyo' }]);
  const answer = await say(user('time?'), { role: 'assistant', content: '', toolCalls: [call] }, { role: 'tool', content: 'Friday\nnoon', toolCallId: call.id });
  assert.match(answer, /> Friday\n> noon/);
});

test('without the tool, or when none may be called, it says so instead of calling', async () => {
  for (const input of [{ ...request(user('time?')), tools: [] }, { ...request(user('time?')), toolChoice: 'none' as const }]) {
    const events = await stream(input);
    assert.ok(events.at(-1)?.type === 'finish');
    assert.match(textOf(events), /not switched on/);
  }
});

test('echo says back exactly what follows, also in a shared chat', async () => {
  assert.equal(await say(user('echo  **a** \n b')), '**a** \n b');
  assert.equal(await say(user('[Ada Lovelace] echo hi')), 'hi');
});

test('later it is brief, quotes what was said in one line, and names files it was sent', async () => {
  const photo = { kind: 'photo', mime: 'image/png', name: 'cat.png', path: 'cat.png' } as const;
  const text = await say(user('x'), { role: 'assistant', content: 'y' }, { ...user('one\ntwo'), attachments: [photo] });
  assert.match(text, /^> one two \(photo: cat\.png\)$/m);
  assert.ok(text.length < 800);
});

test('the same conversation gets the same answer', async () => {
  assert.deepEqual(await stream(request(user('time'))), await stream(request(user('time'))));
});

test('pieces are spread over time by the clock, and an abort ends the answer', async () => {
  const clock = manualClock();
  const controller = new AbortController();
  const events = newDemoProvider({ clock, pieceDelayMs: 10 }).stream(request(user('long')), controller.signal)[Symbol.asyncIterator]();
  const first = events.next();
  await clock.advance(9);
  assert.equal(clock.waiting(), 1);
  await clock.advance(1);
  assert.equal((await first).done, false);
  const second = events.next();
  controller.abort({ kind: 'stopped' });
  await assert.rejects(second, (error) => error instanceof ModelError && error.code === 'aborted');
});
