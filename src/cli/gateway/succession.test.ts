import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as otherWork } from 'node:timers/promises';
import { ConfigError } from '../../core/errors.ts';
import { stopGateway } from './stop.ts';
import { takeSuccession, untilSucceeded } from './succession.ts';

const withHome = async (work: (home: string) => Promise<void>): Promise<void> => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-succession-'));
  try {
    await work(home);
  } finally {
    await rm(home, { recursive: true });
  }
};

test('the right to take a home over is one process’s at a time, and is said to be', () =>
  withHome(async (home) => {
    assert.equal(await untilSucceeded(home, 0), true);
    const first = await takeSuccession(home, 0);
    assert.equal(await untilSucceeded(home, 0), undefined);
    await assert.rejects(takeSuccession(home, 0), (error) => error instanceof ConfigError && error.exitCode === 1 && /taking over/.test(error.message));
    first.release();
    (await takeSuccession(home, 0)).release();
  }));

test('whoever stops a gateway waits for one that is taking over', () =>
  withHome(async (home) => {
    const happened: string[] = [];
    const taking = await takeSuccession(home, 0);
    const stopping = stopGateway(home, { drainMs: 0, force: false }).then((stopped) => happened.push(stopped));
    for (let i = 0; i < 10; i += 1) await otherWork();
    happened.push('taken over');
    taking.release();
    await stopping;
    assert.deepEqual(happened, ['taken over', 'not running']);
  }));
