import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decidePath, foldPath } from './path-policy.ts';
import type { FileUse, PathPolicy } from './path-policy.ts';

const policy: PathPolicy = {
  home: '/home/ann/.hermes',
  agentHome: '/home/ann/.hermes',
  userHome: '/home/ann',
  writable: ['/home/ann', '/home/ann/.hermes', '/home/ann/.hermes/workspace'],
  readable: ['/srv/shared', '/home/ann/.hermes/cache/results/s1'],
};
const verdict = (path: string, use: FileUse = 'write', at: PathPolicy = policy): string => {
  const decided = decidePath({ lexical: path, real: path }, use, at);
  return decided.type === 'ask' ? decided.pattern : decided.type;
};
const each = (paths: readonly string[], use: FileUse, expected: string, at = policy): void => {
  assert.deepEqual(paths.map((path) => `${path} ${verdict(path, use, at)}`), paths.map((path) => `${path} ${expected}`));
};

test('ordinary files inside an allowed folder may be read and written', () => {
  each(['/home/ann', '/home/ann/notes.md', '/home/ann/.config/app/x', '/home/ann/.env.example', '/home/ann/key.ts', '/home/ann/shadow/a', '/home/ann/.docker/x'], 'write', 'allowed');
  assert.equal(verdict('/srv/shared/a', 'read'), 'allowed');
});

test('what lies outside is denied, also a folder whose name only begins alike', () => {
  each(['/', '/home', '/home/anna/x', '/home/ann2', '/srv/sharedx', '/var/tmp/x'], 'read', 'denied');
  assert.equal(verdict('/srv/shared/a', 'write'), 'denied');
});

test('credentials are denied for reading and writing, wherever they stand', () => {
  const paths = [
    '.ssh/id_ed25519', '.ssh/config', '.aws/credentials', '.netrc', '.gnupg/x', '.kube/config', 'work/.env', 'work/.env.production', 'work/.envrc', 'work/server.pem', 'id_rsa.bak', '.config/gh/hosts.yml', '.git-credentials',
    '.mozilla/firefox/p/cookies.sqlite', '.config/google-chrome/Default/Cookies', 'work/client_secret_1.json', '.docker/config.json', '.hermes/.env', 'backup/ann/.ssh/known_hosts',
  ].map((name) => `/home/ann/${name}`);
  each(paths, 'read', 'denied');
  each(paths, 'write', 'denied');
});

test('other spellings of a credential are the same credential', () => {
  const paths = ['.ENV', '.Ssh/config', '.ſsh/config', '.s\u200csh/config', '.env.', '.env ', '．ｅｎｖ', '.netrc..', 'ID_RSA'].map((name) => `/home/ann/${name}`);
  each(paths, 'read', 'denied');
  assert.equal(foldPath('/a/.ENV. /b'), '/a/.env/b');
});

test('places of the system are denied even when the whole disk is an allowed folder', () => {
  const all = { ...policy, writable: ['/'] };
  each(['/proc/self/environ', '/proc', '/dev/sda', '/sys/kernel', '/etc/shadow', '/etc/sudoers.d/x', '/run/secrets/token'], 'read', 'denied', all);
  assert.equal(verdict('/etc/hosts', 'read', all), 'allowed');
  assert.equal(verdict('/etc/hosts', 'write', all), 'write system files');
  assert.equal(verdict('/home/bob/x', 'write', all), 'allowed');
});

test("changes to the gateway's own files ask, by what they are; reading is free", () => {
  const home = '/home/ann/.hermes';
  assert.deepEqual(
    ['config.yaml', 'CONFIG.yaml', 'SOUL.md', 'hooks/on/x.ts', 'skills/a/SKILL.md', 'memories/USER.md', 'unheard-of', 'workspace/a.txt'].map((name) => verdict(`${home}/${name}`)),
    ['write config.yaml', 'write config.yaml', 'write soul.md', 'write hooks', 'write skills', 'write memories', 'write unheard-of', 'allowed'],
  );
  each([`${home}/config.yaml`, `${home}/SOUL.md`], 'read', 'allowed');
  assert.equal(verdict('/home/ann/.HERMES/config.yaml'), 'write config.yaml', 'a file system without case');
});

