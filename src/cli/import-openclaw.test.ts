import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError } from '../core/errors.ts';
import { printOf } from '../portability/folder-print.test-support.ts';
import { writeOpenclawHome } from '../portability/openclaw/openclaw-home.test-support.ts';
import { importScene, whatOf } from './import.test-support.ts';

const scene = importScene('openclaw');
const { hermes, importNow, textOf } = scene;

interface Listed {
  readonly id: string;
  readonly agent: string;
  readonly account: string;
  readonly userId: string | null;
  readonly messageCount: number;
  readonly endReason: string | null;
}

const sessions = async (): Promise<readonly string[]> =>
  (JSON.parse(await hermes('sessions', 'list', '--json')) as readonly Listed[]).map(({ id, agent, account, userId, messageCount, endReason }) => [id.slice(-8), agent, account, userId, messageCount, endReason ?? 'open'].join(' ')).toSorted();

const everyConversation = ['11111111 main telegram 7 1 new', '22222222 main telegram  1 open', '33333333 work discord 99 1 open', 'cd7fe3ee main telegram 7 4 open'];

for (const generation of ['files', 'first databases', 'databases'] as const)
  test(`the main things of an OpenClaw that keeps them in ${generation} are taken over once, and it is not changed`, async () => {
    using _home = await writeOpenclawHome(scene.source, generation);
    const before = await printOf(scene.source);
    const dry = await importNow('--dry-run');
    assert.ok(!existsSync(scene.home));
    const lines = await importNow();
    assert.deepEqual(lines, dry);
    assert.equal(await printOf(scene.source), before);

    const config = await textOf('config.yaml');
    assert.match(config, /model:\n {2}default: claude-opus-4-6\n {2}provider: anthropic/);
    assert.match(config, /agents:\n {2}work:\n {4}description: At work/);
    assert.match(config, /allowed_users:\n {6}- "7"\n {4}require_mention: true\n {4}free_response_chats:\n {6}- "-100"/);
    assert.match(await textOf('.env'), /TELEGRAM_BOT_TOKEN=123456:[^]*ANTHROPIC_API_KEY=sk-ant-of-the-claw/);
    assert.doesNotMatch(await textOf('.env'), /OPENCLAW/);

    assert.equal(await textOf('memories/MEMORY.md'), 'likes tea\n§\nlives in Berlin\n§\nWorks at night.\n');
    assert.equal(await textOf('memories/USER.md'), 'is called Sam\n');
    assert.equal(await textOf('profiles/work/SOUL.md'), 'be brief');
    for (const path of ['SOUL.md', 'workspace/AGENTS.md', 'workspace/IDENTITY.md', 'workspace/TOOLS.md', 'workspace/memory/2026-03-24.md', 'skills/invoices/SKILL.md', 'skills/shared/SKILL.md']) assert.ok(existsSync(join(scene.home, path)), path);
    assert.ok(!existsSync(join(scene.home, 'workspace', 'HEARTBEAT.md')) && !existsSync(join(scene.home, 'hooks')));

    assert.deepEqual(await sessions(), everyConversation);
    assert.deepEqual(whatOf(lines, 'sessions', 'taken'), ['conversations: 4, with messages: 7; going on where they were: 2; /resume goes on with the others']);
    assert.match(await hermes('sessions', 'show', '20260325_030000_cd7fe3ee'), /what time is it\?[^]*exec[^]*noon[^]*It is noon\./);
    assert.deepEqual(whatOf(lines, 'people', 'taken'), ['8 on telegram', '9 on telegram@work']);
    assert.match(await hermes('pairing', 'list'), /telegram +8/);

    const jobs = JSON.parse(await hermes('cron', 'list', '--json')) as readonly { readonly name: string; readonly state: string; readonly timezone: string; readonly deliver: string }[];
    assert.deepEqual(jobs.map(({ name, state, deliver }) => [name, state, deliver]).toSorted(), [['Morning', 'paused', 'telegram:7'], ['Often', 'paused', 'local']]);
    assert.equal(jobs.find(({ name }) => name === 'Morning')?.timezone, 'Europe/Berlin');
    assert.match(lines.find(({ what }) => what.startsWith('Morning'))?.why ?? '', /hermes cron resume [0-9a-f]{12}/);
    assert.deepEqual(whatOf(lines, 'cron', 'left'), ['Past']);

    const again = await importNow();
    assert.deepEqual(again.filter(({ fate }) => fate === 'taken' || fate === 'changed'), []);
    assert.deepEqual(await sessions(), everyConversation);
  });

test('a conversation that is in a database and in files too is taken once', async () => {
  using _files = await writeOpenclawHome(scene.source, 'files');
  using _databases = await writeOpenclawHome(scene.source, 'databases');
  const lines = await importNow();
  assert.deepEqual(await sessions(), everyConversation);
  assert.deepEqual(whatOf(lines, 'sessions', 'known'), []);
  assert.equal(whatOf(lines, 'people', 'taken').length, 2);
  assert.deepEqual(whatOf(lines, 'people', 'known'), []);
  assert.equal(whatOf(lines, 'cron', 'changed').length, 2);
});

test('a database that cannot be read is named and holds up nothing else', async () => {
  {
    using _home = await writeOpenclawHome(scene.source, 'databases');
  }
  await writeFile(join(scene.source, 'agents', 'main', 'agent', 'openclaw-agent.sqlite'), 'no database at all, but long enough to be looked at by somebody who opens it');
  await writeFile(join(scene.source, 'state', 'openclaw.sqlite'), 'nor is this one a database, whatever its name says about it');
  const lines = await importNow();
  assert.deepEqual(await sessions(), ['33333333 work discord 99 1 open']);
  assert.deepEqual(whatOf(lines, 'sessions', 'left'), ['agents/main/agent/openclaw-agent.sqlite']);
  assert.ok(lines.some(({ fate, what }) => fate === 'left' && what.startsWith('state/openclaw.sqlite')));
});

test('a transcript that cannot be unpacked is named and holds up nothing else', async () => {
  using _home = await writeOpenclawHome(scene.source, 'files');
  await writeFile(join(scene.source, 'agents', 'main', 'sessions', '77777777-15d2-4b81-83cc-3e4d2da6db07.jsonl.reset.2026-03-25T04-00-00.000Z.zst'), 'not packed at all');
  const lines = await importNow();
  assert.deepEqual(await sessions(), everyConversation);
  assert.ok(lines.some(({ fate, what }) => fate === 'left' && what === 'conversation 77777777-15d2-4b81-83cc-3e4d2da6db07'));
});

test('what is set and present here stays', async () => {
  using _home = await writeOpenclawHome(scene.source, 'files');
  await mkdir(join(scene.home, 'workspace'), { recursive: true });
  await writeFile(join(scene.home, 'config.yaml'), '# mine\nmodel:\n  provider: demo\n');
  await writeFile(join(scene.home, 'workspace', 'AGENTS.md'), 'mine');
  const lines = await importNow();
  assert.match(await textOf('config.yaml'), /^# mine\nmodel:\n {2}provider: demo\n/);
  assert.equal(await textOf('workspace/AGENTS.md'), 'mine');
  assert.deepEqual(lines.find(({ what }) => what === 'workspace/AGENTS.md')?.fate, 'left');
});

test('a folder that is no OpenClaw is refused', async () => {
  await mkdir(scene.source);
  await assert.rejects(importNow(), (error) => error instanceof ConfigError && /is not a folder of OpenClaw/.test(error.message));
});
