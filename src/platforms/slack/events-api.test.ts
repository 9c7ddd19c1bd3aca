import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { openAccountData } from '../../../test/support/account-data.ts';
import { PlatformError } from '../../core/errors.ts';
import { manualClock, systemClock } from '../../lib/clock.ts';
import { silentLogger } from '../../lib/logger.ts';
import { eventually, eventWith, newInbox, serveRoutes } from '../conformance-bench.ts';
import type { Running } from '../conformance-bench.ts';
import type { Adapter } from '../contract.ts';
import { newEventsApi } from './events-api.ts';
import { newNames } from './names.ts';
import { slackOptions } from './options.ts';
import { openPlaces } from './places.ts';
import { sign } from './signature.ts';
import { startSlackSimulator } from './simulator.ts';
import type { SlackSimulator } from './simulator.ts';
import { message } from '../../../test/support/test-account.ts';
import { channel, dm, openAccount, runAccount, target } from './slack.test-support.ts';
import { newTaker } from './take.ts';
import { newWorkspaces } from './workspaces.ts';

let simulator: SlackSimulator;
let adapter: Adapter;
let secret: string;

beforeEach(async () => {
  simulator = await startSlackSimulator({ mode: 'http' });
  ({ adapter } = await openAccount(simulator));
  secret = String(simulator.options['signing_secret']);
});
afterEach(async () => {
  assert.deepEqual(simulator.violations(), []);
  await simulator[Symbol.asyncDispose]();
});

const post = async (body: string, more: Readonly<Record<string, string>> = {}, atMs = Date.now()): Promise<Response> => {
  const timestamp = String(Math.floor(atMs / 1000));
  const headers = { 'content-type': 'application/json', 'x-slack-request-timestamp': timestamp, 'x-slack-signature': sign(secret, timestamp, body), ...more };
  return (await adapter.webhook?.routes.request('/', { method: 'POST', headers, body })) ?? assert.fail('it has no routes');
};

const said = (text: string, ts = '1700000000.000100'): string => JSON.stringify({ type: 'event_callback', team_id: 'T00FAKE00AA', event: { type: 'message', user: 'U0PERSON01', ts, text, channel: dm.chatId, channel_type: 'im', event_ts: ts } });

/** Runs the account and waits until it takes calls. */
const runReady = async (): Promise<Running> => {
  const run = await runAccount(adapter);
  while ((await post('{"type":"hologram"}')).status === 503) await systemClock.sleep(1);
  return run;
};

/** Lets Slack reach the adapter. */
const serve = async (): Promise<AsyncDisposable> => {
  const server = await serveRoutes(adapter.webhook?.routes ?? assert.fail('it has no routes'));
  simulator.connect?.(`${server.url}/`);
  return server;
};

