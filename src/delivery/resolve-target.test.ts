import assert from 'node:assert/strict';
import { test } from 'node:test';
import cronDelivery from '../../test/vectors/cron-delivery.json' with { type: 'json' };
import deliveryTargets from '../../test/vectors/delivery-targets.json' with { type: 'json' };
import sendTargets from '../../test/vectors/send-targets.json' with { type: 'json' };
import { sampleTarget } from '../../test/support/samples.ts';
import { eachStore } from '../../test/support/stores.ts';
import type { ChatType, Target } from '../core/message.ts';
import { keepSpoken, replaceListed } from '../store/accounts/channels.ts';
import { setHome } from '../store/sessions/homes.ts';
import { bindSession, createSession } from '../store/sessions/sessions.ts';
import type { Store } from '../store/store.ts';
import { resolveTarget } from './resolve-target.ts';
import type { Resolution } from './resolve-target.ts';
import { testTargets } from './targets.test-support.ts';
import type { TestTargets } from './targets.test-support.ts';

interface Place {
  readonly platform: string;
  readonly chat_id: string;
  readonly thread_id?: string | null;
}

const targetOf = ({ platform, chat_id, thread_id }: Place, chatType: ChatType = 'group'): Target => ({ account: platform, chatId: chat_id, chatType, ...(thread_id != null && { threadId: thread_id }) });

const resolve = (store: Store, text: string, more: TestTargets & { readonly origin?: Target } = {}): Promise<Resolution> =>
  store.read((db) => resolveTarget(db, testTargets(more), { text, origin: more.origin }));

/** Where it goes, in short. */
const places = ({ destinations }: Resolution): readonly unknown[] =>
  destinations.map((each) => (each.type === 'local' ? 'local' : { platform: each.target.account, chat_id: each.target.chatId, thread_id: each.target.threadId ?? null }));

/** Matrix rooms were cut at their colon; an unknown platform silently became a local file. */
const better: Readonly<Record<string, readonly unknown[]>> = {
  'matrix-room-colon': [{ platform: 'matrix', chat_id: '!room:example.org', thread_id: null }],
  'matrix-room-thread': [{ platform: 'matrix', chat_id: '!room:example.org', thread_id: '$ev' }],
  'unknown-platform': [],
};

/** What names a place only together with the configuration. */
const needsHome = (out: (typeof deliveryTargets.cases)[number]['out']): boolean => !out.is_origin && out.platform !== 'local' && out.chat_id === null;

