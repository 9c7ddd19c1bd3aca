import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { calls, says } from '../src/agent/models/chat-simulator.ts';
import type { Answer } from '../src/agent/models/chat-simulator.ts';
import { newWorld, startInside, until } from '../test/support/whole.ts';
import type { World } from '../test/support/whole.ts';

/**
 * Tries the Agent Client Protocol with programs that are not ours, both ways: the client acpx in front of `hermes acp`, and the agent opencode behind
 * a Telegram chat. Both come from the npm registry into a temporary folder; the model is simulated. Run by hand: `node bench/acp-trial.ts`.
 */
const launcher = fileURLToPath(new URL('../bin/hermes.js', import.meta.url));
const packages = ['acpx@latest', 'opencode-ai@latest'];

const report = (what: string, ok: boolean, more = ''): void => {
  if (!ok) process.exitCode = 1;
  console.log(`${ok ? '✔' : '✖'} ${what}${more === '' ? '' : `\n    ${more.trim().replaceAll('\n', '\n    ')}`}`);
};

const install = async (folder: string): Promise<void> => {
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', ...packages], { cwd: folder });
  for (const name of ['acpx', 'opencode-ai']) {
    const { version } = JSON.parse(await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8')) as { version: string };
    console.log(`${name} ${version}`);
  }
};

const run = (program: string, args: readonly string[], options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }): Promise<string> =>
  new Promise((resolve) => {
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.once('close', () => resolve(output));
  });

const removing = (id: string): Answer => calls({ id, name: 'terminal', arguments: JSON.stringify({ command: 'rm -rf ./nothing-here' }) });

const lastResult = (world: World): string => JSON.stringify(world.model.requests.at(-1)?.body.messages.findLast(({ role }) => role === 'tool') ?? '');

/** A real client in front of our agent. */
const tryClient = async (folder: string, project: string): Promise<void> => {
  await using world = await newWorld();
  const env = { ...process.env, ...world.env, HOME: join(folder, 'user') };
  const acpx = (...args: readonly string[]): Promise<string> => run(join(folder, 'node_modules', '.bin', 'acpx'), ['--agent', `${process.execPath} ${launcher} acp`, ...args], { cwd: project, env });
  const answer = await acpx('exec', 'hello hermes');
  report('acpx exec gets an answer from hermes acp', answer.includes('re: [I am writing from an editor') && answer.includes('[done] end_turn'), answer);
  world.model.next(removing('c1'), says('Cleaned.'));
  const approved = await acpx('--approve-all', 'exec', 'clean up');
  report('its approval runs the command', lastResult(world).includes('exit_code') && approved.includes('Cleaned.'), lastResult(world));
  world.model.next(removing('c2'), says('Not cleaned.'));
  await acpx('--deny-all', 'exec', 'clean up');
  report('its refusal does not', lastResult(world).includes('The person said no'), lastResult(world));
  await acpx('sessions', 'new');
  await acpx('prompt', 'remember the milk');
  const later = await acpx('prompt', 'what was it?');
  report('a session goes on', JSON.stringify(world.model.requests.at(-1)?.body.messages).includes('remember the milk'), later);
  await acpx('sessions', 'close');
};

const opencodeConfig = (baseUrl: string): string =>
  JSON.stringify({
    model: 'sim/sim-1',
    small_model: 'sim/sim-1',
    provider: { sim: { npm: '@ai-sdk/openai-compatible', name: 'Simulated', options: { baseURL: baseUrl, apiKey: 'none' }, models: { 'sim-1': { name: 'Simulated' } } } },
    permission: { bash: 'ask', edit: 'ask' },
    autoupdate: false,
    share: 'disabled',
  });

/** Its model: it writes a file when it is asked to, and otherwise repeats what was said. */
const opencodeModel: Answer = (response, request) => {
  const { messages, tools } = request.body;
  const last = messages.at(-1);
  const said = messages.findLast(({ role }) => role === 'user')?.['content'];
  const text = typeof said === 'string' ? said : JSON.stringify(said);
  const canRun = JSON.stringify(tools ?? []).includes('"bash"');
  if (canRun && last?.['role'] === 'user' && text.includes('write it')) return calls({ id: 'w1', name: 'bash', arguments: JSON.stringify({ command: 'echo proof > proof.txt', description: 'writes a file' }) })(response, request);
  return says(last?.['role'] === 'tool' ? 'It is written.' : `opencode heard: ${text.slice(-200)}`)(response, request);
};

const shows = (world: World, text: string): Promise<void> => until(() => world.shown().some((each) => each.includes(text)), `“${text}” in the chat; there is: ${JSON.stringify(world.shown())}`, 60_000);

/** A real agent behind one of our platforms. */
const tryAgent = async (folder: string, project: string): Promise<void> => {
  await using world = await newWorld();
  world.model.otherwise(opencodeModel);
  const command = [join(folder, 'node_modules', '.bin', 'opencode'), 'acp'];
  await world.configure({ agent: { kind: 'acp', command, cwd: project, env: { HOME: join(folder, 'user'), OPENCODE_CONFIG_CONTENT: opencodeConfig(world.model.baseUrl) } } });
  {
    await using _gateway = await startInside(world);
    await world.say('hello opencode');
    await shows(world, 'opencode heard: hello opencode');
    report('opencode acp answers in Telegram', true, world.shown().at(-1));
    await world.say('please write it');
    await until(() => world.telegram.visible('7').some(({ choices }) => choices.length > 0), 'a question with buttons', 60_000);
    const question = world.telegram.visible('7').find(({ choices }) => choices.length > 0);
    report('its permission request is a question with buttons', question !== undefined, `${question?.text ?? ''}\n${(question?.choices ?? []).map(({ label }) => `[${label}]`).join(' ')}`);
    await world.telegram.press('7', question?.id ?? '', question?.choices[0]?.data ?? '', '7');
    await shows(world, 'It is written.');
    report('a button allows it', (await readFile(join(project, 'proof.txt'), 'utf8')) === 'proof\n');
  }
  await using _again = await startInside(world);
  await world.say('are you still there?');
  await shows(world, 'are you still there?');
  const messages = JSON.stringify(world.model.requests.at(-1)?.body.messages);
  report('after a restart of the gateway it goes on in its own session', messages.includes('hello opencode') && !messages.includes('This conversation began before'));
};

const folder = await mkdtemp(join(tmpdir(), 'hermes-acp-trial-'));
try {
  const project = join(folder, 'project');
  await mkdir(project);
  await mkdir(join(folder, 'user'));
  await install(folder);
  await tryClient(folder, project);
  await tryAgent(folder, project);
} finally {
  await rm(folder, { recursive: true, force: true });
}
