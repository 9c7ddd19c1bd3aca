import { newHome } from '../gateway-process.ts';
import type { Home } from '../gateway-process.ts';
import { accounts } from './places.ts';
import type { World } from './world.ts';

/** A home whose gateway talks to both Telegrams of the world, in the way each account is meant to be busy; with these keys put over it. */
export const newChaosHome = (world: World, more: { readonly settings?: Readonly<Record<string, unknown>>; readonly telegram?: Readonly<Record<string, unknown>> } = {}): Promise<Home> => {
  const { telegram, 'telegram@quick': quick } = world.telegrams;
  return newHome({
    model: { provider: 'openai', default: 'chaos', base_url: world.model.baseUrl, api_key: 'sk-chaos' },
    auxiliary: { title_generation: { enabled: false } },
    platforms: {
      telegram: {
        ...telegram.options,
        allow_all_users: true,
        gateway_restart_notification: false,
        busy_input_mode: accounts.telegram,
        ...more.telegram,
        accounts: { quick: { ...quick.options, allow_all_users: true, gateway_restart_notification: false, busy_input_mode: accounts['telegram@quick'] } },
      },
    },
    agent: { queue_limit: 1000, restart_drain_timeout: 1 },
    http: { port: 0 },
    ...more.settings,
  });
};
