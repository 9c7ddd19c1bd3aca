import assert from 'node:assert/strict';
import { chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError } from '../../core/errors.ts';
import { giveToOwner } from '../../lib/give-to-owner.ts';
import { Core } from '../chat/core.ts';
import { program } from '../program.ts';
import { refuseRoot } from './root-in-home.ts';

const onlyRoot = { skip: process.getuid?.() !== 0 && 'only root can' };

/** A user of whom this machine knows nothing. */
const other = 47_114_711;

const newHome = async (t: { after(work: () => Promise<void>): void }, owner: number): Promise<string> => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-root-'));
  t.after(() => rm(home, { recursive: true }));
  await chown(home, owner, owner);
  return home;
};

const hermes = async (env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<string> => {
  let said = '';
  await program({ env, version: '1.2.3', write: () => undefined, writeError: (text) => void (said += text) }).parseAsync(['node', 'hermes', ...args]);
  return said;
};

test('root lets no agent run in the home of somebody else, not in one that would be theirs, unless it is asked for or a container', onlyRoot, async (t) => {
  const theirs = await newHome(t, other);
  const command = 'hermes gateway start';
  for (const home of [theirs, join(theirs, 'not', 'made')]) {
    assert.throws(() => refuseRoot({}, home, { command, flag: '--as-root' }), (error) => error instanceof ConfigError && error.message.endsWith(`sudo -u '#${other}' HERMES_HOME=${home} hermes gateway start. --as-root runs it as root nevertheless.`));
  }
  refuseRoot({ HERMES_GATEWAY_EXTERNAL_SUPERVISOR: 'container' }, theirs, { command });
  refuseRoot({}, await newHome(t, 0), { command });
});

test('every way to let an agent run there is refused, and leaves nothing of root in the home', onlyRoot, async (t) => {
  const home = await newHome(t, other);
  await writeFile(join(home, 'config.yaml'), 'model: demo\n');
  await giveToOwner(join(home, 'config.yaml'), home);
  const env = { HERMES_HOME: home, XDG_STATE_HOME: join(home, 'state') };
  const isRefusal = (error: unknown): boolean => error instanceof ConfigError && error.message.includes('the agent would run as root');
  for (const word of ['run', 'start', 'restart']) await assert.rejects(hermes(env, 'gateway', word), isRefusal, word);
  await assert.rejects(Core.open({ env, version: '1.2.3', write: () => undefined, writeError: () => undefined }), isRefusal, 'a terminal chat');
  assert.equal(await hermes(env, 'audit'), '');
});

test('what is root’s in the home of somebody else is said after a command of root, with the fix', onlyRoot, async (t) => {
  const home = await newHome(t, other);
  await mkdir(join(home, 'backups'));
  await writeFile(join(home, 'gateway.db'), '');
  const told = `${home} belongs to ${other}, but this in it to root: backups, gateway.db. Give it back: chown -R ${other} ${home}\n`;
  assert.equal(await hermes({ HERMES_HOME: home }, 'audit'), told);
  assert.equal(await hermes({ HERMES_HOME: home, HERMES_GATEWAY_EXTERNAL_SUPERVISOR: 'container' }, 'audit'), '');
});

test('whoever is not root starts a gateway in a home that is theirs or not, as far as they may', { skip: process.getuid?.() === 0 && 'this is root' }, () => {
  refuseRoot({}, tmpdir(), { command: 'hermes gateway start' });
});
