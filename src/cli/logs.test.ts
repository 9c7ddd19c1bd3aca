import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { recordAct } from '../lib/audit-log.ts';
import { localTime } from '../lib/local-time.ts';
import { program } from './program.ts';

let home = '';
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'hermes-logs-'));
  await mkdir(join(home, 'logs'));
});
afterEach(() => rm(home, { recursive: true }));

const hermes = async (...args: readonly string[]): Promise<{ readonly out: string; readonly err: string }> => {
  let [out, err] = ['', ''];
  await program({ env: { HERMES_HOME: home }, version: 'test', write: (text) => void (out += text), writeError: (text) => void (err += text) }).parseAsync(['node', 'hermes', ...args]);
  return { out, err };
};

const hourMs = 3_600_000;
const line = (hoursAgo: number, account: string): string => JSON.stringify({ level: 'info', time: new Date(Date.now() - hoursAgo * hourMs).toISOString(), account, msg: `said.${hoursAgo}` });
const messagesIn = (text: string): readonly string[] => text.match(/said\.\d+/g) ?? [];

const fill = (): Promise<void> => writeFile(join(home, 'logs', 'gateway.log'), `${[line(50, 'telegram'), line(3, 'local'), '{"torn', line(0, 'telegram')].join('\n')}\n`);

test('lines of the log are shown with their day and zone, and only those of the time that was asked for', async () => {
  await fill();
  assert.match((await hermes('logs', '-n', '1')).out, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d\d:\d\d said\.0 account=telegram\n$/);
  assert.deepEqual(messagesIn((await hermes('logs')).out), ['said.50', 'said.3', 'said.0']);
  assert.deepEqual(messagesIn((await hermes('logs', '--since', '4h')).out), ['said.3', 'said.0']);
  const beforeYesterday = localTime(Date.now() - 24 * hourMs).slice(0, 10);
  assert.deepEqual(messagesIn((await hermes('logs', '--until', beforeYesterday, '--json')).out), ['said.50']);
  const recent = (await hermes('logs', '--since', '2d', '--until', '1h', '--json')).out;
  assert.deepEqual(messagesIn(recent), ['said.3']);
  assert.doesNotMatch(recent, /torn/);
});

test('whoever asks for an account that the log does not know is told which ones it does', async () => {
  await fill();
  assert.deepEqual(await hermes('logs', '--account', 'nosuch'), { out: '', err: 'No line of the log is about nosuch. Accounts in it: local, telegram.\n' });
  assert.equal((await hermes('logs', '--account', 'local')).err, '');
});

test('acts are shown with their day and zone, and only those of the time that was asked for', async () => {
  const act = (name: string, hoursAgo: number): void => recordAct(home, { by: 'ada', act: name }, Date.now() - hoursAgo * hourMs);
  act('old', 50);
  act('new', 0);
  assert.match((await hermes('audit')).out, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d\d:\d\d {2}ada {2}old\n.*new\n$/);
  assert.deepEqual((JSON.parse((await hermes('audit', '--since', '1d', '--json')).out) as readonly { readonly act: string }[]).map(({ act: name }) => name), ['new']);
  assert.equal((await hermes('audit', '--until', '9d')).out, 'Nothing was changed in that time.\n');
});
