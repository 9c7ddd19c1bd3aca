import type { AccountOptions } from '../platforms/account-options.ts';
import type { Platform } from '../platforms/contract.ts';

/** Whether somebody unknown is told how to be let in: as the account says, and as its platform is otherwise. */
export const answersStrangers = (platform: Pick<Platform, 'answersStrangers'>, { unauthorized_dm_behavior: wish }: Pick<AccountOptions, 'unauthorized_dm_behavior'>): boolean =>
  wish === undefined ? platform.answersStrangers !== false : wish === 'pair';