test('the database, tokens, other agents and other conversations stay closed', () => {
  const home = '/home/ann/.hermes';
  each([`${home}/gateway.db`, `${home}/gateway.db-wal`, `${home}/state.db`, `${home}/auth.json`, `${home}/mcp-tokens/x`, `${home}/pairing/a`, `${home}/control.sock`, `${home}/backups/x.tar.gz`, `${home}/logs/audit.log`, `${home}/gateway.pid`, `${home}/gateway.lock-journal`, `${home}/gateway-starts.json`, `${home}/.gateway-restart.json`, `${home}/config.yaml.1.bak`, `${home}/secrets/x`, `${home}/profiles/bob/SOUL.md`, `${home}/cache/results/s2/x.txt`, `${home}/media/sessions/s2/a.png`, `${home}/processes/proc_1.log`], 'read', 'denied');
  assert.equal(verdict(`${home}/cache/results/s1/x.txt`, 'read'), 'allowed');
  assert.equal(verdict(`${home}/cache/results/s1/x.txt`), 'denied');
});

test("another agent's tools see their own home, and nothing of the gateway's", () => {
  const home = '/home/ann/.hermes';
  const bob: PathPolicy = { ...policy, agentHome: `${home}/profiles/bob`, writable: ['/home/ann', `${home}/profiles/bob`], readable: [`${home}/media`] };
  each([`${home}/config.yaml`, `${home}/SOUL.md`, `${home}/profiles/eve/x`, `${home}`], 'read', 'denied', bob);
  each([`${home}/profiles/bob/notes.md`, `${home}/media/a.png`], 'read', 'allowed', bob);
  assert.equal(verdict(`${home}/profiles/bob/SOUL.md`, 'write', bob), 'write soul.md');
  assert.equal(verdict(`${home}/profiles/bob/auth.json`, 'read', bob), 'denied');
});

test("another agent's home stays closed where it lies in an allowed folder, for every spelling of it", () => {
  const apart: PathPolicy = { ...policy, otherHomes: ['/home/ann/agents/Eve', '/home/ann/.hermes/eve'] };
  each(['/home/ann/agents/Eve', '/home/ann/agents/Eve/memories/MEMORY.md', '/home/ann/agents/eve/x', '/home/ann/.hermes/eve/SOUL.md'], 'read', 'denied', apart);
  each(['/home/ann/agents/Eve/x'], 'write', 'denied', apart);
  each(['/home/ann/agents/Evelyn/x', '/home/ann/agents'], 'read', 'allowed', apart);
});

test('what other programs run by themselves asks before it is changed', () => {
  each(['/home/ann/.bashrc', '/home/ann/.config/autostart/x.desktop', '/home/ann/work/.git/hooks/pre-commit', '/home/ann/work/.git/config'], 'write', 'write startup files');
  assert.equal(verdict('/home/ann/work/.bashrc'), 'allowed');
});

test('a write root narrows what may be written and nothing else', () => {
  const narrow = { ...policy, writeOnlyIn: '/home/ann/work' };
  assert.deepEqual([verdict('/home/ann/work/a', 'write', narrow), verdict('/home/ann/a', 'write', narrow), verdict('/home/ann/a', 'read', narrow)], ['allowed', 'denied', 'allowed']);
});

test('the stricter of the written and the real path decides', () => {
  assert.equal(decidePath({ lexical: '/home/ann/.env', real: '/home/ann/env.txt' }, 'read', policy).type, 'denied');
  assert.equal(decidePath({ lexical: '/home/ann/a', real: '/home/ann/.ssh/id' }, 'read', policy).type, 'denied');
  assert.equal(decidePath({ lexical: '/home/ann/a', real: '/var/lib/x' }, 'read', policy).type, 'denied');
  assert.equal(decidePath({ lexical: '/home/ann/a', real: '/home/ann/.hermes/config.yaml' }, 'write', policy).type, 'ask');
});
