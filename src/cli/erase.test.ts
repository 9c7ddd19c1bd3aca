import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { CommanderError } from 'commander';
import { memoryFileFor } from '../agent/memory/places.ts';
import { memorySection } from '../agent/memory/options.ts';
import { ConfigError } from '../core/errors.ts';
import { systemClock } from '../lib/clock.ts';
import { readTar } from '../lib/tar.ts';
import { enqueueDelivery } from '../store/messages/outbox.ts';
import { fillWithPeople, other, planted } from '../store/person/person.test-support.ts';
import { SqliteStore } from '../store/engines/sqlite.ts';
import { createSession } from '../store/sessions/sessions.ts';
import { appendMessage } from '../store/sessions/transcripts.ts';
import { Exit } from './environment.ts';
import { program } from './program.ts';

let folder = '';
let home = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hermes-erase-cli-'));
  home = join(folder, 'home');
  await mkdir(home);
});
afterEach(() => rm(folder, { recursive: true }));

const hermes = async (...args: readonly string[]): Promise<string> => {
  let out = '';
  const write = (text: string): void => void (out += text);
  await program({ env: { HERMES_HOME: home }, version: 'test', write, writeError: write }).parseAsync(['node', 'hermes', ...args]);
  return out;
};

const put = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
};

const profileOf = (person: { readonly account: string; readonly userId: string }): string => memoryFileFor({ home, options: { ...memorySection.schema.parse({}), user_profile_per_person: true } }, 'user', person)?.path ?? '';

const fill = async (): Promise<void> => {
  const store = new SqliteStore({ path: join(home, 'gateway.db'), clock: systemClock, checkIntegrity: false });
  await fillWithPeople(store);
  const hash = createHash('sha256').update('planted voice').digest('hex');
  // Of a recording that is not kept any more.
  await store.write((tx) => tx.q.insertInto('media_notes').values({ key: 'transcript:0:m:', text: 'planted long ago', model: 'm', created_at: 1, used_at: 1 }).execute());
  await store.write(async (tx) => {
    const target = { account: 'telegram', chatId: 'planted-chat', chatType: 'dm' } as const;
    const file = (path: string) => ({ kind: 'document', path, mime: 'text/markdown', name: 'answer.md' }) as const;
    await enqueueDelivery(tx, { message: { key: 'long', target, text: 'see the file', media: [file(join(home, 'media', 'outgoing', '2026-01', 'file_1.md'))] } }, {});
    // Before the home was moved.
    await enqueueDelivery(tx, { message: { key: 'spoken', target, text: '' }, closing: { media: [file('/old/home/media/spoken/1-a.ogg')] } }, {});
    await appendMessage(tx, { sessionId: 'dm_planted', turnId: null }, { role: 'user', content: 'a file', attachments: [{ kind: 'document', mime: 'text/plain', name: 'x', path: join('acp', 'planted.txt') }, { kind: 'document', mime: 'text/plain', name: 'x', path: '../SOUL.md' }] });
    await tx.q.insertInto('journal').values({ account: 'telegram', stream: 'planted-chat', key: 'file', entry: '{"files":[{"id":"file_0123456789"}]}', created_at: 1 }).execute();
  });
  await store.write((tx) => tx.q.insertInto('media_notes').values({ key: `transcript:${hash}:m:`, text: 'planted words', model: 'm', created_at: 1, used_at: 1 }).execute());
  await store.close();
  await put(join(home, 'media', 'sessions', 'dm_planted', 'a.ogg'), 'planted voice');
  await put(join(home, 'media', 'sessions', 'shared', 'planted.png'), 'planted picture');
  await put(join(home, 'media', 'sessions', 'shared', 'other.png'), 'other picture');
  await put(join(home, 'media', 'outgoing', '2026-01', 'file_1.md'), 'a long answer to planted');
  await put(join(home, 'media', 'outgoing', '2026-01', 'file_2.md'), 'a long answer to other');
  await put(join(home, 'media', 'spoken', '1-a.ogg'), 'said to planted');
  await put(join(home, 'media', 'acp', 'planted.txt'), 'planted file');
  await put(join(home, 'media', 'telegram', 'file_0123456789.bin'), 'planted upload');
  await put(join(home, 'media', 'telegram', 'file_9876543210.bin'), 'other upload');
  await put(join(home, 'SOUL.md'), 'soul');
  await put(join(home, 'cache', 'results', 'dm_planted', 'r.txt'), 'planted result');
  await put(profileOf(planted), 'planted likes tea');
  await put(`${profileOf(planted)}.bak.000000000000001`, 'planted likes coffee');
  await put(profileOf(other), 'other likes tea');
  await put(join(home, 'memories', 'MEMORY.md'), 'general');
  await put(join(home, 'config.yaml'), 'access:\n  allowed_users: [planted-7]\n');
};

