import assert from 'node:assert/strict';
import { z } from 'zod';
import { PlatformError } from '../core/errors.ts';
import { eventWith, eventually, failure, never, notOffered, soonMs, within } from './conformance-bench.ts';
import type { Clause } from './conformance-bench.ts';

/** Finds what was declared about an option, below `.optional()` and `.default()`. */
const metaOf = (schema: z.core.$ZodType): z.core.GlobalMeta => {
  const inner = 'innerType' in schema._zod.def ? metaOf(schema._zod.def.innerType as z.core.$ZodType) : {};
  return { ...inner, ...z.globalRegistry.get(schema) };
};

/** Configuration, credentials, and the life of a connection. */
export const connecting: Readonly<Record<string, Clause>> = {
  'its example options are valid and described': async ({ platform, simulator }) => {
    platform.options.parse(simulator.options);
    for (const [key, schema] of Object.entries(platform.options.shape)) assert.ok(metaOf(schema).description, `the option ${key} has no description`);
  },

  'a missing secret is named': async ({ platform, simulator }) => {
    const secrets = Object.entries(platform.options.shape).filter(([, schema]) => metaOf(schema).secret === true);
    if (secrets.length === 0) notOffered('it has no secrets');
    const { options } = simulator;
    for (const key of secrets.map(([name]) => name).filter((name) => name in options)) {
      const { [key]: _secret, ...rest } = options;
      const issues = platform.options.safeParse(rest).error?.issues ?? [];
      assert.ok(
        issues.some(({ path }) => path[0] === key),
        `without ${key} the options were accepted, or something else was blamed: ${JSON.stringify(issues)}`,
      );
    }
  },

  'a refused credential is called one': async ({ simulator, reopen }) => {
    const stranger = await reopen(simulator.badOptions);
    await failure(stranger.identify(never), 'bad_credential');
  },

  'it knows who it is': async ({ adapter }) => {
    const [first, second] = [await adapter.identify(never), await adapter.identify(never)];
    assert.ok(first.id !== '' && first.name !== '');
    assert.equal(first.id, second.id);
  },

  'receiving ends when it is told to, not when the platform says something next': async ({ running }) => {
    await within(soonMs, running.stop(), 'ending');
    assert.equal(await running.ended, undefined);
  },

  'a new connection shows at once that it receives, also while nobody says anything': async ({ running, run }) => {
    await eventually(() => running.inbox.signsOfLife() > 0, 'the first connection showed a sign of life');
    await running.stop();
    const { inbox } = await run();
    await eventually(() => inbox.signsOfLife() > 0, 'the next connection showed a sign of life');
  },

  'a lost connection ends receiving with an error, and the next one goes on': async ({ simulator, running, run, say }) => {
    if (simulator.webhook !== undefined) notOffered('it keeps no connection, it is called');
    simulator.fail({ what: 'receive', fault: { type: 'refuse' } });
    const error = await within(soonMs, running.ended, 'noticing');
    assert.ok(error instanceof PlatformError, `ended with ${String(error)}`);
    const { inbox } = await run();
    await say({ text: 'still there?' });
    await eventWith(inbox, 'still there?');
  },

  'a wrong signature is refused and nothing comes in': async ({ adapter, simulator, running, place, say }) => {
    const { webhook, routes } = { webhook: simulator.webhook, routes: adapter.webhook?.routes };
    if (webhook === undefined || routes === undefined) return notOffered('nobody calls it');
    const call = async (text: string, signed: boolean): Promise<Response> => {
      const { path = '/', ...request } = webhook({ ...place('dm'), text }, signed);
      return routes.request(path, { method: 'POST', ...request });
    };
    await say({ text: 'ready' });
    await eventWith(running.inbox, 'ready');
    assert.equal((await call('forged', false)).status, 401);
    assert.ok((await call('genuine', true)).ok);
    await eventWith(running.inbox, 'genuine');
    assert.deepEqual(
      running.inbox.offered.map(({ text }) => text),
      ['ready', 'genuine'],
    );
  },

  'calls are refused while it is not receiving': async ({ adapter, simulator, running, place }) => {
    const { webhook, routes } = { webhook: simulator.webhook, routes: adapter.webhook?.routes };
    if (webhook === undefined || routes === undefined) return notOffered('nobody calls it');
    await running.stop();
    const { path = '/', ...request } = webhook({ ...place('dm'), text: 'too early' }, true);
    const answer = await routes.request(path, { method: 'POST', ...request });
    assert.equal(answer.status, 503);
  },

  'an event of an unknown kind is ignored': async ({ simulator, running, say }) => {
    await simulator.sendUnknownEvent();
    await say({ text: 'known' });
    await eventWith(running.inbox, 'known');
    assert.equal(running.inbox.offered.length, 1);
  },

  'every recorded payload is taken without complaint': async ({ simulator, running, say, lines }) => {
    assert.ok(simulator.fixtures.length > 0, 'there are none');
    for (const { payload } of simulator.fixtures) await simulator.replay(payload);
    await say({ text: 'after the recordings' });
    await eventWith(running.inbox, 'after the recordings');
    for (const event of running.inbox.offered) assert.deepEqual(JSON.parse(JSON.stringify(event)), event);
    assert.deepEqual(
      lines.filter((line) => /"level":"(?:warn|error|fatal)"/.test(line)),
      [],
    );
  },
};
