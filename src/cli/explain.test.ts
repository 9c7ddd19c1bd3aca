import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryHome } from '../config/sample-config.ts';
import { systemClock } from '../lib/clock.ts';
import { silentLogger } from '../lib/logger.ts';
import { pair } from '../store/accounts/pairing.ts';
import { openStore } from '../store/open.ts';
import { bindSession, createSession } from '../store/sessions/sessions.ts';
import { storePath } from './home/open-home.ts';
import { program } from './program.ts';

const config = `
platforms:
  telegram:
    token: "123456:abc"
    allowed_users: [7]
    allow_admin_from: [uuid-7]
`;

const explain = async (home: string, ...args: readonly string[]): Promise<Readonly<Record<string, string>>> => {
  let out = '';
  const terminal = { env: { HERMES_HOME: home }, version: 'test', write: (text: string) => void (out += text), writeError: () => undefined };
  await program(terminal).parseAsync(['node', 'hermes', 'explain', '--platform', 'telegram', '--chat', '1', '--json', ...args]);
  return Object.fromEntries((JSON.parse(out) as readonly { readonly step: string; readonly verdict: string }[]).map(({ step, verdict }) => [step, verdict]));
};

test('both ids of a person count, for being let in by a code and for what they may do', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', config);
  const store = await openStore({ path: storePath(home.path), clock: systemClock, log: silentLogger, checkIntegrity: false });
  await store.write((tx) => pair(tx, { account: 'telegram', userId: 'uuid-9', userName: null, approvedBy: 'cli' }));
  await store.close();
  assert.equal((await explain(home.path, '--user', '9'))['session'], undefined);
  assert.equal((await explain(home.path, '--user', '9', '--user-alt', 'uuid-9'))['session'], 'a new one');
  assert.equal((await explain(home.path, '--user', '7', '/restart'))['kind'], 'command /restart, for admins only');
  assert.equal((await explain(home.path, '--user', '7', '--user-alt', 'uuid-7', '/restart'))['kind'], 'command /restart, allowed');
});

test('a conversation that starts anew by itself is explained so, and a command of the owner is one', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', `${config}quick_commands: { disk: { type: exec, command: df } }\nsession_reset: { mode: idle, idle_minutes: 10 }\n`);
  const { 'session key': sessionKey = '' } = await explain(home.path, '--user', '7');
  const store = await openStore({ path: storePath(home.path), clock: systemClock, log: silentLogger, checkIntegrity: false });
  await store.write(async (tx) => {
    await createSession(tx, { id: 's1', agent: 'main', account: 'telegram', chatType: 'dm' });
    await bindSession(tx, { sessionKey, sessionId: 's1', target: { account: 'telegram', chatId: '1', chatType: 'dm' } });
  });
  await store.close();
  const fresh = await explain(home.path, '--user', '7', '/disk');
  assert.deepEqual([fresh['session'], fresh['kind']], ['s1, continued', 'command /disk, for admins only']);
  const later = await openStore({ path: storePath(home.path), clock: systemClock, log: silentLogger, checkIntegrity: false });
  await later.write((tx) => tx.q.updateTable('sessions').set({ active_at: systemClock.now() - 3_600_000 }).execute());
  await later.close();
  assert.equal((await explain(home.path, '--user', '7'))['session'], 'a new one after idle reset of s1');
});
