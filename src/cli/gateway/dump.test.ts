import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError } from '../../core/errors.ts';
import { dumpGateway } from './dump.ts';

/** Has the home and writes no report when it is asked for one. */
const program = `
const { lockHome } = await import(${JSON.stringify(new URL('../../store/locks/home-lock.ts', import.meta.url).href)});
const { writeFileSync } = await import('node:fs');
const [home] = process.argv.slice(1);
globalThis.lock = lockHome(home);
writeFileSync(home + '/gateway.pid', process.pid + '\\n');
process.on('SIGUSR2', () => undefined);
setInterval(() => undefined, 60_000);
console.log('runs');
`;

test('who gets no report is told whether the gateway runs, and how much room it has to write one', { skip: process.platform === 'win32' && 'there is no SIGUSR2' }, async () => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-dump-'));
  await mkdir(join(home, 'logs'));
  const door = createServer((_request, response) => void response.end(JSON.stringify({ status: 'ok', version: '1', uptime_s: 1 })));
  await once(door.listen(0, '127.0.0.1'), 'listening');
  const http = { host: '127.0.0.1', port: (door.address() as AddressInfo).port };
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program, home, 'gateway'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const refusal = (sentence: RegExp) => (error: unknown) => error instanceof ConfigError && sentence.test(error.message);
  try {
    await once(child.stdout, 'data');
    await assert.rejects(dumpGateway(home, { http, patienceMs: 10 }), refusal(/ It runs, but could not write to \S+logs, where \d+ MB are free\.$/));
    await assert.rejects(dumpGateway(home, { http: undefined, patienceMs: 10 }), refusal(/ It is stopped, waits for the disk, or could not write to /));
  } finally {
    child.kill('SIGKILL');
    await exited;
    door.closeAllConnections();
    door.close();
    await rm(home, { recursive: true });
  }
});
