import type { ResolveDeps } from '../../delivery/resolve-target.ts';
import { platforms } from '../../platforms/registry.ts';
import type { Config } from './settings.ts';

/** The accounts of the configuration as delivery sees them. */
export const configTargets = (config: Config): ResolveDeps => ({
  platforms: () => platforms,
  accounts: () => config.accounts.map(({ account }) => account),
  account(name) {
    const known = config.accounts.find(({ account }) => account === name);
    const platform = platforms.find((each) => each.name === known?.platform);
    return known === undefined || platform === undefined ? undefined : { platform, common: known.common };
  },
  aliases: () => config.sections.channels.aliases,
});
