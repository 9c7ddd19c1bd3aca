import type { Platform } from './contract.ts';
import { local } from './local/index.ts';
import { telegram } from './telegram/index.ts';
import { web } from './web/index.ts';

/** Every platform there is. This is the only list of them. */
export const platforms: readonly Platform[] = [web, local, telegram];
