import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { ConfigError } from '../core/errors.ts';
import { systemClock } from '../lib/clock.ts';
import { localDay } from '../lib/local-day.ts';
import { addSpend } from '../store/agents/agent-spend.ts';
import { SqliteStore } from '../store/engines/sqlite.ts';
import { createSession } from '../store/sessions/sessions.ts';
import { program } from './program.ts';

let home = '';
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'hermes-agent-cli-'));
});
afterEach(() => rm(home, { recursive: true }));

const hermes = async (...args: readonly string[]): Promise<string> => {
  let out = '';
  const write = (text: string): void => void (out += text);
  await program({ env: { HERMES_HOME: home }, version: 'test', write, writeError: write }).parseAsync(['node', 'hermes', ...args]);
  return out;
};
const refusal = (sentence: RegExp) => (error: unknown) => error instanceof ConfigError && sentence.test(error.message);
const config = (): Promise<string> => readFile(join(home, 'config.yaml'), 'utf8');
const put = async (path: string, text: string): Promise<void> => {
  await mkdir(join(home, path, '..'), { recursive: true });
  await writeFile(join(home, path), text, { mode: 0o600 });
};

const commented = `# My gateway
model: demo # for now

# who answers whom
routes:
  # the family
  - match: { platform: local, chat_id: -1 } # at home
    agent: main
`;

test('an agent is added to a file that keeps its comments, and is taken out again with all that points to it', async () => {
  await put('config.yaml', commented);
  await hermes('agent', 'add', 'support', '--description', 'answers customers', '--model', 'gpt-5', '--route', 'platform=local,chat_id=-100', '--route', 'user_id=7');
  const added = await config();
  assert.ok(added.startsWith(commented), added);
  assert.match(added, /- \{ match: \{ platform: local, chat_id: "-100" \}, agent: support \}\n {2}- \{ match: \{ user_id: "7" \}, agent: support \}\n/);
  assert.equal(((await stat(join(home, 'profiles', 'support'))).mode & 0o777).toString(8), '700');
  await hermes('config', 'set', 'default_agent', 'support');
  await hermes('config', 'set', 'tools.agents.support.disabled_toolsets', '[web]');
  const told = await hermes('agent', 'remove', 'support', '--yes');
  assert.match(told, /routes\[1\] \(platform local, chat_id -100\) is removed/);
  assert.match(told, /routes\[2\]/);
  assert.match(told, /default_agent was support/);
  assert.match(told, /profiles\/support stays/);
  assert.equal(await config(), commented);
  assert.ok(existsSync(join(home, 'profiles', 'support')));
});

test('a copy gets what it was asked to get, and never secrets, links or conversations', async () => {
  await put('config.yaml', 'agents:\n  first: { model: gpt-5, disabled_toolsets: [web, time], api_key_env: FIRST_KEY, daily_spend_usd: 2, env: { TOKEN: secret-in-settings } }\n');
  await put('profiles/first/SOUL.md', 'Who I am.');
  await put('profiles/first/.env', 'FIRST_KEY=sk-first\n');
  await put('profiles/first/skills/cook/SKILL.md', '---\nname: cook\ndescription: cooks\n---\nBoil.');
  await put('profiles/first/skills/cook/.env', 'A=1');
  await put('profiles/first/skills/cook/key.pem', 'x');
  await symlink('/etc/passwd', join(home, 'profiles/first/skills/cook/passwd'));
  await put('profiles/first/memories/MEMORY.md', 'Tea.');
  const said = await hermes('agent', 'add', 'second', '--clone-from', 'first');
  assert.match(said, /Copied from first: SOUL\.md, skills\. Not copied: its secrets, conversations and scheduled jobs/);
  assert.match(said, /Write its key as FIRST_KEY into .*profiles\/second\/\.env/);
  const second = (path: string): string => join(home, 'profiles', 'second', path);
  assert.equal(await readFile(second('SOUL.md'), 'utf8'), 'Who I am.');
  for (const path of ['memories', 'skills/cook/.env', 'skills/cook/key.pem', 'skills/cook/passwd']) assert.ok(!existsSync(second(path)), path);
  assert.match(await readFile(second('.env'), 'utf8'), /\nFIRST_KEY=\n$/);
  assert.ok(!(await config()).slice((await config()).indexOf('second')).includes('secret-in-settings'));
  const shown = JSON.parse(await hermes('agent', 'show', 'second', '--json'));
  assert.deepEqual([shown.model, shown.disabledToolsets, shown.key, shown.limits.dailySpendUsd, shown.skills, shown.soul], ['gpt-5', ['web', 'time'], { variable: 'FIRST_KEY', isSet: false }, 2, ['cook'], 'Who I am.']);
  await hermes('agent', 'add', 'third', '--clone-from', 'first', '--copy', 'memory', '--model', 'other');
  assert.equal(await readFile(join(home, 'profiles/third/memories/MEMORY.md'), 'utf8'), 'Tea.');
  assert.ok(!existsSync(join(home, 'profiles/third/SOUL.md')));
  assert.equal(JSON.parse(await hermes('agent', 'show', 'third', '--json')).model, 'other');
});

