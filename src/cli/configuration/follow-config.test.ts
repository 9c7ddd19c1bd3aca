import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryHome } from '../../config/sample-config.ts';
import type { GatewayConfig } from '../../gateway/settings.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import { capturingLogger } from '../../lib/logger.ts';
import { newRedactor } from '../../lib/redact.ts';
import { followConfig } from './follow-config.ts';
import { gatewayConfig, requireConfig } from './settings.ts';

/** Waits are short. */
const quick: Clock = { now: () => Date.now(), sleep: (_ms, signal) => systemClock.sleep(5, signal) };

test('what could not be applied is tried again, although nobody writes the file once more', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', 'default_agent: main\n');
  const terminal = { env: { HERMES_HOME: home.path }, version: 'test', write: () => undefined, writeError: () => undefined };
  const { log, lines } = capturingLogger();
  const over = new AbortController();
  const tried: GatewayConfig[] = [];
  const applied = Promise.withResolvers<void>();
  const configure = async (config: GatewayConfig): Promise<void> => {
    tried.push(config);
    if (tried.length === 1) throw new Error('the store is away');
    applied.resolve();
  };
  const following = followConfig(terminal, await requireConfig(terminal), { home: home.path, log, redactor: newRedactor(), gateway: { configure }, configOf: gatewayConfig, signal: over.signal, clock: quick });
  await home.write('config.yaml', 'clarify: { timeout: 7 }\n');
  await applied.promise;
  over.abort();
  await following;
  assert.deepEqual(tried.map(({ settings }) => settings.clarify.timeout), [7, 7]);
  assert.equal(lines.filter((line) => line.includes('config.not_applied')).length, 1);
});
