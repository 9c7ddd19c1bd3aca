import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { manualClock } from '../lib/clock.ts';
import type { ManualClock } from '../lib/clock.ts';
import { capturingLogger } from '../lib/logger.ts';
import { hookEvents } from './events.ts';
import { until } from './hook-folder.test-support.ts';
import { webhooksOutSection } from './options.ts';
import { OutgoingWebhook } from './outgoing-webhook.ts';
import { signWebhook } from './sign-webhook.ts';

const secret = 'a secret of sixteen characters';
const sample = hookEvents['agent:end'].sample;

interface Taken {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly taken: readonly Taken[];
  /** Statuses of the next answers; then 204. */
  readonly answers: (number | { status: number; headers: Record<string, string> } | 'break')[];
}

const newReceiver = async (): Promise<Receiver> => {
  const taken: Taken[] = [];
  const answers: Receiver['answers'] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      taken.push({ headers: request.headers, body });
      const answer = answers.shift() ?? 204;
      if (answer === 'break') return void request.socket.destroy();
      const { status, headers } = typeof answer === 'number' ? { status: answer, headers: {} } : answer;
      response.writeHead(status, headers).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?token=in-the-address`,
    taken,
    answers,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

const newWebhook = (receiver: { url: string }, clock: ManualClock, more: object = {}) => {
  const { log, lines } = capturingLogger();
  const options = webhooksOutSection.schema.parse({ test: { url: receiver.url, events: ['agent:*'], secret, ...more } })['test'] ?? assert.fail();
  const outcomes: string[] = [];
  return { webhook: new OutgoingWebhook('test', options, { clock, log, fetch, redact: (text) => text.replaceAll('hunter2', '***'), onRun: ({ outcome }) => void outcomes.push(outcome) }), lines, outcomes };
};

test('the signature is the one that the recorded cases accept', () => {
  const { cases } = JSON.parse(readFileSync(new URL('../../test/vectors/webhook-signatures.json', import.meta.url), 'utf8')) as { cases: { id: string; in: { headers: Record<string, string>; body: string; secret: string; now: number } }[] };
  const known = cases.find(({ id }) => id === 'v2-ok')?.in ?? assert.fail();
  assert.deepEqual(signWebhook(known.body, { secret: known.secret, nowMs: known.now * 1000 + 999 }), { 'X-Webhook-Timestamp': known.headers['X-Webhook-Timestamp'], 'X-Webhook-Signature-V2': known.headers['X-Webhook-Signature-V2'] });
});

test('an event is sent once, signed, with our secrets taken out', async () => {
  await using receiver = await newReceiver();
  const { webhook, outcomes } = newWebhook(receiver, manualClock());
  webhook.observe('agent:end', { ...sample, response: 'the password is hunter2' });
  await until(() => outcomes.length === 1, 'it to be sent');
  const [{ headers, body } = assert.fail()] = receiver.taken;
  assert.equal(headers['x-webhook-signature-v2'], createHmac('sha256', secret).update(`${String(headers['x-webhook-timestamp'])}.${body}`).digest('hex'));
  const sent = JSON.parse(body) as { id: string; event_type: string; context: typeof sample };
  assert.deepEqual([sent.event_type, sent.context.response, sent.context.agent_id, sent.id], ['agent:end', 'the password is ***', 'main', headers['x-request-id']]);
  assert.equal(headers['x-hermes-event'], 'agent:end');
  await webhook.close(0);
});

test('it is tried again under the same id with growing waits, in order, as the receiver asks', async () => {
  await using receiver = await newReceiver();
  const clock = manualClock();
  receiver.answers.push(500, 'break', { status: 429, headers: { 'retry-after': '120' } });
  const { webhook, outcomes } = newWebhook(receiver, clock);
  webhook.observe('agent:end', { ...sample, turn_id: 1 });
  webhook.observe('agent:end', { ...sample, turn_id: 2 });
  await until(() => receiver.taken.length === 1 && clock.waiting() === 1, 'the first try to fail');
  await clock.advance(1_000);
  await until(() => receiver.taken.length === 2 && clock.waiting() === 1, 'the second');
  await clock.advance(2_000);
  await until(() => receiver.taken.length === 3 && clock.waiting() === 1, 'the third');
  await clock.advance(119_000);
  assert.equal(receiver.taken.length, 3, 'not before it may');
  await clock.advance(1_000);
  await until(() => outcomes.length === 2, 'both to be sent');
  const sent = receiver.taken.map(({ body }) => JSON.parse(body) as { id: string; context: { turn_id: number } });
  assert.deepEqual(sent.map(({ context }) => context.turn_id), [1, 1, 1, 1, 2]);
  assert.equal(new Set(sent.slice(0, 4).map(({ id }) => id)).size, 1);
  const times = receiver.taken.map(({ headers }) => headers['x-webhook-timestamp']);
  assert.notEqual(times[0], times[3], 'each try is signed anew, so that a late one is not too old');
  await webhook.close(0);
});

test('what is refused for good, or too often, is given up and said; the address is not', async () => {
  await using receiver = await newReceiver();
  const clock = manualClock();
  receiver.answers.push(400, { status: 307, headers: { location: '/elsewhere' } }, 503, 503);
  const { webhook, outcomes, lines } = newWebhook(receiver, clock, { max_attempts: 2 });
  for (let i = 0; i < 4; i += 1) webhook.observe('agent:end', sample);
  await until(() => clock.waiting() === 1, 'a wait before the second try');
  await clock.advance(60_000);
  await until(() => outcomes.length === 4, 'all to be settled');
  assert.deepEqual(outcomes, ['failed', 'failed', 'failed', 'ok']);
  assert.equal(receiver.taken.length, 5);
  assert.equal(lines.filter((line) => line.includes('webhook_out.given_up')).length, 3);
  assert.doesNotMatch(lines.join('\n'), /in-the-address/);
  const report = webhook.report();
  assert.deepEqual([report.calls, report.failures, report.lastProblem], [5, 3, 'it answered 503']);
  await webhook.close(0);
});

test('a receiver that is gone fills the queue to its limit, and not further', async () => {
  const clock = manualClock();
  const { webhook, lines } = newWebhook({ url: 'http://127.0.0.1:9/gone' }, clock);
  for (let i = 0; i < 1_500; i += 1) webhook.observe('agent:end', sample);
  const { waiting, dropped } = webhook.report();
  assert.deepEqual([waiting, dropped], [1_000, 499]);
  assert.equal(lines.filter((line) => line.includes('webhook_out.overwhelmed')).length, 3);
  const closing = webhook.close(100);
  await until(() => clock.waiting() > 0, 'it to wait');
  await clock.advance(100);
  await closing;
  assert.equal(webhook.report().dropped, 1_499);
});

test('settings without a real secret, a known event or a web address are refused', () => {
  const parse = (webhook: object) => webhooksOutSection.schema.safeParse({ x: { url: 'https://example.org', events: ['*'], secret, ...webhook } }).success;
  assert.deepEqual([parse({}), parse({ secret: 'short' }), parse({ events: ['nothing:at-all'] }), parse({ events: [] }), parse({ url: 'file:///etc/passwd' }), parse({ sekret: 'x' })], [true, false, false, false, false, false]);
  const check = webhooksOutSection.check ?? assert.fail();
  const of = (agent: string) => check({ webhooks_out: { x: { agent } }, agents: { support: {} } }, undefined).errors.length;
  assert.deepEqual([of('support'), of('main'), of('ghost')], [0, 0, 1]);
});
