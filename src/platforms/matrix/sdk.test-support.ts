import { createClient } from 'matrix-js-sdk';
import type { MatrixClient } from 'matrix-js-sdk';
import { logger } from 'matrix-js-sdk/lib/logger.js';
import type { Logger } from 'matrix-js-sdk/lib/logger.js';
import { alice } from './matrix.test-support.ts';
import type { MatrixSimulator } from './simulator.ts';

const quiet: Logger = { trace: () => undefined, debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined, getChild: () => quiet };
Object.assign(logger, quiet);

/** Longer than anything that a test waits for. */
const longMs = 30_000;

/** The library leaves timers of up to five minutes behind, also when its client has been stopped. They do not keep the process. */
const letGo = (): void => {
  const { setTimeout: begin } = globalThis;
  const begun = (...args: Parameters<typeof begin>): NodeJS.Timeout => {
    const timer = begin(...args);
    return (args[1] ?? 0) >= longMs ? timer.unref() : timer;
  };
  globalThis.setTimeout = Object.assign(begun, begin);
};
letGo();

/** The vendor's own client, on a device of Alice's. */
export const newSdk = (simulator: MatrixSimulator, deviceId: string): MatrixClient => createClient({ baseUrl: simulator.baseUrl, accessToken: simulator.logIn(alice, deviceId), userId: alice, deviceId, logger: quiet });