test('what cannot be is refused and changes nothing', async () => {
  await put('config.yaml', commented);
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [['add', 'Bad'], /must be a name/],
    [['add', '../evil'], /must be a name/],
    [['add', 'main'], /already/],
    [['add', 'x', '--route', 'nonsense'], /platform=telegram,chat_id/],
    [['add', 'x', '--route', 'chat=1'], /unknown key/],
    [['add', 'x', '--provider', 'openai'], /needs the name of a model/],
    [['add', 'x', '--clone-from', 'nobody'], /no agent called nobody/],
    [['add', 'x', '--clone-from', 'main', '--copy', 'secrets'], /soul, skills, memory/],
    [['add', 'x', '--copy', 'soul'], /--clone-from/],
    [['show', 'x'], /no agent called x; there are: main/],
    [['remove', 'x', '--yes'], /no agent called x/],
    [['remove', 'main', '--yes'], /always there/],
  ];
  for (const [args, sentence] of wrong) await assert.rejects(hermes('agent', ...args), refusal(sentence), args.join(' '));
  assert.equal(await config(), commented);
  assert.ok(!existsSync(join(home, 'profiles')));
  await hermes('agent', 'add', 'x');
  await assert.rejects(hermes('agent', 'add', 'x'), refusal(/already/));
  await assert.rejects(hermes('agent', 'remove', 'x'), refusal(/--yes/));
  await hermes('config', 'set', 'agents.x.home_dir', join(home, 'elsewhere'));
  await assert.rejects(hermes('agent', 'remove', 'x', '--yes', '--delete-files'), refusal(/delete it yourself/));
});

test('files go when that is wanted, and an agent of the same name finds what an earlier one has left', async () => {
  await hermes('agent', 'add', 'x');
  await put('profiles/x/SOUL.md', 'Earlier.');
  await hermes('agent', 'remove', 'x', '--yes');
  assert.match(await hermes('agent', 'add', 'x'), /was there already/);
  const removed = JSON.parse(await hermes('agent', 'remove', 'x', '--yes', '--delete-files', '--json'));
  assert.deepEqual([removed.deletedFolder, removed.removed], [join(home, 'profiles', 'x'), ['tools.agents.x', 'agents.x']]);
  assert.ok(!existsSync(join(home, 'profiles', 'x')));
});

test('the list says who answers, what it costs and what has no price; explain names the route', async () => {
  await put('config.yaml', 'model: demo\nagents: { support: { daily_spend_usd: 5, max_concurrent_turns: 2 } }\nroutes: [{ match: { guild_id: G1 }, agent: support }]\n');
  const store = new SqliteStore({ path: join(home, 'gateway.db'), clock: systemClock, checkIntegrity: false });
  await store.write(async (tx) => {
    await createSession(tx, { id: 's1', agent: 'support', account: 'local', chatType: 'dm' });
    for (const usd of [1.25, undefined]) await addSpend(tx, { agent: 'support', day: localDay(Date.now()), usd });
  });
  await store.close();
  const listed = await hermes('agent', 'list');
  assert.match(listed, /^main \(default\) /m);
  assert.match(listed, /^support +\S+ +1 +\$1\.25 of \$5\.00\* /m);
  assert.match(listed, /\* Some calls have no known price and count as nothing/);
  assert.match(await hermes('agent', 'show', 'support'), /Spent today +\$1\.25 of \$5\.00\* \(1 calls of unknown price count as nothing\)/);
  const explained = await hermes('explain', '--platform', 'local', '--chat', '1', '--user', '7', '--guild', 'G1');
  assert.match(explained, /agent +support, by routes\[0\] \(guild_id G1\)/);
  assert.match(explained, /limits +0 of 2 turns at work, \$1\.25 of \$5\.00 spent today/);
  assert.match(await hermes('explain', '--platform', 'local', '--chat', '1', '--user', '7'), /agent +main, by default/);
});

test('config check reports routes that never decide and refuses those that lead nowhere', async () => {
  await put('config.yaml', 'routes:\n  - { match: { platform: local }, agent: main }\n  - { match: { platform: local, chat_id: 1 }, agent: main }\n  - { match: {}, agent: main }\n');
  const checked = await hermes('config', 'check');
  assert.match(checked, /routes\[1\] never decides/);
  assert.match(checked, /routes\[2\] has an empty match/);
  await put('config.yaml', 'agents: { a: {}, b: { home_dir: profiles/a } }\nroutes: [{ match: { chat_id: 1 }, agent: c }]\n');
  await assert.rejects(hermes('config', 'check'), refusal(/has 2 problems/));
});

test('doctor names agents without a key, files that others can read, and limits that cannot be kept', { skip: process.platform === 'win32' ? 'no modes' : false }, async () => {
  await put('config.yaml', 'model: { provider: openai, default: gpt-5-mini }\nagents:\n  a: { api_key_env: A_KEY }\n  b: { model: nobody-knows-1, daily_spend_usd: 1 }\n  c: { daily_spend_usd: 1 }\n  d: { home_dir: /no-such-disk/agents/d }\n');
  await put('profiles/b/.env', 'B_KEY=1\n');
  await Promise.all([chmod(join(home, 'profiles/b/.env'), 0o644), chmod(join(home, 'profiles/b'), 0o755)]);
  let out = '';
  const write = (text: string): void => void (out += text);
  await assert.rejects(program({ env: { HERMES_HOME: home }, version: 'test', write, writeError: write }).parseAsync(['node', 'hermes', 'doctor', '--offline', '--json']));
  const { findings } = JSON.parse(out) as { readonly findings: readonly { readonly area: string; readonly level: string; readonly text: string; readonly fix: string }[] };
  const told = findings.filter(({ area }) => area === 'agents').map(({ level, text }) => `${level}: ${text}`).join('\n');
  assert.match(told, /warning: a has no key: A_KEY is not set/);
  assert.match(told, /error: .*profiles\/b\/\.env holds secrets and can be read by other users/);
  assert.match(told, /error: d cannot work: the folder \/no-such-disk\/agents, in which its own lies, is not there/);
  assert.match(told, /warning: b has a limit of what it may spend, but nobody knows what nobody-knows-1 costs/);
  assert.ok(!told.includes('c has a limit'));
});