eachStore((_engine, open) => {
  const expectedOf = (id: string, out: (typeof deliveryTargets.cases)[number]['out']): readonly unknown[] => {
    if (needsHome(out)) return [{ platform: out.platform, chat_id: 'H', thread_id: null }];
    return better[id] ?? (out.platform === 'local' ? ['local'] : [{ platform: out.platform, chat_id: out.chat_id, thread_id: out.thread_id }]);
  };

  test('targets of the original lead where they led', async () => {
    const { store } = await open();
    for (const { id, in: given, out } of deliveryTargets.cases) {
      const origin = given.origin === null ? undefined : targetOf(given.origin);
      const resolution = await resolve(store, given.target, { homes: { discord: 'H', matrix: 'H', api_server: 'H' }, ...(origin !== undefined && { origin }) });
      assert.deepEqual([places(resolution), resolution.problems.length], [expectedOf(id, out), id === 'unknown-platform' ? 1 : 0], id);
    }
  });

  test('references are ids, or names that the directory has to know', async () => {
    const { store } = await open();
    for (const { id, in: given, out } of sendTargets.cases) {
      const resolution = await resolve(store, `${given.platform}:${given.ref}`);
      const expected = out.explicit ? [{ platform: given.platform, chat_id: out.chat_id, thread_id: out.thread_id }] : [];
      assert.deepEqual([places(resolution), resolution.problems.length], [expected, out.explicit ? 0 : 1], id);
    }
  });

  /** An unknown platform is a problem and no place, and a job without a place is the caller's to know. */
  const elsewhere: Readonly<Record<string, readonly unknown[]>> = { 'unknown-explicit': [], 'local-in-list-ignored': ['local', { platform: 'telegram', chat_id: '42', thread_id: null }] };

  test('places of jobs are those of the original', async () => {
    const { store } = await open();
    for (const { id, in: given, out } of cronDelivery.cases) {
      if (!('deliver' in given.job)) continue;
      const { deliver } = given.job;
      const origin = 'origin' in given.job && given.job.origin !== undefined ? targetOf(given.job.origin) : undefined;
      const home = given.home as { TELEGRAM_HOME_CHANNEL?: string; DISCORD_HOME_CHANNEL?: string };
      const homes = { ...(home.TELEGRAM_HOME_CHANNEL !== undefined && { telegram: home.TELEGRAM_HOME_CHANNEL }), ...(home.DISCORD_HOME_CHANNEL !== undefined && { discord: home.DISCORD_HOME_CHANNEL }) };
      assert.deepEqual(places(await resolve(store, deliver, { homes, ...(origin !== undefined && { origin }) })), elsewhere[id] ?? out, id);
    }
  });

  test('each problem is named with its fix, and the other places are found all the same', async () => {
    const { store } = await open();
    const problemsOf = async (text: string, more: TestTargets = {}): Promise<string> => (await resolve(store, text, more)).problems.join('; ');
    assert.match(await problemsOf('carrierpigeon:1'), /no platform called "carrierpigeon"; known are telegram/);
    assert.match(await problemsOf('telegram@work:1'), /telegram@work is not configured/);
    assert.match(await problemsOf('telegram'), /telegram has no home channel; send \/sethome/);
    assert.match(await problemsOf('discord:#general'), /no chat of discord is called "#general"/);
    assert.match(await problemsOf('all'), /no account has a home channel/);
    assert.match(await problemsOf(''), /names no place/);
    assert.match(await problemsOf('telegram:1,,telegram:2'), /names no place/);
    assert.match(await problemsOf('origin', { homes: { telegram: '1', discord: '2' } }), /no chat that this comes from; name one of the home channels/);
    const mixed = await resolve(store, 'telegram:5, pigeon, local');
    assert.deepEqual([places(mixed).length, mixed.problems.length], [2, 1]);
  });

  test('without an origin the only home there is gets it', async () => {
    const { store } = await open();
    assert.deepEqual(places(await resolve(store, 'origin', { homes: { telegram: '1' } })), [{ platform: 'telegram', chat_id: '1', thread_id: null }]);
  });

  test('a home that was chosen in the chat wins over the one in the configuration, and no answer hangs below an old message', async () => {
    const { store } = await open();
    await store.write((tx) => setHome(tx, { account: 'telegram', target: sampleTarget({ chatId: '9', threadId: '3', replyTo: '77' }), name: null, setBy: '7' }));
    const { destinations } = await resolve(store, 'telegram', { homes: { telegram: '1' } });
    assert.deepEqual(destinations, [{ type: 'chat', target: sampleTarget({ chatId: '9', threadId: '3' }), known: true }]);
  });

  test('an id is known when people have spoken there, the platform names it or the owner has written it down', async () => {
    const { store } = await open();
    await store.write(async (tx) => {
      await createSession(tx, { id: 's1', agent: 'main', account: 'slack', chatType: 'channel' });
      await bindSession(tx, { sessionKey: 'k', sessionId: 's1', target: { account: 'slack', chatId: 'C0000001', chatType: 'channel', scopeId: 'T1' } });
      await replaceListed(tx, 'slack', [{ chatId: 'C0000002', name: 'general', chatType: 'channel', scopeId: 'T2' }]);
    });
    const aliases = { slack: { C0000003: 'ops' } };
    const found = async (text: string): Promise<unknown> => {
      const { destinations: [first] } = await resolve(store, text, { aliases, homes: { slack: 'C0000004' } });
      return first?.type === 'chat' ? [first.known, first.target.chatType, first.target.scopeId] : first;
    };
    assert.deepEqual(await found('slack:C0000001:17.5'), [true, 'channel', 'T1']);
    assert.deepEqual(await found('slack:C0000002'), [true, 'channel', 'T2']);
    assert.deepEqual(await found('slack:C0000003'), [true, 'dm', undefined]);
    assert.deepEqual(await found('slack:C0000004'), [true, 'dm', undefined]);
    assert.deepEqual(await found('slack:C0000005'), [false, 'dm', undefined]);
    assert.deepEqual(await found('telegram:-1005'), [false, 'group', undefined], 'the id says what kind of chat it is');
  });

  test('names lead to the one chat that is called so, and never to one of several', async () => {
    const { store } = await open();
    await store.write(async (tx) => {
      await replaceListed(tx, 'discord', [
        { chatId: '1', name: 'general', chatType: 'channel', scopeName: 'Acme' },
        { chatId: '2', name: 'general', chatType: 'channel', scopeName: 'Home' },
        { chatId: '3', name: 'Releases', chatType: 'channel', scopeName: 'Acme' },
      ]);
      await keepSpoken(tx, [{ account: 'discord', chatId: '3', threadId: '30', name: 'v2', chatType: 'thread', spokenAtMs: 5 }]);
    });
    const aliases = { discord: { '2': 'family', '99:7': 'alerts' } };
    const of = async (name: string): Promise<unknown> => {
      const { destinations: [first], problems } = await resolve(store, `discord:${name}`, { aliases });
      return first?.type === 'chat' ? [first.target.chatId, first.target.threadId] : problems[0];
    };
    assert.deepEqual(await of('#releases'), ['3', undefined]);
    assert.deepEqual(await of('Acme/general'), ['1', undefined]);
    assert.deepEqual(await of('FAMILY'), ['2', undefined]);
    assert.deepEqual(await of('rel'), ['3', undefined], 'the beginning of a name, if only one begins so');
    assert.deepEqual(await of('alerts'), ['99', '7']);
    assert.deepEqual(await of('Releases/v2'), ['3', '30']);
    assert.match(String(await of('general')), /could be .*\(discord:1\).*\(discord:2\); write one of the ids/);
    assert.match(String(await of('nothing')), /is called "nothing"/);
  });
});
