import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { requireConfig } from '../src/cli/configuration/settings.ts';

const root = join(import.meta.dirname, '..');
const dockerfile = await readFile(join(root, 'Dockerfile'), 'utf8');
const imageEnv: Readonly<Record<string, string>> = Object.fromEntries((/^ENV (.*)$/m.exec(dockerfile)?.[1] ?? '').split(' ').map((pair) => pair.split('=', 2)));
const [program = '', ...args] = JSON.parse(/^HEALTHCHECK .* CMD (\[.*\])$/m.exec(dockerfile)?.[1] ?? '[]') as string[];

/** As Docker runs it. */
const healthCheck = async (port: string): Promise<number | null> => {
  assert.equal(program, 'node');
  const [code] = (await once(spawn(process.execPath, args, { env: { ...imageEnv, HERMES_HTTP_PORT: port } }), 'exit')) as [number | null];
  return code;
};

test('in the image the page is at the port that is published and checked, whatever config.yaml says', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-image-'));
  t.after(() => rm(home, { recursive: true }));
  await writeFile(join(home, 'config.yaml'), 'model: demo\nhttp:\n  port: 9999\n', { mode: 0o600 });
  const env = { ...imageEnv, HERMES_HOME: home, HERMES_HTTP_TOKEN: 'token-of-this-test' };
  const { http } = (await requireConfig({ env, version: 'test', write: () => undefined, writeError: () => undefined })).sections;
  assert.equal(String(http.port), imageEnv['HERMES_HTTP_PORT']);
  assert.match(dockerfile, new RegExp(`^EXPOSE ${http.port}$`, 'm'));
  assert.match(await readFile(join(root, 'compose.yaml'), 'utf8'), new RegExp(`"127\\.0\\.0\\.1:\\d+:${http.port}"`));
});

test('the health check of the image asks at that port, and fails when nobody answers there', async (t) => {
  const server = createServer((request, response) => response.writeHead(request.url === '/health' ? 200 : 404).end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const port = String((server.address() as AddressInfo).port);
  assert.equal(await healthCheck(port), 0);
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  assert.equal(await healthCheck(port), 1);
});
