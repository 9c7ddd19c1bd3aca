import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { CommanderError } from 'commander';
import { systemClock } from '../lib/clock.ts';
import { SqliteStore } from '../store/engines/sqlite.ts';
import { claimLane, enqueueLane, turnLane } from '../store/lanes/lanes.ts';
import { bindSession, createSession } from '../store/sessions/sessions.ts';
import { appendMessage } from '../store/sessions/transcripts.ts';
import { Exit } from './environment.ts';
import { program } from './program.ts';

const dayMs = 86_400_000;

let home = '';
let gateway: SqliteStore;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'hermes-remove-'));
  gateway = new SqliteStore({ path: join(home, 'gateway.db'), clock: systemClock, checkIntegrity: false });
});
afterEach(async () => {
  await gateway.close();
  await rm(home, { recursive: true });
});

const hermes = async (...args: readonly string[]): Promise<string> => {
  let out = '';
  const write = (text: string): void => void (out += text);
  const failed = await program({ env: { HERMES_HOME: home }, version: 'test', write, writeError: write }).parseAsync(['node', 'hermes', 'sessions', ...args]).then(() => undefined, (error: unknown) => error);
  if (failed instanceof Exit) return `${out}exit ${failed.code}`;
  if (failed !== undefined) throw failed;
  return out;
};

const add = async (id: string, daysOld: number, account = 'telegram'): Promise<void> => {
  await gateway.write(async (tx) => {
    await createSession(tx, { id, agent: 'main', account, chatType: 'dm', userId: '7' });
    await bindSession(tx, { sessionKey: `key:${id}`, sessionId: id, target: { account, chatId: id, chatType: 'dm' } });
    await appendMessage(tx, { sessionId: id, turnId: null }, { role: 'user', content: `words of ${id}` });
    await tx.q.updateTable('sessions').set({ active_at: Date.now() - daysOld * dayMs }).where('id', '=', id).execute();
  });
  await mkdir(join(home, 'media', 'sessions', id), { recursive: true });
  await writeFile(join(home, 'media', 'sessions', id, 'a.png'), id);
};

const ids = async (): Promise<readonly string[]> => (await gateway.read((db) => db.q.selectFrom('sessions').select('id').orderBy('id').execute())).map(({ id }) => id);

test('one conversation is shown first, removed with its files and its words beside a gateway on --yes, and written down', async () => {
  await add('20260101_000000_aaaaaaaa', 0);
  await add('20260102_000000_bbbbbbbb', 0);
  assert.match(await hermes('delete', '20260101'), /1 messages\.\n[^]*Nothing is removed yet/);
  assert.equal((await ids()).length, 2);
  assert.match(await hermes('delete', '20260101', '--yes'), /is removed: 1 messages, 1 files/);
  assert.deepEqual(await ids(), ['20260102_000000_bbbbbbbb']);
  assert.ok(!existsSync(join(home, 'media', 'sessions', '20260101_000000_aaaaaaaa')) && existsSync(join(home, 'media', 'sessions', '20260102_000000_bbbbbbbb', 'a.png')));
  for (const name of ['gateway.db', 'gateway.db-wal']) assert.ok(!(await readFile(join(home, name))).includes('words of 20260101'));
  const noted = JSON.parse(await readFile(join(home, 'logs', 'audit.log'), 'utf8')) as Readonly<Record<string, unknown>>;
  assert.deepEqual([noted['act'], noted['subject']], ['sessions delete', '20260101_000000_aaaaaaaa: 1 messages, 1 files']);
});

test('one in which an answer is being written is refused, with what to do', async () => {
  await add('s1', 0);
  await gateway.write((tx) => enqueueLane(tx, { lane: turnLane('s1'), kind: 'turn' }));
  await gateway.write((tx) => claimLane(tx, { lane: turnLane('s1'), owner: 'n', leaseMs: 60_000 }));
  assert.match(await hermes('delete', 's1', '--yes'), /s1 was not removed: an answer is being written in it\. \/stop there ends what runs\.\nexit 1$/);
  assert.deepEqual(await ids(), ['s1']);
});

test('those in which nobody has spoken for long are named first and removed on --yes; one at work stays and is named', async () => {
  await add('new', 1);
  await add('old-a', 100);
  await add('old-b', 100, 'matrix');
  await add('old-busy', 100);
  await gateway.write((tx) => enqueueLane(tx, { lane: turnLane('old-busy'), kind: 'turn' }));
  const foreseen = JSON.parse(await hermes('prune', '--older-than', '90d', '--yes', '--dry-run', '--json')) as Readonly<Record<string, unknown>>;
  assert.deepEqual(foreseen, { removed: false, sessions: ['old-a', 'old-b'], messages: 2, left: [{ id: 'old-busy', why: 'messages wait in it to be answered' }] });
  assert.match(await hermes('prune', '--older-than', '90d'), /2 conversations in which nobody has spoken for 90 d, with 2 messages, would be removed\.\nold-busy stays: [^]*Nothing is removed yet/);
  assert.match(await hermes('prune', '--older-than', '90d', '--account', 'matrix', '--yes'), /1 conversations .* are removed/);
  assert.deepEqual(await ids(), ['new', 'old-a', 'old-busy']);
  assert.match(await hermes('prune', '--older-than', '20w'), /There is no conversation in which nobody has spoken for 140 d/);
  assert.match(await readFile(join(home, 'logs', 'audit.log'), 'utf8'), /"sessions prune","subject":"older than 90 d: 1 conversations, 1 messages"/);
  await assert.rejects(hermes('prune', '--older-than', 'soon'), (error) => error instanceof CommanderError);
});
