import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { PlatformError } from '../../core/errors.ts';
import { manualClock } from '../../lib/clock.ts';
import { silentLogger } from '../../lib/logger.ts';
import { never, serveRoutes } from '../conformance-bench.ts';
import type { Adapter } from '../contract.ts';
import { openApi } from './api.ts';
import { newOwnThreads } from '../own-threads.ts';
import { openAccountData } from '../../../test/support/account-data.ts';
import { telegramOptions } from './options.ts';
import { startTelegramSimulator } from './simulator.ts';
import type { TelegramSimulator } from './simulator.ts';
import { openAccount, runAccount } from '../../../test/support/telegram-account.ts';
import { testInbox } from '../../../test/support/test-inbox.ts';
import { until } from '../../../test/support/until.ts';
import type { Running } from '../../../test/support/telegram-account.ts';
import type { TestInbox } from '../../../test/support/test-inbox.ts';
import { newWebhook } from './webhook.ts';

let simulator: TelegramSimulator;
let adapter: Adapter;

beforeEach(async () => {
  simulator = await startTelegramSimulator({ mode: 'webhook' });
  adapter = (await openAccount(simulator)).adapter;
});
afterEach(async () => {
  assert.deepEqual(simulator.violations(), []);
  await simulator[Symbol.asyncDispose]();
});

const said = { chatId: '7', chatType: 'dm' as const, senderId: '7', text: 'hello' };

/** Runs the account and waits until Telegram knows its address. */
const runRegistered = async (inbox?: TestInbox): Promise<Running> => {
  const running = await runAccount(adapter, inbox);
  await until(() => simulator.log.some(({ method, status }) => method === 'setWebhook' && status === 200));
  return running;
};

const post = async (signed: boolean, body?: string | ReadableStream): Promise<number> => {
  const call = simulator.webhook?.(said, signed);
  const response = await adapter.webhook?.routes.request('/', { method: 'POST', headers: call?.headers ?? {}, body: body ?? call?.body ?? '', ...({ duplex: 'half' } as object) });
  return response?.status ?? 0;
};

const tellTelegramWhere = async (): Promise<AsyncDisposable> => {
  const server = await serveRoutes(adapter.webhook?.routes ?? assert.fail('it has no routes'));
  simulator.connect?.(`${server.url}/`);
  return server;
};

describe('a webhook', () => {
  it('is registered with its secret and receives what people say, in order', async () => {
    await using _server = await tellTelegramWhere();
    const { inbox, stop } = await runRegistered();
    for (const text of ['one', 'two', 'three']) await simulator.say({ ...said, text });
    await inbox.reached(3);
    assert.deepEqual(inbox.events.map(({ text }) => text), ['one', 'two', 'three']);
    await until(() => simulator.acknowledged() === 3);
    const registered = simulator.log.find(({ method }) => method === 'setWebhook');
    assert.equal(registered?.params['secret_token'], simulator.options['webhook_secret']);
    assert.equal(registered?.params['drop_pending_updates'], false);
    await stop();
  });

  it('answers 200 only when the event is stored, and gets it again otherwise', async () => {
    await using _server = await tellTelegramWhere();
    const inbox = testInbox();
    let failures = 2;
    inbox.before = async () => {
      failures -= 1;
      if (failures >= 0) throw new Error('disk full');
    };
    const { stop } = await runRegistered(inbox);
    await simulator.say(said);
    await inbox.reached(1);
    await until(() => simulator.acknowledged() === 1);
    assert.equal(failures, -1);
    await stop();
  });

  it('refuses a wrong secret before it reads the body', async () => {
    const { inbox, stop } = await runRegistered();
    let read = false;
    const body = new ReadableStream({
      pull(controller) {
        read = true;
        controller.close();
      },
    }, { highWaterMark: 0 });
    assert.equal(await post(false, body), 401);
    assert.equal(read, false);
    assert.equal(await post(false), 401);
    const unsigned = await adapter.webhook?.routes.request('/', { method: 'POST', body: '{}' });
    assert.equal(unsigned?.status, 401);
    assert.equal(inbox.events.length, 0);
    assert.equal(await post(true), 200);
    await stop();
  });

  it('answers 503 while nobody runs it', async () => {
    assert.equal(await post(true), 503);
    const { stop } = await runRegistered();
    await stop();
    assert.equal(await post(true), 503);
  });

  it('refuses what is no JSON or too large, and skips what is no update', async () => {
    const { stop } = await runRegistered();
    assert.equal(await post(true, 'nonsense'), 400);
    assert.equal(await post(true, JSON.stringify('x'.repeat(5 * 1024 * 1024))), 413);
    assert.equal(await post(true, JSON.stringify({ hologram: 1 })), 200);
    await stop();
  });

  it('asks Telegram every minute whether it still stands, and reports a replaced one as a conflict', async () => {
    const options = telegramOptions.parse(simulator.options);
    const clock = manualClock();
    const inbox = testInbox();
    using data = openAccountData(':memory:');
    const receiving = { api: openApi(options), inbox, clock, log: silentLogger, parse: () => ({ skip: 'unused' }), pollTimeoutSeconds: 1, ownThreads: newOwnThreads({ data, clock, log: silentLogger }) };
    const ended = newWebhook({ url: options.webhook_url ?? '', secret: options.webhook_secret ?? '' }).run(receiving, never);
    ended.catch(() => undefined);
    await until(() => clock.waiting() === 1);
    assert.equal(inbox.aliveCount(), 1);
    await clock.advance(60_000);
    await until(() => clock.waiting() === 1 && inbox.aliveCount() === 2);
    const elsewhere = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ url: 'https://elsewhere.test/' }) };
    await fetch(`${simulator.baseUrl}/bot${simulator.token}/setWebhook`, elsewhere);
    await clock.advance(60_000);
    await assert.rejects(ended, (error) => error instanceof PlatformError && error.code === 'conflict');
  });

  it('needs a secret to be configured at all', () => {
    const result = telegramOptions.safeParse({ token: '1:a', webhook_url: 'https://x.test/' });
    assert.deepEqual(result.error?.issues.map(({ path }) => path), [['webhook_secret']]);
  });
});
