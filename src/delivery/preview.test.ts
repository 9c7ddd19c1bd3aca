import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openLiveAccount } from '../../test/support/live-account.ts';
import type { LiveAccount } from '../../test/support/live-account.ts';
import { toChat } from '../../test/support/telegram-account.ts';
import { until } from '../../test/support/until.ts';
import { PlatformError } from '../core/errors.ts';
import { silentLogger } from '../lib/logger.ts';
import type { Adapter } from '../platforms/contract.ts';
import { LivePreview } from './preview.ts';
import type { PreviewOptions } from './preview.ts';

const target = toChat('7');
const cursor = ' ▉';

const newPreview = (live: LiveAccount, more: Partial<PreviewOptions> = {}): { readonly preview: LivePreview; readonly shown: string[] } => {
  const shown: string[] = [];
  const preview = new LivePreview({
    key: 'preview:1',
    target,
    connections: live.connections,
    gate: live.gate,
    clock: live.clock,
    log: silentLogger,
    delayMs: 1000,
    mustWait: async () => false,
    onShown: async (id) => void shown.push(id),
    ...more,
  });
  return { preview, shown };
};

const visible = (live: LiveAccount): readonly string[] => live.simulator.visible('7').map((message) => message.text);
const calls = (live: LiveAccount): readonly string[] => live.simulator.log.map((call) => call.method);

test('an answer that is written before the delay has no preview', async () => {
  await using live = await openLiveAccount();
  const { preview, shown } = newPreview(live);
  preview.push('Once upon a time');
  await live.clock.advance(999);
  assert.equal(await preview.finish(), undefined);
  assert.deepEqual([visible(live), shown], [[], []]);
});

test('it appears after the delay, tells who it is, and grows by edits no closer than the platform likes', async () => {
  await using live = await openLiveAccount();
  const { preview, shown } = newPreview(live);
  preview.push('Once');
  await live.clock.advance(1000);
  await until(() => shown.length === 1, 'the preview');
  assert.deepEqual(visible(live), [`Once${cursor}`]);
  for (const word of [' upon', ' a', ' time']) preview.push(word);
  await live.clock.advance(999);
  assert.deepEqual(calls(live), ['sendMessage']);
  await live.clock.advance(1);
  await until(() => visible(live)[0] === `Once upon a time${cursor}`, 'the edit');
  assert.deepEqual(calls(live), ['sendMessage', 'editMessageText']);
  assert.equal(await preview.finish(), shown[0]);
});

test('what stands for a file is not shown while the text grows', async () => {
  await using live = await openLiveAccount();
  const { preview, shown } = newPreview(live);
  preview.push('Here it is:\nMEDIA:/home/somebody/cha');
  await live.clock.advance(1000);
  await until(() => shown.length === 1, 'the preview');
  assert.deepEqual(visible(live), [`Here it is:${cursor}`]);
  await preview.finish();
});

test('a text that is too short to be worth it, or that may become a silence, is not shown', async () => {
  await using live = await openLiveAccount();
  const { preview } = newPreview(live);
  preview.push('[SIL');
  await live.clock.advance(5000);
  preview.push('ENT]');
  await live.clock.advance(5000);
  assert.equal(await preview.finish(), undefined);
  const short = newPreview(live);
  short.preview.push('Hm.');
  await live.clock.advance(5000);
  assert.equal(await short.preview.finish(), undefined);
  assert.deepEqual(calls(live), []);
});

test('it does not overtake what is still on its way to the chat', async () => {
  await using live = await openLiveAccount();
  let busy = true;
  const { preview } = newPreview(live, { mustWait: async () => busy });
  preview.push('Once upon a time');
  await live.clock.advance(3000);
  assert.deepEqual(calls(live), []);
  busy = false;
  await live.clock.advance(1000);
  await until(() => visible(live).length === 1, 'the preview');
  await preview.finish();
});

test('nothing is sent while the chat is closed, also when it was closed during a pause', async () => {
  await using live = await openLiveAccount();
  const { preview } = newPreview(live);
  preview.push('Once upon a time');
  await live.clock.advance(500);
  await live.gate.close(target, new PlatformError('rate_limited', '', { scope: 'chat', retryAfterMs: 10_000 }));
  await live.clock.advance(9999);
  assert.deepEqual(calls(live), []);
  await live.clock.advance(1);
  await until(() => visible(live).length === 1, 'the preview');
  await preview.finish();
});

test('an edit that was about to be made is not made when the chat is closed meanwhile', async () => {
  await using live = await openLiveAccount();
  const { preview, shown } = newPreview(live);
  preview.push('Once upon');
  await live.clock.advance(1000);
  await until(() => shown.length === 1, 'the preview');
  preview.push(' a time');
  await live.clock.advance(500);
  await live.gate.close(target, new PlatformError('rate_limited', '', { scope: 'chat', retryAfterMs: 10_000 }));
  await live.clock.advance(9999);
  assert.deepEqual(calls(live), ['sendMessage']);
  await live.clock.advance(1);
  await until(() => calls(live).length === 2, 'the edit');
  await preview.finish();
});

