import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { readActs } from '../lib/audit-log.ts';
import { noteAct } from './note-act.ts';
import { program } from './program.ts';

let home = '';
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'hermes-acts-'));
});
afterEach(() => rm(home, { recursive: true }));

const hermes = async (...args: readonly string[]): Promise<string> => {
  let out = '';
  const write = (text: string): void => void (out += text);
  await program({ env: { HERMES_HOME: home, HOME: home, XDG_STATE_HOME: home }, version: '1.2.3', write, writeError: write }).parseAsync(['node', 'hermes', ...args]);
  return out;
};
const acts = (): readonly string[] => readActs(home).map(({ act, subject }) => (subject === undefined ? act : `${act}: ${subject.replaceAll(/\b[0-9a-f]{8,}\b/g, 'ID')}`));

test('jobs that are made, changed and removed at the command line are written down', async () => {
  await hermes('cron', 'add', 'every 2h', 'Look for mail', '--name', 'mail');
  await hermes('cron', 'list');
  await hermes('cron', 'edit', 'mail', '--schedule', 'every 3h');
  await hermes('cron', 'pause', 'mail');
  await hermes('cron', 'resume', 'mail');
  await hermes('cron', 'remove', 'mail');
  assert.deepEqual(acts(), ['add', 'edit', 'pause', 'resume', 'remove'].map((verb) => `cron ${verb}: mail (ID)`));
});

test('what leaves the gateway is written down; what did nothing is not', async () => {
  await hermes('export', '--to', join(home, 'all.jsonl'));
  await hermes('config', 'migrate');
  await assert.rejects(hermes('erase', '--person', 'telegram:99', '--yes'), { code: 1 });
  await hermes('gateway', 'install', '--print').catch((error: unknown) => assert.match(String(error), /systemd and launchd/));
  await hermes('gateway', 'stop');
  assert.deepEqual(acts(), [`export: all conversations to ${join(home, 'all.jsonl')}`]);
});

test('a configuration that is migrated is written down with what has moved', async () => {
  await writeFile(join(home, 'config.yaml'), 'stt_echo_transcripts: true\n', { mode: 0o600 });
  await hermes('config', 'migrate', '--dry-run');
  assert.deepEqual(acts(), []);
  await hermes('config', 'migrate');
  assert.equal(acts().length, 1);
  assert.match(acts()[0] ?? '', /^config migrate: stt_echo_transcripts -> /);
});

test('what doctor mends is written down', { skip: process.platform === 'win32' && 'modes are those of Unix' }, async () => {
  await writeFile(join(home, '.env'), 'OPENAI_API_KEY=sk-1\n', { mode: 0o644 });
  await hermes('doctor', '--offline', '--security', '--fix').catch(() => undefined);
  assert.ok(acts().some((act) => act.startsWith('doctor fix: ')), acts().join());
});

test('a command that matters is refused while it cannot be written down, and doctor says so', async () => {
  await hermes('config', 'set', 'agent.max_turns', '7');
  await rm(join(home, 'logs', 'audit.log'));
  await mkdir(join(home, 'logs', 'audit.log'));
  await assert.rejects(hermes('config', 'set', 'agent.max_turns', '8'), /^ConfigError: Nothing was changed, for it could not be written to .*audit\.log \(EISDIR\)/);
  assert.match(await readFile(join(home, 'config.yaml'), 'utf8'), /max_turns: 7/);
  let said = '';
  await program({ env: { HERMES_HOME: home, HOME: home }, version: '1.2.3', write: (text) => void (said += text), writeError: () => undefined }).parseAsync(['node', 'hermes', 'doctor', '--offline', '--security']).catch(() => undefined);
  assert.match(said, /logs\/audit\.log cannot be written \(EISDIR\)/);
});

test('an act that cannot be written down is done all the same', async () => {
  await mkdir(join(home, 'logs', 'audit.log'), { recursive: true });
  assert.doesNotThrow(() => noteAct(home, 'gateway stop'));
});
