import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../lib/clock.ts';
import { SqliteStore } from '../store/engines/sqlite.ts';
import { program } from './program.ts';

test('nothing of a job or of its result can command the terminal that it is shown on', async () => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-cron-cli-'));
  const hermes = async (...args: readonly string[]): Promise<string> => {
    let out = '';
    const write = (text: string): void => void (out += text);
    await program({ env: { HERMES_HOME: home }, version: 'test', write, writeError: write }).parseAsync(['node', 'hermes', 'cron', ...args]);
    return out;
  };
  const escape = '\u{1b}]0;mine\u{7}\u{1b}[2J';
  try {
    await writeFile(join(home, 'config.yaml'), 'model: m\n');
    let shown = await hermes('add', 'every 2h', `Look for mail${escape}`, '--name', `mail${escape}`);
    const store = new SqliteStore({ path: join(home, 'gateway.db'), clock: systemClock, checkIntegrity: false });
    const { id } = await store.read((db) => db.q.selectFrom('cron_jobs').select('id').executeTakeFirstOrThrow());
    shown += await hermes('run', id);
    await store.write((tx) => tx.q.updateTable('cron_runs').set({ output: `nothing new${escape}` }).execute());
    await store.close();
    shown += await hermes('show', id);
    shown += await hermes('runs', '--output');
    assert.match(shown, /Look for mail\n[^]*nothing new\n[^]*nothing new\n/);
    assert.ok(!shown.includes('\u{1b}') && !shown.includes('\u{7}'), JSON.stringify(shown));
  } finally {
    await rm(home, { recursive: true });
  }
});