test('a limit that it meets closes the chat for everybody', async () => {
  await using live = await openLiveAccount();
  live.simulator.fail({ what: 'send', fault: { type: 'rate_limit', retryAfterMs: 7000 } });
  const { preview } = newPreview(live);
  preview.push('Once upon a time');
  await live.clock.advance(1000);
  await until(() => live.gate.waitMs(target) > 0, 'the gate to close');
  assert.equal(live.gate.waitMs(target), 7000);
  assert.equal(await preview.finish(), undefined);
});

test('a failure costs the preview, and what is visible is still named for the end', async () => {
  await using live = await openLiveAccount();
  const { preview, shown } = newPreview(live);
  preview.push('Once upon');
  await live.clock.advance(1000);
  await until(() => shown.length === 1, 'the preview');
  live.simulator.fail({ what: 'edit', fault: { type: 'status', status: 400 } });
  preview.push(' a time');
  await live.clock.advance(1000);
  await until(() => calls(live).length === 2, 'the edit');
  preview.push(' there was');
  await live.clock.advance(5000);
  assert.equal(calls(live).length, 2);
  assert.equal(await preview.finish(), shown[0]);
});

test('one that an earlier attempt left is taken up by edits', async () => {
  await using live = await openLiveAccount();
  const first = newPreview(live);
  first.preview.push('Once upon');
  await live.clock.advance(1000);
  await until(() => first.shown.length === 1, 'the preview');
  await first.preview.finish();
  const [existing = ''] = first.shown;
  const second = newPreview(live, { existing });
  second.preview.push('Another beginning');
  await live.clock.advance(1000);
  await until(() => visible(live)[0] === `Another beginning${cursor}`, 'the edit');
  assert.equal(await second.preview.finish(), existing);
  assert.equal(visible(live).length, 1);
});

test('a text that outgrows one message stays as it was until the end', async () => {
  await using live = await openLiveAccount();
  const { preview, shown } = newPreview(live);
  preview.push('Once upon');
  await live.clock.advance(1000);
  await until(() => shown.length === 1, 'the preview');
  preview.push('x'.repeat(5000));
  await live.clock.advance(3000);
  assert.deepEqual(visible(live), [`Once upon${cursor}`]);
  await preview.finish();
});

test('an edit whose time comes in the moment of the end is not made any more', async () => {
  await using live = await openLiveAccount();
  const due = Promise.withResolvers<void>();
  const real = live.connections.adapter('telegram') ?? assert.fail('no adapter');
  let edited = 0;
  const adapter: Adapter = { ...real, edits: { edit: async () => void (edited += 1), remove: () => assert.fail('nothing is to be removed') } };
  const { preview } = newPreview(live, { existing: '5', delayMs: 0, connections: { ...live.connections, adapter: () => adapter }, clock: { now: () => live.clock.now(), sleep: () => due.promise } });
  preview.push('Once upon a time');
  due.resolve();
  assert.equal(await preview.finish(), '5');
  await live.clock.advance(0);
  assert.equal(edited, 0);
});

test('the end does not wait for an edit that hangs', async () => {
  await using live = await openLiveAccount();
  const { preview, shown } = newPreview(live);
  preview.push('Once upon');
  await live.clock.advance(1000);
  await until(() => shown.length === 1, 'the preview');
  live.simulator.fail({ what: 'edit', fault: { type: 'hang' } });
  preview.push(' a time');
  await live.clock.advance(1000);
  await until(() => calls(live).length === 2, 'the edit');
  assert.equal(await preview.finish(), shown[0]);
});

test('one who halts does not wait for a first text that hangs, and what appears of it later is taken away again', async () => {
  await using live = await openLiveAccount();
  const begun = Promise.withResolvers<void>();
  const slow = Promise.withResolvers<void>();
  const real = live.connections.adapter('telegram') ?? assert.fail('no adapter');
  const adapter: Adapter = {
    ...real,
    send: async (message, signal) => {
      begun.resolve();
      await slow.promise;
      return real.send(message, signal);
    },
  };
  const { preview, shown } = newPreview(live, { connections: { ...live.connections, adapter: () => adapter } });
  preview.push('Once upon a time');
  await live.clock.advance(1000);
  await begun.promise;
  const halt = new AbortController();
  const finished = preview.finish(halt.signal);
  halt.abort();
  assert.equal(await finished, undefined);
  slow.resolve();
  await until(() => calls(live).includes('deleteMessage'), 'the removal');
  assert.deepEqual([visible(live), shown, await preview.finish(halt.signal)], [[], [], undefined]);
});