const person = ['--person', 'telegram:planted-7'] as const;

/** Every file below the home in which a word stands. */
const filesWith = async (word: string): Promise<readonly string[]> => {
  const entries = (await readdir(home, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const found = await Promise.all(entries.map(async (entry) => ((await readFile(join(entry.parentPath, entry.name))).includes(word) || entry.name.includes(word) ? [entry.name] : [])));
  return found.flat().toSorted();
};

test('erasing says first what would go and what is beyond reach, and does nothing', async () => {
  await fill();
  const told = await hermes('erase', ...person);
  assert.match(told, /2 {2}conversations/);
  assert.match(told, /3 {2}messages in shared conversations/);
  assert.match(told, /4 {2}files they sent\n +2 {2}files made for them/);
  assert.match(told, /memories\/MEMORY\.md: notes about everybody/);
  assert.match(told, /take it out of allowed_users/);
  assert.match(told, /Nothing is erased yet/);
  assert.ok((await filesWith('planted')).length > 5);
});

test('what is erased is gone from the database and from every file but the configuration', async () => {
  await fill();
  const told = JSON.parse(await hermes('erase', ...person, '--yes', '--json')) as { readonly erased: boolean; readonly rows: Readonly<Record<string, number>> };
  assert.equal(told.erased, true);
  assert.deepEqual([told.rows['files they sent'], told.rows['files made for them']], [4, 2]);
  assert.deepEqual(await filesWith('planted'), ['config.yaml']);
  const noted = JSON.parse(await readFile(join(home, 'logs', 'audit.log'), 'utf8')) as Readonly<Record<string, unknown>>;
  assert.equal(noted['act'], 'erase');
  assert.match(String(noted['subject']), new RegExp(`^person ${createHash('sha256').update(JSON.stringify(['telegram', 'planted-7'])).digest('hex').slice(0, 16)}: 2 conversations, `));
  assert.ok(existsSync(profileOf(other)) && existsSync(join(home, 'media', 'sessions', 'shared', 'other.png')) && existsSync(join(home, 'SOUL.md')));
  assert.deepEqual([await readdir(join(home, 'media', 'outgoing', '2026-01')), await readdir(join(home, 'media', 'telegram'))], [['file_2.md'], ['file_9876543210.bin']]);
  assert.match(await refused('erase', ...person), /^Nothing is kept of telegram:planted-7\. /);
});

test('everything of a person can be exported to a folder and to one file', async () => {
  await fill();
  const to = join(folder, 'out');
  assert.match(await hermes('export', ...person, '--to', to), /Conversations: 2, messages in shared ones: 3, files: 6, profiles: 2/);
  assert.match(await readFile(join(to, 'conversations', 'dm_planted.md'), 'utf8'), /^# planted title[^]*### user[^]*planted words/);
  assert.equal((await readFile(join(to, 'conversations', 'dm_planted.jsonl'), 'utf8')).trim().split('\n').length, 3);
  const facts = JSON.parse(await readFile(join(to, 'person.json'), 'utf8')) as Readonly<Record<string, readonly unknown[]>>;
  assert.deepEqual(['pairings', 'denials', 'questions', 'jobs', 'channels', 'memoryProposals'].map((name) => facts[name]?.length), [1, 1, 2, 2, 1, 1]);
  assert.doesNotMatch(JSON.stringify(facts), /"hash"|"salt"/);
  assert.equal((await readFile(join(to, 'received.jsonl'), 'utf8')).trim().split('\n').length, 3);
  assert.match(await readFile(join(to, 'shown.jsonl'), 'utf8'), /planted/);
  assert.match(await readFile(join(to, 'delivered.jsonl'), 'utf8'), /"text":"see the file"/);
  assert.doesNotMatch(await readFile(join(to, 'said-in-shared-conversations.jsonl'), 'utf8'), /other/);
  assert.equal(await readFile(join(to, 'files', 'media', 'sessions', 'shared', 'planted.png'), 'utf8'), 'planted picture');
  await assert.rejects(hermes('export', ...person, '--to', to), (error) => error instanceof ConfigError && /not an empty folder/.test(error.message));
  const archive = join(folder, 'out.tar.gz');
  await hermes('export', ...person, '--to', archive);
  const names: string[] = [];
  for await (const entry of readTar((async function* () { yield gunzipSync(await readFile(archive)); })())) names.push(entry.name);
  assert.ok(names.includes('person.json') && names.includes('conversations/dm_planted.md'));
});

test('conversations are exported to a folder, a file or standard output, all of them or those of an agent', async () => {
  await fill();
  assert.match(await hermes('export', '--to', join(folder, 'all')), /Conversations: 5/);
  assert.equal((await readdir(join(folder, 'all'))).filter((name) => name.endsWith('.md')).length, 5);
  assert.equal((await readFile(join(folder, 'all', 'sessions.jsonl'), 'utf8')).trim().split('\n').length, 5);
  await hermes('export', '--account', 'telegram', '--to', join(folder, 'some.jsonl'));
  const lines = (await readFile(join(folder, 'some.jsonl'), 'utf8')).trim().split('\n').map((line) => JSON.parse(line) as { readonly session?: { readonly id: string } });
  assert.deepEqual(lines.flatMap(({ session }) => session?.id ?? []), ['dm_other', 'dm_planted', 'shared']);
  assert.equal((JSON.parse(await hermes('export', '--format', 'json')) as unknown[]).length, 5);
});

test('conversations whose ids look alike as names of files are all exported', async () => {
  const ids = ['a.b', 'a:b', 'A_B', 'sessions'];
  const store = new SqliteStore({ path: join(home, 'gateway.db'), clock: systemClock, checkIntegrity: false });
  await store.write(async (tx) => {
    for (const id of ids) {
      await createSession(tx, { id, agent: 'main', account: 'telegram', chatType: 'dm' });
      await appendMessage(tx, { sessionId: id, turnId: null }, { role: 'user', content: `in ${id}` });
    }
  });
  await store.close();
  await hermes('export', '--format', 'jsonl', '--to', join(folder, 'all'));
  const texts = await Promise.all((await readdir(join(folder, 'all'))).map((name) => readFile(join(folder, 'all', name), 'utf8')));
  for (const id of ids) assert.equal(texts.filter((text) => text.includes(`"in ${id}"`)).length, 1, id);
});

test('an export that replaces a file is for its owner alone, whatever the file was', async () => {
  await fill();
  const to = join(folder, 'x.jsonl');
  await writeFile(to, 'old', { mode: 0o644 });
  await hermes('export', '--to', to, '--force');
  assert.equal((await stat(to)).mode & 0o777, 0o600);
  assert.deepEqual((await readdir(folder)).toSorted(), ['home', 'x.jsonl']);
});

/** What was said, and the code that a command has left with. */
const refused = async (...args: readonly string[]): Promise<string> => {
  let out = '';
  const write = (text: string): void => void (out += text);
  const failed = await program({ env: { HERMES_HOME: home }, version: 'test', write, writeError: write }).parseAsync(['node', 'hermes', ...args]).then(() => undefined, (error: unknown) => error);
  if (failed instanceof Exit) return `${out}exit ${failed.code}`;
  if (failed instanceof ConfigError) return `${failed.message}\nexit ${failed.exitCode}`;
  throw failed ?? new Error(`not refused: ${out}`);
};

test('nothing is written of somebody, an agent or an account of whom nothing is kept; a name that is not known is said to be so', async () => {
  await fill();
  const to = join(folder, 'out.tar.gz');
  const accounts = /Accounts: .*local/.source;
  assert.equal(await refused('export', '--person', 'local:99999', '--to', to), 'Nothing is kept of local:99999, so nothing was written.\nexit 1');
  assert.match(await refused('export', '--person', 'matrix:1', '--to', to), new RegExp(`^Nothing is kept of matrix:1, so nothing was written\\. There is no account matrix\\. ${accounts}`));
  assert.match(await refused('export', '--agent', 'nosuch'), /^There is no agent nosuch, and no conversation of one\. Agents: main\.\nexit 1$/);
  assert.match(await refused('export', '--account', 'matrix', '--to', to), new RegExp(`^There are no conversations of matrix\\. There is no account matrix\\. ${accounts}.*\nexit 1$`));
  assert.equal(existsSync(to), false);
  assert.equal(await refused('erase', '--person', 'local:99999', '--yes'), 'Nothing is kept of local:99999, so nothing was erased.\nexit 1');
  assert.match(await refused('erase', '--person', 'matrix:1'), new RegExp(`^Nothing is kept of matrix:1\\. There is no account matrix\\. ${accounts}.*\nexit 1$`));
  assert.match(await refused('erase', '--person', 'local:99999', '--yes', '--json'), /^\{[^]*"rows": \{\},[^]*\}\nNothing is kept of local:99999, so nothing was erased\.\nexit 1$/);
});

test('a file that is there is replaced only when that was said, - is standard output, and --json says what was written', async () => {
  await fill();
  const [file, archive] = [join(folder, 'all.jsonl'), join(folder, 'p.tar.gz')];
  for (const path of [file, archive]) await writeFile(path, 'mine');
  assert.match(await refused('export', '--to', file), /is there already\. Name another file, or replace it with --force\./);
  assert.match(await refused('export', ...person, '--to', archive), /is there already/);
  assert.match(await refused('backup', archive), /is there already/);
  assert.deepEqual(await Promise.all([file, archive].map((path) => readFile(path, 'utf8'))), ['mine', 'mine']);
  assert.deepEqual(JSON.parse(await hermes('export', '--to', file, '--force', '--json')), { path: file, format: 'jsonl' });
  assert.deepEqual(JSON.parse(await hermes('export', ...person, '--to', archive, '--force', '--json')), { path: archive, conversations: 2, shared: 3, files: 6, profiles: 2 });
  assert.deepEqual(JSON.parse(await hermes('export', '--to', join(folder, 'all'), '--json')), { path: join(folder, 'all'), format: 'markdown', conversations: 5 });
  assert.equal(await hermes('export', '--to', '-'), await hermes('export'));
  assert.match(await refused('export', ...person, '--to', '-'), /name a folder or a \.tar\.gz/);
  assert.match(await refused('export', '--json'), /--format json/);
  assert.equal(existsSync('-'), false);
});

test('looking at a home that is not there says so and makes nothing', async () => {
  home = join(folder, 'typo');
  for (const args of [['status'], ['trace', '1'], ['export'], ['export', ...person], ['erase', ...person, '--yes'], ['sessions', 'list'], ['sessions', 'show', 'x'], ['sessions', 'delete', 'x', '--yes'], ['sessions', 'prune', '--older-than', '1d', '--yes'], ['audit'], ['gateway', 'restart']]) {
    assert.match(await refused(...args), /There is no home .*typo, .* nothing was made\./, args.join(' '));
    assert.equal(existsSync(home), false, args.join(' '));
  }
});

test('beside a gateway that runs, what is erased is gone from its write-ahead log as well', async () => {
  await fill();
  const gateway = new SqliteStore({ path: join(home, 'gateway.db'), clock: systemClock, checkIntegrity: false });
  try {
    await gateway.write((tx) => tx.q.updateTable('sessions').set({ title: 'planted again' }).where('id', '=', 'dm_planted').execute());
    assert.ok((await filesWith('planted')).includes('gateway.db-wal'));
    assert.equal((JSON.parse(await hermes('erase', ...person, '--yes', '--json')) as { readonly overwritten: boolean }).overwritten, true);
    assert.deepEqual(await filesWith('planted'), ['config.yaml']);
  } finally {
    await gateway.close();
  }
});

test('somebody who is not named properly is not looked for', async () => {
  await assert.rejects(hermes('erase', '--person', 'planted-7'), (error) => error instanceof CommanderError && error.exitCode === 1);
});
