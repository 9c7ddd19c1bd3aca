import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { Exit } from '../src/cli/environment.ts';
import { consoleFile, startDetached } from '../src/cli/gateway/start.ts';
import { stopGateway } from '../src/cli/gateway/stop.ts';
import { isHomeTaken } from '../src/store/locks/home-lock.ts';
import { newWorld, until } from './support/whole.ts';

test('who stops a gateway that was started a moment ago, and has not loaded its modules yet, ends that one', async () => {
  await using world = await newWorld();
  const [hold, go] = [join(world.home, 'hold.mjs'), join(world.home, 'go')];
  await writeFile(hold, `import { existsSync } from 'node:fs';\nwhile (!existsSync(${JSON.stringify(go)})) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);\n`);
  const quiet = (): void => undefined;
  const env = { ...process.env, ...world.env, XDG_STATE_HOME: join(world.home, 'state'), NODE_OPTIONS: `--import=${hold}` };
  const starting = startDetached({ env, version: 'test', write: quiet, writeError: quiet }, world.home).catch((error: unknown) => assert.ok(error instanceof Exit, String(error)));
  await until(() => existsSync(consoleFile(world.home)), 'it to be started');
  const stopped = stopGateway(world.home, { drainMs: 5000, force: true });
  await writeFile(go, '');
  try {
    assert.equal(await stopped, 'stopped');
  } finally {
    await starting;
    await stopGateway(world.home, { drainMs: 5000, force: true });
  }
  assert.equal(isHomeTaken(world.home), false);
});
