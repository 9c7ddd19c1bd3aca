import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError } from '../core/errors.ts';
import { printOf } from '../portability/folder-print.test-support.ts';
import { writeOriginalHome } from '../portability/original/original-home.test-support.ts';
import { importScene, whatOf } from './import.test-support.ts';

const scene = importScene('hermes');
const { hermes, importNow, textOf } = scene;

test('a home of the original is taken over with everything in it, is not changed, and nothing is taken twice', async () => {
  using _home = await writeOriginalHome(scene.source);
  const before = await printOf(scene.source);
  const lines = await importNow();
  assert.equal(await printOf(scene.source), before, 'the original is as it was');

  const config = await textOf('config.yaml');
  assert.match(config, /default: gpt-5/);
  assert.match(config, /busy_input_mode: queue/);
  assert.match(config, /cron:\n {2}timezone: Europe\/Berlin/);
  assert.match(config, /command: uvx/);
  assert.doesNotMatch(config, /ABCDEFGH|kanban|skin/);
  assert.match(await textOf('.env'), /TELEGRAM_BOT_TOKEN=123456:ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/);
  assert.match(await textOf('.env'), /OPENAI_API_KEY=sk-of-the-original-0123456789/);
  assert.match(await textOf('.env'), /OPENROUTER_API_KEY=sk-or-by-hand/);
  assert.deepEqual(lines.filter(({ what }) => what.startsWith('login')).map(({ what }) => what), ['login nous', 'login anthropic me']);
  assert.deepEqual(lines.find(({ what }) => what === 'cron.timezone'), { area: 'config', what: 'cron.timezone', fate: 'changed', why: 'it was timezone' });
  assert.equal(lines.find(({ what }) => what === 'display.skin')?.why, 'unknown key');
  assert.deepEqual(lines.find(({ what }) => what === 'kanban'), { area: 'config', what: 'kanban', fate: 'left', why: 'this gateway does not use it' });
  assert.match(await hermes('config', 'check'), /The configuration is fine/);

  assert.equal(whatOf(lines, 'sessions', 'taken').length, 1);
  assert.deepEqual(whatOf(lines, 'people', 'taken'), ['Ann (9) on telegram', 'd1 (d1) on discord']);
  assert.match(await hermes('pairing', 'list'), /telegram +9 +Ann/);

  assert.equal(await textOf('memories/MEMORY.md'), 'likes tea\n§\nlives in Berlin\n');
  assert.equal(await textOf('memories/USER.md'), 'is called Sam\n');
  assert.equal((await stat(join(scene.home, 'memories', 'USER.md'))).mode & 0o777, 0o600, 'whatever it was there');
  for (const path of ['SOUL.md', 'skills/work/invoices/SKILL.md', 'skills/work/invoices/template.txt', 'hooks/greet/handler.py', 'scripts/check.py']) assert.equal(await textOf(path), await readFile(join(scene.source, path), 'utf8'));
  assert.ok(!existsSync(join(scene.home, 'kanban.db')) && !existsSync(join(scene.home, 'profiles')));
  assert.deepEqual(lines.filter(({ what }) => what === 'mcp-tokens' || what === 'plugins').map(({ fate }) => fate), ['left', 'left']);
  assert.ok(lines.some(({ fate, what, why }) => fate === 'left' && what === 'profiles/helper' && /--agent helper/.test(why ?? '')));

  assert.deepEqual(whatOf(lines, 'cron', 'taken'), ['Morning (aaaaaaaaaaaa)', 'Often (bbbbbbbbbbbb), paused']);
  assert.deepEqual(lines.filter(({ area, fate }) => area === 'cron' && fate === 'left').map(({ what, why }) => [what.split(' ')[0], (why ?? '').slice(0, 22)]), [['Past', 'its time has passed'], ['Nowhere', 'That cannot be deliver'], ['Done', 'it has had all its run'], ['Tools', 'There is no toolset "b']]);
  const jobs = JSON.parse(await hermes('cron', 'list', '--json')) as readonly { readonly id: string; readonly schedule: string }[];
  assert.deepEqual(jobs.map(({ id }) => id).toSorted(), ['aaaaaaaaaaaa', 'bbbbbbbbbbbb', 'ffffffffffff']);
  const bound = lines.find(({ what }) => what.startsWith('Bound'));
  assert.deepEqual([bound?.fate, bound?.what], ['changed', 'Bound (ffffffffffff), paused']);
  assert.match(bound?.why ?? '', /^it waits for a folder: The folder \/srv is outside .*files\.roots`\. Then: hermes cron edit ffffffffffff --workdir FOLDER, and hermes cron resume ffffffffffff$/);
  assert.match(await hermes('cron', 'show', 'ffffffffffff'), /web/);

  const again = await importNow();
  assert.deepEqual(again.filter(({ fate }) => fate === 'taken' || fate === 'changed'), []);
  assert.equal((await textOf('memories/MEMORY.md')).split('§').length, 2);
});

test('a job that worked in a folder works there again', async () => {
  using _home = await writeOriginalHome(scene.source);
  const site = join(scene.home, 'workspace', 'site');
  await mkdir(site, { recursive: true });
  const path = join(scene.source, 'cron', 'jobs.json');
  await writeFile(path, (await readFile(path, 'utf8')).replace('/srv', site));
  assert.ok(whatOf(await importNow(), 'cron', 'taken').includes('Bound (ffffffffffff)'));
  assert.match(await hermes('cron', 'show', 'ffffffffffff'), new RegExp(`Works in +${site}\\n`));
});

test('a dry run says the same and leaves no trace', async () => {
  using _home = await writeOriginalHome(scene.source);
  const dry = await importNow('--dry-run');
  assert.ok(!existsSync(scene.home));
  assert.deepEqual(await importNow(), dry);
});

test('what is set here stays', async () => {
  using _home = await writeOriginalHome(scene.source);
  await mkdir(join(scene.home, 'skills', 'work', 'invoices'), { recursive: true });
  await writeFile(join(scene.home, 'config.yaml'), '# mine\ndisplay:\n  busy_input_mode: steer\n');
  await writeFile(join(scene.home, 'skills', 'work', 'invoices', 'SKILL.md'), 'mine');
  await writeFile(join(scene.home, 'SOUL.md'), 'mine');
  const lines = await importNow();
  assert.match(await textOf('config.yaml'), /^# mine\ndisplay:\n {2}busy_input_mode: steer\n/);
  assert.equal(await textOf('SOUL.md'), 'mine');
  assert.equal(await textOf('skills/work/invoices/SKILL.md'), 'mine');
  assert.deepEqual(whatOf(lines, 'skills', 'left'), ['work/invoices']);
  assert.deepEqual(lines.find(({ what }) => what === 'display.busy_input_mode')?.why, 'it has another value here');
});

test('a profile of the original becomes an agent', async () => {
  using _home = await writeOriginalHome(scene.source);
  await assert.rejects(importNow('--agent', 'helper'), (error) => error instanceof ConfigError && /hermes agent add helper/.test(error.message));
  await writeFile(join(scene.home, 'config.yaml'), 'agents:\n  helper: {}\n');
  await importNow('--agent', 'helper');
  assert.equal(await textOf('config.yaml'), 'agents:\n  helper: {}\n', 'settings of a profile are for its owner to choose');
  assert.equal(await textOf('profiles/helper/SOUL.md'), 'You are kind.');
  assert.match(await textOf('profiles/helper/memories/MEMORY.md'), /likes tea/);
  assert.ok(!existsSync(join(scene.home, 'SOUL.md')));
  const sessions = JSON.parse(await hermes('sessions', 'list', '--json')) as readonly { readonly agent: string }[];
  assert.deepEqual([...new Set(sessions.map(({ agent }) => agent))], ['helper']);
  const jobs = JSON.parse(await hermes('cron', 'list', '--json')) as readonly { readonly agent: string }[];
  assert.deepEqual([...new Set(jobs.map(({ agent }) => agent))], ['helper']);
});

test('memories that have no room are left and named', async () => {
  using _home = await writeOriginalHome(scene.source);
  await writeFile(join(scene.source, 'memories', 'MEMORY.md'), ['a'.repeat(1500), 'b'.repeat(1500), 'short'].join('\n§\n'));
  const lines = await importNow();
  assert.match(lines.find(({ area, fate }) => area === 'memories' && fate === 'left')?.why ?? '', /no room left/);
  assert.match(await textOf('memories/MEMORY.md'), /^a+\n§\nshort\n$/);
});

test('links are not followed but named, and one that leads nowhere keeps nothing else from being taken', async () => {
  using _home = await writeOriginalHome(scene.source);
  await rm(join(scene.source, 'SOUL.md'));
  await rm(join(scene.source, 'memories', 'USER.md'));
  for (const path of ['SOUL.md', 'memories/USER.md', 'skills/linked', 'skills/work/invoices/secret', 'hooks/linked']) await symlink('/nowhere', join(scene.source, path));
  const lines = await importNow();
  const left = lines.filter(({ fate, why }) => fate === 'left' && /link/.test(why ?? '')).map(({ area, what }) => `${area}: ${what}`);
  assert.deepEqual(left.toSorted(), ['files: SOUL.md', 'hooks: linked', 'memories: memories/USER.md', 'skills: linked, work/invoices/secret']);
  assert.deepEqual(whatOf(lines, 'skills', 'taken'), ['work/invoices']);
});

test('a folder that is no home of the original is refused', async () => {
  await mkdir(scene.source);
  await assert.rejects(importNow(), (error) => error instanceof ConfigError && /is not a home of the original/.test(error.message));
});