describe('a call of Slack', () => {
  it('proves the address of the app', async () => {
    await using _run = await runReady();
    const answer = await post(JSON.stringify({ type: 'url_verification', challenge: 'prove it', token: 'x' }));
    assert.deepEqual([answer.status, await answer.text()], [200, 'prove it']);
  });

  it('counts only with a signature that is not older than five minutes', async () => {
    await using run = await runReady();
    assert.equal((await post(said('old'), {}, Date.now() - 301_000)).status, 401);
    assert.equal((await post(said('forged'), { 'x-slack-signature': 'v0=00' })).status, 401);
    assert.equal((await adapter.webhook?.routes.request('/', { method: 'POST', body: said('bare') }))?.status, 401);
    assert.equal((await post(said('good'))).status, 200);
    assert.deepEqual(run.inbox.offered.map(({ text }) => text), ['good']);
  });

  it('is heard as a repeat whose first copy never came, and once when it did', async () => {
    await using run = await runReady();
    const repeat = { 'x-slack-retry-num': '1', 'x-slack-retry-reason': 'http_timeout' };
    assert.equal((await post(said('only a repeat'), repeat)).status, 200);
    assert.equal((await post(said('twice', '1700000001.000100'))).status, 200);
    assert.equal((await post(said('twice', '1700000001.000100'), { ...repeat, 'x-slack-retry-num': '2' })).status, 200);
    assert.deepEqual(run.inbox.events.map(({ text }) => text), ['only a repeat', 'twice']);
  });

  it('is answered 503 when it cannot be stored, and Slack calls again', async () => {
    await using _server = await serve();
    const inbox = newInbox();
    inbox.before = () => Promise.reject(new Error('disk full'));
    const first = await runAccount(adapter, inbox);
    await simulator.say({ ...dm, text: 'keep me' });
    assert.match(String(await first.ended), /disk full/);
    assert.equal(simulator.acknowledged(), 0);
    inbox.before = async () => undefined;
    await using _second = await runAccount(adapter, inbox);
    await eventWith(inbox, 'keep me');
    await eventually(() => simulator.acknowledged() === 1, 'it is acknowledged');
  });

  it('may be a press or a slash command', async () => {
    await using _server = await serve();
    await using run = await runAccount(adapter);
    const { messageIds } = await adapter.send(message(target(channel), 'may I?', { choices: [[{ label: 'Yes', data: 'yes & no' }]] }), new AbortController().signal);
    await simulator.press(channel.chatId, messageIds[0] ?? '', 'yes & no', 'U0PERSON01');
    simulator.slash({ chatId: dm.chatId, senderId: 'U0PERSON01', command: '/hermes', text: 'what & why?' });
    await eventually(() => run.inbox.events.length === 2, 'both arrived');
    assert.deepEqual(run.inbox.events.map(({ kind, text, button }) => button?.data ?? `${kind}: ${text}`).toSorted(), ['message: what & why?', 'yes & no']);
  });

  it('that is no call of Slack is refused, and one that is too large', async () => {
    await using _run = await runReady();
    assert.equal((await post('nonsense')).status, 400);
    assert.equal((await post('x'.repeat(5 * 1024 * 1024))).status, 413);
    assert.equal((await post('{"type":"hologram"}')).status, 200);
  });
});

it('asks Slack every minute whether its tokens still hold', async () => {
  const clock = manualClock();
  const options = slackOptions.parse(simulator.options);
  const workspaces = newWorkspaces(options);
  const known = await workspaces.check(new AbortController().signal);
  const data = openAccountData(':memory:');
  let alive = 0;
  const inbox = { ...newInbox(), alive: () => void (alive += 1) };
  const reading = { account: 'slack', options, workspaces: known, takesPart: () => false, isCommand: () => false };
  const names = newNames({ workspaces: () => known, clock, log: silentLogger });
  const stopping = new AbortController();
  const taker = newTaker({ inbox, reading, names, places: await openPlaces(data, clock), data, log: silentLogger, clock }, stopping.signal);
  const ended = newEventsApi({ secret, workspaces, clock }).run({ inbox, taker, log: silentLogger }, stopping.signal).catch((error: unknown) => error);
  await eventually(() => clock.waiting() === 1, 'it waits');
  await clock.advance(60_000);
  await eventually(() => alive === 1, 'Slack answered');
  await eventually(() => clock.waiting() === 1, 'it waits again');
  simulator.refuseMethod('auth.test', { error: 'token_revoked' });
  await clock.advance(60_000);
  const error = await ended;
  assert.ok(error instanceof PlatformError && error.code === 'bad_credential');
});

it('needs what its mode needs', () => {
  const issues = (options: object): unknown => slackOptions.safeParse({ bot_token: 'xoxb-1', ...options }).error?.issues.map(({ path }) => path[0]);
  assert.deepEqual(issues({}), ['app_token']);
  assert.deepEqual(issues({ mode: 'http', app_token: 'xapp-1' }), ['signing_secret']);
  assert.deepEqual(issues({ bot_token: 'xapp-1', app_token: 'xoxb-1' }), ['bot_token', 'app_token']);
});
