import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { PlatformError } from '../core/errors.ts';
import { platforms } from '../platforms/registry.ts';
import { holdCredential } from './credential-lock.ts';

const heldAs = (folder: string, name: string, given: Readonly<Record<string, unknown>>): Disposable => {
  const platform = platforms.find((each) => each.name === name);
  assert.ok(platform !== undefined);
  return holdCredential(folder, { platform, options: platform.options.parse(given), account: name, home: '/homes/first' });
};

const spellings: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>> = {
  telegram: ['http://127.0.0.1:8081', 'http://127.0.0.1:8081/', 'http://LOCALHOST:8081/bot/'].map((base_url) => ({ token: '4711:abcdefghijklmnopqrstuvwxyz', base_url })),
  discord: ['https://discord.com/api', 'https://Discord.com:443/api/v10/'].map((base_url) => ({ token: 'MTA.Gx.abc', base_url })),
  matrix: ['https://matrix.example.org', 'https://Matrix.example.org/'].map((homeserver) => ({ homeserver, user_id: '@bot:example.org', password: 'x' })),
};

for (const [name, all] of Object.entries(spellings)) {
  test(`two gateways do not receive with one credential of ${name}, however its server is written`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'hermes-credential-'));
    t.after(() => rm(folder, { recursive: true }));
    using _held = heldAs(folder, name, all[0] ?? {});
    for (const given of all) assert.throws(() => heldAs(folder, name, given), (error) => error instanceof PlatformError && error.code === 'conflict' && error.message.includes('/homes/first'), JSON.stringify(given));
  });
}

test('the same credential at another server is another one', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-credential-'));
  t.after(() => rm(folder, { recursive: true }));
  const at = (base_url: string): Disposable => heldAs(folder, 'telegram', { token: '4711:abcdefghijklmnopqrstuvwxyz', base_url });
  using _first = at('http://127.0.0.1:8081');
  using _second = at('http://127.0.0.1:8082');
});
