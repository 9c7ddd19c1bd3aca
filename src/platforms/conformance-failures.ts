import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { aMoment, eventually, failure, never, notOffered, soonMs, within } from './conformance-bench.ts';
import type { Clause } from './conformance-bench.ts';
import type { Fault } from './simulator.ts';

/** What goes wrong with a send, and what the gateway learns about it. */
export const failures: Readonly<Record<string, Clause>> = {
  'garbage from the platform does not pass for success': async ({ simulator, adapter, message }) => {
    simulator.fail({ what: 'send', fault: { type: 'garbage' } });
    await failure(adapter.send(message('hello'), never), 'unknown_outcome', 'unavailable', 'rejected');
  },

  'nothing is sent for a caller who has already left': async ({ adapter, message, visible }) => {
    await failure(adapter.send(message('too late'), AbortSignal.abort()), 'aborted');
    await aMoment();
    assert.deepEqual(visible(), []);
  },

  'a send that hangs ends with its caller': async ({ simulator, adapter, message }) => {
    simulator.fail({ what: 'send', fault: { type: 'hang' } });
    const stopping = new AbortController();
    const sending = failure(adapter.send(message('never answered'), stopping.signal), 'aborted', 'unknown_outcome');
    await aMoment();
    stopping.abort();
    await within(soonMs, sending, 'ending');
  },

  'a rate limit carries its delay, and nothing is tried again': async ({ simulator, adapter, message, visible }) => {
    simulator.fail({ what: 'send', fault: { type: 'rate_limit', retryAfterMs: 3000 } });
    const { facts } = await failure(adapter.send(message('slowly'), never), 'rate_limited');
    assert.ok(facts.retryAfterMs !== undefined && facts.retryAfterMs >= 3000 && facts.retryAfterMs <= 4000, `after ${facts.retryAfterMs} ms`);
    await aMoment();
    assert.deepEqual(visible(), []);
  },

  'a platform that cannot be reached is unavailable': async ({ cutOff, reopen, message }) => {
    await cutOff();
    const adapter = await reopen();
    await failure(adapter.identify(never), 'unavailable');
    await failure(adapter.send(message('lost'), never), 'unavailable');
  },

  'a connection that breaks during a send is no success, and the next send works': async ({ simulator, adapter, message, visible }) => {
    simulator.fail({ what: 'send', fault: { type: 'refuse' } });
    await failure(adapter.send(message('lost'), never), 'unavailable', 'unknown_outcome');
    await adapter.send(message('found'), never);
    await eventually(() => visible().length > 0, 'the second message is shown');
    assert.deepEqual(
      visible().map(({ text }) => text),
      ['found'],
    );
  },

  'a lost answer is an unknown outcome': async ({ simulator, adapter, message, visible }) => {
    const sent = message('once');
    assert.ok(adapter.repeatsAreSafeForMs === undefined || (adapter.repeatsAreSafe === true && adapter.repeatsAreSafeForMs > 0), 'repeats that are not safe are not safe for a while either');
    simulator.fail({ what: 'send', fault: { type: 'drop_answer' } });
    await failure(adapter.send(sent, never), 'unknown_outcome');
    await eventually(() => visible().length === 1, 'the message is shown');
    if (adapter.repeatsAreSafe === true) await adapter.send({ ...sent, mayBeShown: true }, never);
    assert.equal(visible().length, 1);
  },

  'no secret gets into a log or an error': async ({ simulator, adapter, reopen, message, lines }) => {
    if (simulator.secrets.length === 0) notOffered('it has no secrets');
    const faults: readonly Fault[] = [{ type: 'status', status: 500 }, { type: 'status', status: 400, description: 'Bad Request' }, { type: 'refuse' }, { type: 'drop_answer' }, { type: 'garbage' }, { type: 'rate_limit', retryAfterMs: 10 }];
    const told: string[] = [];
    const keep = (error: unknown): void => void told.push(inspect(error, { depth: 12, showHidden: true }), JSON.stringify(error));
    for (const fault of faults) {
      for (const what of ['send', 'identify'] as const) {
        simulator.fail({ what, fault });
        await (what === 'send' ? adapter.send(message('hello'), never) : adapter.identify(never)).catch(keep);
      }
    }
    await (await reopen(simulator.badOptions)).identify(never).catch(keep);
    assert.ok(told.length > faults.length, 'hardly anything failed');
    const text = [...told, ...lines].join('\n');
    const wrong = Object.entries(simulator.badOptions).filter(([key, value]) => simulator.options[key] !== value);
    for (const secret of [...simulator.secrets, ...wrong.map(([, value]) => String(value))]) assert.ok(!text.includes(secret), `${secret} in ${text.split('\n').find((line) => line.includes(secret))}`);
  },
};
