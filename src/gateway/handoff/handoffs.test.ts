import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { until } from '../../../test/support/whole.ts';
import { systemClock } from '../../lib/clock.ts';
import { silentLogger } from '../../lib/logger.ts';
import { accountOptions } from '../../platforms/account-options.ts';
import { platforms } from '../../platforms/registry.ts';
import { getHandoffState, requestHandoff } from '../../store/sessions/handoffs.ts';
import { createSession } from '../../store/sessions/sessions.ts';
import { Handoffs } from './handoffs.ts';
import type { HandoffsDeps } from './handoffs.ts';

const slack = platforms.find(({ name }) => name === 'slack') ?? assert.fail('no platform');

eachStore((engine, open) => {
  test('a handoff to an account that is not connected here is refused at once where no other gateway can have it, and left to others for a while where one can', async () => {
    const { store } = await open();
    let looks = 0;
    const deps: HandoffsDeps = {
      store,
      clock: systemClock,
      log: silentLogger,
      owner: 'here',
      hooks: { emit: () => undefined },
      platforms: () => {
        looks += 1;
        return platforms;
      },
      account: () => ({ platform: slack, common: accountOptions.parse({}) }),
      adapter: () => undefined,
      sharing: () => ({}),
      agentAt: () => 'main',
    };
    const handoffs = new Handoffs(deps);
    handoffs.start();
    const stateNow = async () => (await store.read((db) => getHandoffState(db, 's1')))?.state;
    try {
      await store.write(async (tx) => {
        await createSession(tx, { id: 's1', agent: 'main', account: 'telegram', chatType: 'dm', userId: '7' });
        await requestHandoff(tx, 's1', { destination: 'slack:D0123ABCDE' });
      });
      await until(() => looks > 0, 'somebody to look');
      if (engine === 'postgres') assert.equal(await stateNow(), 'pending');
      else await until(async () => (await stateNow()) === 'failed', 'the refusal');
      await store.write((tx) => tx.q.updateTable('handoffs').set((eb) => ({ requested_at: eb('requested_at', '-', 10_000) })).execute());
      await store.write(async (tx) => tx.notify('handoff', 's1'));
      await until(async () => (await stateNow()) === 'failed', 'the refusal');
      assert.match((await store.read((db) => getHandoffState(db, 's1')))?.error ?? '', /not active/);
    } finally {
      await handoffs.stop();
    }
  });
});
