import type { Platform } from './contract.ts';
import { discord } from './discord/index.ts';
import { email } from './email/index.ts';
import { platformsFrom } from './load-platform.ts';
import type { LoadedPlatform } from './load-platform.ts';
import { local } from './local/index.ts';
import { matrix } from './matrix/index.ts';
import { slack } from './slack/index.ts';
import { telegram } from './telegram/index.ts';
import { web } from './web/index.ts';
import { webhook } from './webhook/index.ts';

/** Every platform of this tree. This is the only list of them. */
const own: readonly Platform[] = [web, local, telegram, discord, slack, matrix, webhook, email];

const all: Platform[] = [...own];

/** Every platform there is, with those that come from outside. */
export const platforms: readonly Platform[] = all;

/** Puts what was loaded from outside beside our own, in place of what was put there before. One process serves one home, so this is said once, when it starts. */
export const usePlatforms = (outside: readonly LoadedPlatform[]): void => {
  all.splice(own.length, Infinity, ...platformsFrom(outside, own.map(({ name }) => name)));
};
