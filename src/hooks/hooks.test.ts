import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { execFileSync } from 'node:child_process';
import { hookEvents } from './events.ts';
import { newTestFolder, sh, startHooks, ts, until } from './hook-folder.test-support.ts';

const inbound = hookEvents['message:inbound'].sample;
const outbound = hookEvents['message:outbound'].sample;
const command = hookEvents['command:*'].sample;
const ended = hookEvents['agent:end'].sample;
const noted = async (path: string): Promise<readonly string[]> => (await readFile(path, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');

const hasPython = (): boolean => {
  try {
    execFileSync('python3', ['-c', 'import asyncio'], { stdio: 'ignore', env: { PATH: '/usr/local/bin:/usr/bin:/bin' } });
    return true;
  } catch {
    return false;
  }
};

describe('hooks', { concurrency: 4, skip: process.platform === 'win32' ? 'there is no sh' : false }, () => {
  test('exact names come before kinds, and kinds before everything, whatever the hooks are called', async () => {
    await using folder = await newTestFolder();
    const allow = ts('export const handle = () => null;');
    await folder.hook('a-star', { events: ['*'] }, allow);
    await folder.hook('b-kind', { events: ['command:*'] }, allow);
    await folder.hook('c-exact', { events: ['command:new'] }, allow);
    await folder.hook('d-exact', { events: ['command:new'] }, allow);
    await folder.hook('e-other', { events: ['command:stop'] }, allow);
    await using running = await startHooks(() => [{ path: folder.path }]);
    const { decisions, state } = await running.hooks.command(command);
    assert.deepEqual(decisions.map(({ step }) => step), ['hook c-exact', 'hook d-exact', 'hook b-kind', 'hook a-star']);
    assert.equal(state.type, 'allow');
  });

  test('a program decides with JSON on its standard output', async () => {
    await using folder = await newTestFolder();
    await folder.hook('guard', { events: ['message:inbound'], timeout: 10 }, sh(`input=$(cat); case "$input" in *forbidden*) echo '{"decision":"drop","reason":"a forbidden word"}';; *) echo '{"decision":"replace","text":"clean"}';; esac`));
    await using running = await startHooks(() => [{ path: folder.path }]);
    assert.deepEqual((await running.hooks.inbound({ ...inbound, text: 'a forbidden word' })).state, { type: 'drop', by: 'guard', reason: 'a forbidden word', message: undefined });
    assert.deepEqual((await running.hooks.inbound(inbound)).state, { type: 'pass', text: 'clean' });
    assert.deepEqual(running.lines.filter((line) => line.includes('"hook.decided"')).map((line) => /dropped|replaced/.exec(line)?.[0]), ['dropped', 'replaced'], 'the log says what was decided');
  });

  test('a Python module of the original works as it is, asynchronous or not', { skip: hasPython() ? false : 'python3 is not here' }, async () => {
    await using folder = await newTestFolder();
    await folder.hook('plain', { events: ['command:new'], timeout: 10 }, { file: 'handler.py', code: 'def handle(event, context):\n    print("noise on stdout")\n    return {"decision": "deny", "message": event + " for " + context["user_id"]}\n' });
    await folder.hook('async', { events: ['message:outbound'], timeout: 10 }, { file: 'handler.py', code: 'import asyncio\nasync def handle(event, context):\n    await asyncio.sleep(0)\n    return {"decision": "replace", "text": context["text"].upper() + " é"}\n' });
    await using running = await startHooks(() => [{ path: folder.path }]);
    assert.deepEqual((await running.hooks.command(command)).state, { type: 'deny', by: 'plain', message: 'command:new for 7' });
    assert.deepEqual((await running.hooks.outbound({ ...outbound, text: 'ö' })).state, { type: 'pass', text: 'Ö é' });
  });

  test('telling hooks takes no time and keeps the order of events for each of them', async () => {
    await using folder = await newTestFolder();
    const path = join(folder.path, 'log');
    const gate = join(folder.path, 'gate');
    await folder.hook('notes', { events: ['agent:*'] }, sh(`until [ -e ${gate} ]; do sleep 0.02; done; sed 's/.*"turn_id":\\([0-9]*\\).*/\\1/' >> ${path}`));
    await folder.hook('hangs', { events: ['agent:*'] }, sh('sleep 300'));
    await using running = await startHooks(() => [{ path: folder.path }]);
    for (let i = 1; i <= 8; i += 1) running.hooks.emit('agent:end', { ...ended, turn_id: i });
    assert.deepEqual(await noted(path), [], 'nobody has waited');
    await writeFile(gate, '');
    await until(async () => (await noted(path)).length === 8, 'all to be told');
    assert.deepEqual(await noted(path), ['1', '2', '3', '4', '5', '6', '7', '8']);
  });

  test('whoever only watches is told what was decided, by whom, and is not waited for', async () => {
    await using folder = await newTestFolder();
    const path = join(folder.path, 'log');
    await folder.hook('guard', { events: ['message:*'] }, ts('export const handle = (_: string, { text }: { text: string }) => ({ decision: "replace", text: `${text}!` });'));
    await folder.hook('watch', { events: ['message:*'], kind: 'observe' }, sh(`cat >> ${path}; echo '{"decision":"drop"}'`));
    await using running = await startHooks(() => [{ path: folder.path }]);
    const { decisions } = await running.hooks.inbound(inbound);
    assert.deepEqual(decisions.map(({ step }) => step), ['hook guard']);
    await until(async () => (await noted(path)).length === 1, 'the watcher to be told');
    const { context } = JSON.parse((await noted(path))[0] ?? '') as { context: { text: string; decision: string; decided_by: string } };
    assert.deepEqual([context.text, context.decision, context.decided_by], [`${inbound.text}!`, 'replace', 'guard']);
  });

  test('a hook that hangs holds a decision up for its time only, and after three times not at all', async () => {
    await using folder = await newTestFolder();
    await folder.hook('a-hangs', { events: ['message:inbound'], timeout: 0.1 }, ts('export const handle = () => { for (;;); };'));
    await folder.hook('b-works', { events: ['message:inbound'] }, ts('export const handle = () => ({ decision: "replace", text: "seen" });'));
    await using running = await startHooks(() => [{ path: folder.path }]);
    const verdicts: string[] = [];
    for (let i = 0; i < 5; i += 1) {
      const { state, decisions } = await running.hooks.inbound(inbound);
      assert.deepEqual(state, { type: 'pass', text: 'seen' });
      verdicts.push(decisions[0]?.verdict ?? '');
    }
    assert.deepEqual(verdicts.map((verdict) => /no answer within|rests/.exec(verdict)?.[0]), ['no answer within', 'no answer within', 'no answer within', 'rests', 'rests']);
    assert.equal(running.lines.filter((line) => line.includes('hook.rests')).length, 1);
  });

  test('a hook without which nothing may pass blocks when it is broken', async () => {
    await using folder = await newTestFolder();
    await folder.hook('guard', { events: ['message:inbound', 'command:*'], on_failure: 'block' }, ts('this is no program'));
    await using running = await startHooks(() => [{ path: folder.path }]);
    assert.equal((await running.hooks.inbound(inbound)).state.type, 'drop');
    assert.equal((await running.hooks.command(command)).state.type, 'deny');
    assert.ok(running.lines.some((line) => line.includes('hook.broken')));
  });

  test('a flood of events costs a hook that cannot keep up its later ones, and nobody anything else', async () => {
    await using folder = await newTestFolder();
    await folder.hook('slow', { events: ['agent:end'] }, sh('sleep 300'));
    await using running = await startHooks(() => [{ path: folder.path }]);
    for (let i = 0; i < 10_000; i += 1) running.hooks.emit('agent:end', ended);
    const [report] = running.hooks.report().hooks;
    assert.deepEqual([report?.waiting, report?.dropped], [256, 10_000 - 257]);
    assert.ok(running.lines.filter((line) => line.includes('hook.overwhelmed')).length <= 5, 'it is said now and then');
  });

  test('an agent sees its own events only, and is never asked who answers', async () => {
    await using home = await newTestFolder();
    await using own = await newTestFolder();
    const mark = (name: string) => ts(`export const handle = (event: string) => event === 'select_agent' ? 'support' : ({ decision: 'replace', text: '${name}' });`);
    await own.hook('guard', { events: ['*'] }, mark('own'));
    await using running = await startHooks(() => [{ path: home.path }, { path: own.path, agent: 'support' }]);
    assert.deepEqual((await running.hooks.inbound(inbound)).decisions, []);
    assert.deepEqual((await running.hooks.inbound({ ...inbound, agent_id: 'support' })).state, { type: 'pass', text: 'own' });
    assert.deepEqual((await running.hooks.selectAgent({ ...hookEvents['select_agent'].sample, agent_id: 'support' })).state, {});
    assert.deepEqual([running.hooks.decides('message:inbound', 'main'), running.hooks.decides('message:inbound', 'support')], [false, true]);
  });

  test('what concerns everybody is told to each agent as its own', async () => {
    await using folder = await newTestFolder();
    const path = join(folder.path, 'log');
    const own = await newTestFolder();
    await using _own = own;
    await own.hook('notes', { events: ['gateway:startup'] }, sh(`cat >> ${path}`));
    await using running = await startHooks(() => [{ path: own.path, agent: 'support' }]);
    running.hooks.emit('gateway:startup', hookEvents['gateway:startup'].sample);
    await until(async () => (await noted(path)).length === 1, 'the hook to be told');
    assert.match((await noted(path))[0] ?? '', /"agent_id":"support"/);
  });

  test('hooks are read anew when that is asked for, and what was fine and is broken now stays as it was', async () => {
    await using folder = await newTestFolder();
    const answer = (text: string) => ts(`import { text } from './words.ts';\nexport const handle = () => ({ decision: 'replace', text: text + '${text}' });`);
    const at = await folder.hook('words', { events: ['message:inbound'] }, answer('1'));
    await writeFile(join(at, 'words.ts'), 'export const text: string = "a";');
    await using running = await startHooks(() => [{ path: folder.path }]);
    const said = async (): Promise<unknown> => (await running.hooks.inbound(inbound)).state;
    assert.deepEqual(await said(), { type: 'pass', text: 'a1' });
    await writeFile(join(at, 'words.ts'), 'export const text: string = "b";');
    await folder.hook('words', { events: ['message:inbound'] }, answer('2'));
    assert.deepEqual(await said(), { type: 'pass', text: 'a1' }, 'nothing changes by itself');
    assert.deepEqual((await running.hooks.reload()).broken, []);
    assert.deepEqual(await said(), { type: 'pass', text: 'b2' }, 'what it imports is new too');
    await writeFile(join(at, 'handler.ts'), 'const broken = ;');
    assert.match((await running.hooks.reload()).broken[0]?.problem ?? '', /SyntaxError/);
    assert.deepEqual(await said(), { type: 'pass', text: 'b2' });
    await writeFile(join(at, 'HOOK.yaml'), 'events: [mesage:inbound]');
    assert.equal((await running.hooks.reload()).broken.length, 1);
    assert.deepEqual(await said(), { type: 'pass', text: 'b2' });
    await rm(at, { recursive: true });
    await running.hooks.reload();
    assert.deepEqual(await said(), { type: 'pass', text: inbound.text });
  });

  test('a decision under way is made by the hook that was asked, also when hooks are read anew meanwhile', async () => {
    await using folder = await newTestFolder();
    await folder.hook('slow', { events: ['message:inbound'] }, ts('export const handle = () => new Promise((resolve) => setTimeout(resolve, 500, { decision: "drop", reason: "slowly" }));'));
    await using running = await startHooks(() => [{ path: folder.path }]);
    const asked = running.hooks.inbound(inbound);
    await rm(join(folder.path, 'slow'), { recursive: true });
    await running.hooks.reload();
    assert.equal((await asked).state.type, 'drop');
    assert.equal((await running.hooks.inbound(inbound)).state.type, 'pass');
  });

  test('stopping lets hooks hear the last event and ends those that hang', async () => {
    await using folder = await newTestFolder();
    const path = join(folder.path, 'log');
    await folder.hook('notes', { events: ['gateway:shutdown'] }, sh(`cat >> ${path}`));
    const running = await startHooks(() => [{ path: folder.path }]);
    running.hooks.emit('gateway:shutdown', { agent_id: null });
    await running.hooks.stop();
    assert.equal((await noted(path)).length, 1);
  });

  test('a hook that is switched off is not there', async () => {
    await using folder = await newTestFolder();
    await folder.hook('off', { events: ['message:inbound'], enabled: false }, ts('export const handle = () => ({ decision: "drop" });'));
    await using running = await startHooks(() => [{ path: folder.path }]);
    assert.deepEqual((await running.hooks.inbound(inbound)).decisions, []);
  });
});
