import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModelError } from '../../../core/errors.ts';
import type { ModelErrorCode } from '../../../core/errors.ts';
import { manualClock, systemClock } from '../../../lib/clock.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { TaskEndpoint } from '../models.ts';
import { answerBytes, answerJson, answerNothing, newAudioEndpoint } from './audio-endpoint.test-support.ts';
import type { AudioAnswer, AudioEndpoint } from './audio-endpoint.test-support.ts';
import { audioTypeOf } from './audio-type.ts';
import { speak, transcribe } from './speech.ts';

const never = new AbortController().signal;
const caller = { clock: systemClock, signal: never };
/** The second try comes at once. */
const quick: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms === 1000 ? 0 : ms, signal) };
const recording = { bytes: new Uint8Array(Buffer.from('OggS some sound')), mime: 'audio/ogg', name: 'recording.ogg' };
const words = { text: 'Hello there.', voice: 'alloy', format: 'opus' };

const at = (server: AudioEndpoint, more: Partial<TaskEndpoint> = {}): TaskEndpoint => ({ provider: 'custom', baseUrl: server.baseUrl, keys: ['key-one'], model: 'whisper-1', timeoutMs: 60_000, ...more });

const failsWith =
  (code: ModelErrorCode) =>
  (error: unknown): boolean =>
    error instanceof ModelError && error.code === code && !error.message.includes('key-one');

test('a recording is sent as a form with its bytes, its name and the language, and comes back as words', async () => {
  await using server = await newAudioEndpoint();
  assert.equal(await transcribe(at(server), { ...recording, language: 'de' }, caller), 'words of 15 bytes');
  const [request] = server.requests;
  assert.deepEqual([request?.path, request?.authorization, request?.fields], ['/v1/audio/transcriptions', 'Bearer key-one', { model: 'whisper-1', response_format: 'json', language: 'de' }]);
  assert.deepEqual(request?.file, { name: 'recording.ogg', type: 'audio/ogg', bytes: recording.bytes });
});

test('a text is spoken with the voice that is asked for; what comes is known by its bytes', async () => {
  await using server = await newAudioEndpoint();
  const spoken = await speak(at(server, { model: 'tts-1', keys: [] }), { ...words, speed: 1.5 }, caller);
  assert.deepEqual({ ...spoken, bytes: Buffer.from(spoken.bytes).toString() }, { bytes: 'OggS:Hello there.', mime: 'audio/ogg', extension: '.ogg' });
  const [request] = server.requests;
  assert.deepEqual([request?.path, request?.authorization, request?.fields], ['/v1/audio/speech', undefined, { model: 'tts-1', input: 'Hello there.', voice: 'alloy', response_format: 'opus', speed: 1.5 }]);
  server.next(answerBytes('audio/ogg', 'ID3 in truth'));
  assert.equal((await speak(at(server), words, caller)).mime, 'audio/mpeg');
});

test('what passes is tried once more, after as long as the server asks for', async () => {
  await using server = await newAudioEndpoint();
  const clock = manualClock();
  server.next(answerJson(429, { error: { message: 'slow down' } }, { 'retry-after': '3' }));
  const text = transcribe(at(server), recording, { clock, signal: never });
  while (clock.waiting() < 2) await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(2900);
  assert.equal(server.requests.length, 1);
  await clock.advance(200);
  assert.equal(await text, 'words of 15 bytes');
  server.next(answerJson(500, {}), answerJson(500, {}));
  const failed = assert.rejects(transcribe(at(server), recording, { clock, signal: never }), failsWith('server_error'));
  while (clock.waiting() < 2) await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(1000);
  await failed;
  assert.equal(server.requests.length, 4);
});

test('a wait that is longer than there is time for is not waited', async () => {
  await using server = await newAudioEndpoint();
  server.next(answerJson(429, { error: { message: 'slow down' } }, { 'retry-after': '3600' }));
  await assert.rejects(transcribe(at(server), recording, caller), failsWith('rate_limited'));
});

test('a key that is refused gives way to the next, and a definite refusal is not repeated', async () => {
  await using server = await newAudioEndpoint();
  server.next(answerJson(401, { error: { message: 'Incorrect API key provided: key-one' } }));
  assert.equal(await transcribe(at(server, { keys: ['key-one', 'key-two'] }), recording, caller), 'words of 15 bytes');
  assert.deepEqual(server.requests.map(({ authorization }) => authorization), ['Bearer key-one', 'Bearer key-two']);
  server.next(answerJson(401, { error: { message: 'Incorrect API key provided: key-one' } }));
  await assert.rejects(transcribe(at(server), recording, caller), failsWith('auth'));
  await assert.rejects(transcribe(at(server), { ...recording, name: 'recording.exe' }, caller), failsWith('bad_request'));
  assert.equal(server.requests.length, 4);
});

const strange: readonly { readonly what: string; readonly answer: AudioAnswer; readonly job: 'transcribe' | 'speak' }[] = [
  { what: 'a web page', answer: answerBytes('text/html', '<html>'), job: 'transcribe' },
  { what: 'JSON without words', answer: answerJson(200, { transcript: 'x' }), job: 'transcribe' },
  { what: 'no JSON', answer: answerBytes('text/plain', 'words'), job: 'transcribe' },
  { what: 'JSON in place of sound', answer: answerJson(200, { audio: '' }), job: 'speak' },
  { what: 'sound that is none', answer: answerBytes('audio/ogg', 'no sound'), job: 'speak' },
  { what: 'nothing at all', answer: answerBytes('audio/ogg', ''), job: 'speak' },
];

for (const { what, answer, job } of strange) {
  test(`${what} is no answer to ${job}`, async () => {
    await using server = await newAudioEndpoint();
    server.next(answer, answer);
    const asked = job === 'transcribe' ? transcribe(at(server), recording, { clock: quick, signal: never }) : speak(at(server), words, { clock: quick, signal: never });
    await assert.rejects(asked, failsWith('malformed'));
    assert.equal(server.requests.length, 2);
  });
}

test('silence ends with the time of the endpoint, a stopped call at once, and nobody at the address is unreachable', async () => {
  await using server = await newAudioEndpoint();
  server.next(answerNothing, answerNothing);
  await assert.rejects(transcribe(at(server, { timeoutMs: 50 }), recording, caller), failsWith('timeout'));
  const controller = new AbortController();
  const before = server.requests.length;
  const asked = assert.rejects(speak(at(server), words, { clock: systemClock, signal: controller.signal }), failsWith('aborted'));
  while (server.requests.length === before) await new Promise((resolve) => setImmediate(resolve));
  controller.abort();
  await asked;
  const gone = await newAudioEndpoint();
  await gone[Symbol.asyncDispose]();
  await assert.rejects(transcribe(at(gone), recording, { clock: quick, signal: never }), failsWith('unreachable'));
});

test('recordings are known by their first bytes', () => {
  const types = [Buffer.from('OggS'), Buffer.from('ID3\u0004'), [0xff, 0xfb, 0x90], [0xff, 0xf1, 0x50], Buffer.from('RIFF....WAVE'), Buffer.from('fLaC'), Buffer.from('....ftypM4A '), [0x1a, 0x45, 0xdf, 0xa3], Buffer.from('RIFF....WEBP'), []];
  assert.deepEqual(types.map((bytes) => audioTypeOf(Uint8Array.from(bytes))?.extension), ['.ogg', '.mp3', '.mp3', '.aac', '.wav', '.flac', '.m4a', '.webm', undefined, undefined]);
});
