import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { samplePlatforms, sampleSections, temporaryHome } from '../sample-config.ts';
import type { TemporaryHome } from '../sample-config.ts';
import { keepLastGood, startableConfig } from './last-good.ts';

const options = (home: TemporaryHome) => ({ home: home.path, env: {}, sections: sampleSections, platforms: samplePlatforms });

test('a configuration that broke is replaced by the last one that was kept, with its secrets', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', 'model: { provider: openai }\nplatforms: { telegram: { allowed_users: [7] } }\n');
  await home.write('.env', 'MODEL_API_KEY=a-long-enough-key\nTELEGRAM_BOT_TOKEN=123456:ABC\n');
  await keepLastGood(options(home));
  await home.write('config.yaml', 'model: { provider: openai\n');
  const found = await startableConfig(options(home));
  assert.ok(found.type === 'last_good');
  assert.equal(found.config.sections.model.provider, 'openai');
  assert.equal(found.config.sections.model.api_key, 'a-long-enough-key');
  assert.ok(found.config.accounts.some(({ account }) => account === 'telegram'));
  assert.ok(found.problems.length > 0 && found.problems[0]?.file === 'config.yaml');
  assert.equal((await stat(join(home.path, 'backups', 'last-good', '.env'))).mode & 0o777, 0o600);
});

test('what a gateway cannot run with is never kept', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', 'model: { provider: demo }\n');
  await keepLastGood(options(home));
  await home.write('config.yaml', 'modle: { provider: demo }\n');
  await keepLastGood(options(home));
  assert.equal(await readFile(join(home.path, 'backups', 'last-good', 'config.yaml'), 'utf8'), 'model: { provider: demo }\n');
});

test('without an earlier one there is none, and a file that works is taken as it is', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', 'model: [\n');
  assert.equal((await startableConfig(options(home))).type, 'none');
  await home.write('config.yaml', 'model: { provider: demo }\n');
  assert.equal((await startableConfig(options(home))).type, 'current');
});

test('variables that are gone from .env are not kept alive', async () => {
  await using home = await temporaryHome();
  await home.write('.env', 'MODEL_API_KEY=a-long-enough-key\n');
  await keepLastGood(options(home));
  await rm(join(home.path, '.env'));
  await keepLastGood(options(home));
  assert.ok(!existsSync(join(home.path, 'backups', 'last-good', '.env')));
});
