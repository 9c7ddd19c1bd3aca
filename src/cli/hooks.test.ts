import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryHome } from '../config/sample-config.ts';
import { Exit } from './environment.ts';
import { program } from './program.ts';

interface Ran {
  readonly out: string;
  readonly errors: string;
  readonly code: number;
}

const run = async (home: string, ...args: readonly string[]): Promise<Ran> => {
  let [out, errors, code] = ['', '', 0];
  const terminal = { env: { HERMES_HOME: home, PATH: '/usr/bin:/bin', OPENAI_API_KEY: 'sk-must-not-be-seen-by-hooks' }, version: 'test', write: (text: string) => void (out += text), writeError: (text: string) => void (errors += text) };
  await program(terminal)
    .parseAsync(['node', 'hermes', 'hooks', ...args])
    .catch((error: unknown) => {
      if (!(error instanceof Exit)) throw error;
      code = error.code;
    });
  return { out, errors, code };
};

const config = `
agents: { support: {} }
webhooks_out:
  ops: { url: "http://127.0.0.1:9/secret-path", events: ["agent:*"], secret: "0123456789abcdef" }
`;

const install = async (home: string, name: string, manifest: string, code?: string): Promise<void> => {
  const folder = join(home, 'hooks', name);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'HOOK.yaml'), manifest);
  if (code !== undefined) await writeFile(join(folder, 'handler.ts'), code);
};

test('the list shows every hook without running it, and where none of the secrets is', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', config);
  await install(home.path, 'guard', 'events: [command:*]\ndescription: Guards', 'throw new Error("run");');
  await install(home.path, 'off', 'events: [agent:end]\nenabled: false', '');
  await install(home.path, 'wrong', 'events: [agent:edn]');
  await install(join(home.path, 'profiles', 'support'), 'own', 'events: [agent:end]', '');
  const { out } = await run(home.path, 'list', '--json');
  const hooks = JSON.parse(out) as { hook: string; kind: string; agent: string | null }[];
  assert.deepEqual(hooks.map(({ hook, kind, agent }) => [hook, kind, agent]), [
    ['boot-md', 'watches', null],
    ['guard', 'decides', null],
    ['off', 'off', null],
    ['wrong', 'broken', null],
    ['support/own', 'watches', 'support'],
    ['webhooks_out.ops', 'watches', null],
  ]);
  const plain = (await run(home.path, 'list')).out;
  assert.match(plain, /guard +decides +command:\* .*Guards/);
  assert.doesNotMatch(plain, /secret-path|0123456789abcdef/);
});

test('an event can be tried out, with what it tells, and says what would become of it', async () => {
  await using home = await temporaryHome();
  await install(home.path, 'guard', 'events: [message:inbound]\ntimeout: 10', 'export const handle = (_: string, { text }: { text: string }) => { console.log("saw", text, process.env.OPENAI_API_KEY); return text === "bad" ? { decision: "drop", reason: "bad" } : null; };');
  await install(home.path, 'watch', 'events: [message:*]\nkind: observe', 'export const handle = (_: string, { agent_id }: { agent_id: string }) => agent_id;');
  const { out, errors, code } = await run(home.path, 'test', 'message:inbound', '--payload', '{"text":"bad"}', '--agent', 'support', '--json');
  const tried = JSON.parse(out) as { trials: { hook: string; answer: unknown }[]; outcome: unknown; decisions: unknown };
  assert.deepEqual(tried.trials.map(({ hook, answer }) => [hook, answer]), [['guard', { decision: 'drop', reason: 'bad' }], ['watch', 'support']]);
  assert.deepEqual(tried.outcome, { type: 'drop', by: 'guard', reason: 'bad' });
  assert.deepEqual(tried.decisions, [{ step: 'hook guard', verdict: 'message:inbound: dropped, bad' }]);
  assert.deepEqual([errors, code], ['guard: saw bad undefined\n', 0]);
  assert.match((await run(home.path, 'test', 'message:inbound', '--hook', 'guard')).out, /guard +decides .*null\n\nOutcome: .*"pass"/);
  assert.equal((await run(home.path, 'test', 'agent:end')).out, 'No hook listens to agent:end.\n');
});

test('a hook that fails, or answers what is no answer, makes the command fail', async () => {
  await using home = await temporaryHome();
  await install(home.path, 'a', 'events: [command:*]\ntimeout: 10', 'export const handle = () => { throw new Error("broken"); };');
  await install(home.path, 'b', 'events: [command:*]\ntimeout: 10', 'export const handle = () => "yes";');
  const { out, code } = await run(home.path, 'test', 'command:new');
  assert.match(out, /a +decides .*✗ Error: broken/);
  assert.match(out, /b +decides .*✗ its answer is not a decision about a command/);
  assert.equal(code, 1);
});

test('what is no event, no payload or no hook is refused with what would be one', async () => {
  await using home = await temporaryHome();
  await assert.rejects(run(home.path, 'test', 'command'), /command is no event. There are: gateway:startup/);
  await assert.rejects(run(home.path, 'test', 'agent:end', '--payload', '{'), /not JSON/);
  await assert.rejects(run(home.path, 'test', 'agent:end', '--payload', '[]'), /JSON object/);
  await assert.rejects(run(home.path, 'test', 'agent:end', '--hook', 'ghost'), /There is no hook ghost/);
});
