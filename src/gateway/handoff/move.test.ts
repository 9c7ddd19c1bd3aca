import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { silentLogger } from '../../lib/logger.ts';
import { accountOptions } from '../../platforms/account-options.ts';
import type { Adapter } from '../../platforms/contract.ts';
import { platforms } from '../../platforms/registry.ts';
import { claimHandoff, requestHandoff } from '../../store/sessions/handoffs.ts';
import { bindSession, changeSettings, createSession, findSession } from '../../store/sessions/sessions.ts';
import type { Store } from '../../store/store.ts';
import { moveConversation } from './move.ts';

const slack = platforms.find(({ name }) => name === 'slack') ?? assert.fail('no platform');
const claim = { owner: 'here', leaseMs: 60_000 };
const destination = 'slack:D0123ABCDE';

/** Somebody's conversation on Telegram, about to go to a direct chat on Slack. */
const plant = (store: Store): Promise<void> =>
  store.write(async (tx) => {
    await createSession(tx, { id: 's1', agent: 'main', account: 'telegram', chatType: 'dm', userId: '7' });
    await requestHandoff(tx, 's1', { destination });
    await claimHandoff(tx, 's1', claim);
  });

const move = (store: Store, clock: Parameters<typeof moveConversation>[0]['clock'], beforeThread: () => Promise<void>) => {
  const threads: Adapter['threads'] = {
    open: async () => {
      await beforeThread();
      throw new Error('no threads here');
    },
  };
  const adapter = { threads } as Adapter;
  const account = () => ({ platform: slack, common: accountOptions.parse({}) });
  const sharing = () => ({ groupSessionsPerUser: true, threadSessionsPerUser: false });
  return moveConversation({ store, clock, log: silentLogger, platforms: () => platforms, account, adapter: () => adapter, sharing, agentAt: () => 'main' } as Parameters<typeof moveConversation>[0], { sessionId: 's1', destination, origin: null, waitedMs: 0 }, claim);
};

eachStore((_engine, open) => {
  test('a conversation that is handed over to a direct chat is theirs whose the one before it was, and not the chat’s', async () => {
    const { store, clock } = await open();
    await plant(store);
    const { sessionKey = assert.fail('no key') } = await move(store, clock, async () => undefined);
    assert.equal((await store.read((db) => findSession(db, 's1')))?.userId, null);
    await store.write(async (tx) => {
      await createSession(tx, { id: 's2', agent: 'main', account: 'slack', chatType: 'dm', userId: 'U456' });
      await bindSession(tx, { sessionKey, sessionId: 's2', target: { account: 'slack', chatId: 'D0123ABCDE', chatType: 'dm' } });
    });
    await move(store, clock, async () => undefined);
    assert.equal((await store.read((db) => findSession(db, 's1')))?.userId, 'U456');
  });

  test('settings that are made while its thread is opened stay', async () => {
    const { store, clock } = await open();
    await plant(store);
    await move(store, clock, () => store.write((tx) => changeSettings(tx, 's1', { model: 'chosen-meanwhile' })));
    const session = await store.read((db) => findSession(db, 's1'));
    assert.deepEqual(session?.settings, { model: 'chosen-meanwhile', former: [{ account: 'telegram', userId: '7' }] });
  });
});
