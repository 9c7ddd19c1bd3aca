import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { calls, says, status } from '../src/agent/models/chat-simulator.ts';
import type { Answer } from '../src/agent/models/chat-simulator.ts';
import { ownerKey, startApiGateway } from '../test/support/api-gateway.ts';
import type { ApiGateway } from '../test/support/api-gateway.ts';
import { lastUserText, newWorld } from '../test/support/whole.ts';
import { fixtureOf } from './client-fixture.ts';
import { startRecorder } from './recorder.ts';
import type { Recorder } from './recorder.ts';

/**
 * Tries the API with command line programs that are not ours: codex over the Responses API, opencode over both. They come from the npm registry into a temporary folder; the model is
 * simulated. Run by hand: `node bench/clients-trial.ts`, with `--record` to write what they have asked to test/fixtures/api-clients, from where the tests ask it again.
 */
const versions = { codex: '0.166.0', opencode: '1.18.33' };
const fixtures = new URL('../test/fixtures/api-clients/', import.meta.url);

const report = (what: string, ok: boolean, more = ''): void => {
  if (!ok) process.exitCode = 1;
  console.log(`${ok ? '✔' : '✖'} ${what}${ok || more === '' ? '' : `\n    ${more.trim().replaceAll('\n', '\n    ')}`}`);
};

/** A user of their own, so that nothing of whoever runs this is read or sent. */
interface Desk {
  readonly folder: string;
  readonly home: string;
  readonly project: string;
}

const install = async (folder: string): Promise<void> => {
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', `@openai/codex@${versions.codex}`, `opencode-ai@${versions.opencode}`], { cwd: folder });
};

const newDesk = async (folder: string, name: string): Promise<Desk> => {
  const desk = { folder, home: join(folder, name, 'home'), project: join(folder, name, 'project') };
  await mkdir(desk.home, { recursive: true });
  await mkdir(desk.project, { recursive: true });
  return desk;
};

const patienceMs = 120_000;

const run = (desk: Desk, program: string, options: { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }): Promise<string> =>
  new Promise((resolve) => {
    const env = { PATH: process.env['PATH'], HOME: desk.home, ...options.env };
    const child = spawn(join(desk.folder, 'node_modules', '.bin', program), options.args, { cwd: desk.project, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: patienceMs });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.once('close', () => resolve(output));
  });

const overflow = status(400, { error: { message: 'maximum context length', code: 'context_length_exceeded' } });

/** It writes a file with the client's own tool when it is asked to, fails when it is asked to, and otherwise says what it has heard last. */
const modelThatWrites =
  (writes: { readonly name: string; readonly arguments: string }): Answer =>
  (response, request) => {
    const { messages, tools } = request.body;
    const canWrite = JSON.stringify(tools ?? []).includes(`"${writes.name}"`);
    if (messages.at(-1)?.['role'] === 'tool') return says('It is written.')(response, request);
    const heard = lastUserText(request.body);
    if (heard.includes('data:image/')) return says('I see a picture.')(response, request);
    if (heard.includes('please fail')) return overflow(response, request);
    if (canWrite && heard.includes('write it')) return calls({ id: 'call_write', ...writes })(response, request);
    return says(`I heard: ${heard.trimEnd().split('\n').at(-1)?.slice(-60)}`)(response, request);
  };

const heardBy = (api: ApiGateway): string => JSON.stringify(api.world.model.requests.at(-1)?.body.messages);

interface Stage {
  readonly name: string;
  readonly desk: Desk;
  readonly writes: { readonly name: string; readonly arguments: string };
  /** Runs the client with these words, in a new conversation or in the last one. */
  ask(url: string, words: string, more?: { readonly goesOn?: boolean; readonly picture?: string }): Promise<string>;
}

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const play = async (stage: Stage, api: ApiGateway, recorder: Recorder): Promise<void> => {
  const { name, desk, writes } = stage;
  api.world.model.otherwise(modelThatWrites(writes));
  const hello = await stage.ask(recorder.url, 'hello hermes');
  report(`${name} gets an answer`, /I heard: .*hello hermes/.test(hello), hello);
  const written = await stage.ask(recorder.url, 'please write it');
  const file = await readFile(join(desk.project, 'proof.txt'), 'utf8').catch(() => undefined);
  report(`${name} runs its own tool, and goes on with the result`, file?.trim() === 'proof' && written.includes('It is written.'), `${written}\n${String(file)}`);
  const later = await stage.ask(recorder.url, 'what was it?', { goesOn: true });
  report(`${name} continues a conversation, calls and all`, later.includes('what was it?') && ['please write it', 'call_write', 'It is written.'].every((each) => heardBy(api).includes(each)), `${later}\n${heardBy(api)}`);
  const picture = join(desk.project, 'dot.png');
  await writeFile(picture, Buffer.from(png, 'base64'));
  await stage.ask(recorder.url, 'what is this?', { picture });
  report(`${name} shows a picture`, heardBy(api).includes('data:image/png;base64,'), heardBy(api).slice(-500));
  const before = recorder.exchanges.length;
  const failed = await stage.ask(recorder.url, 'please fail');
  report(`${name} is told of a failure`, recorder.exchanges.slice(before).every((exchange) => exchange.status === 400) && failed.includes('no longer fits into the model'), failed);
  const refused = recorder.exchanges.slice(0, before).filter((exchange) => exchange.status !== 200);
  report(`${name} asked nothing that was refused`, refused.length === 0, JSON.stringify(refused).slice(0, 2000));
  const kept = await api.inside.store.read((db) => db.q.selectFrom('sessions').select('id').execute());
  console.log(`  ${recorder.exchanges.length} requests, ${kept.length} conversations kept`);
};

const codexConfig = (url: string, wire: readonly string[]): string => `model = "hermes"
model_provider = "hermes"
[model_providers.hermes]
name = "Hermes"
base_url = "${url}/v1"
env_key = "HERMES_API_KEY"
${wire.join('\n')}
`;

const codex = (desk: Desk, ...wire: readonly string[]): Stage => ({
  name: 'codex',
  desk,
  writes: { name: 'exec_command', arguments: JSON.stringify({ cmd: 'echo proof > proof.txt' }) },
  async ask(url, words, { goesOn = false, picture } = {}) {
    await writeFile(join(desk.home, 'config.toml'), codexConfig(url, wire));
    const args = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', ...(goesOn ? ['resume', '--last'] : []), ...(picture === undefined ? [] : [`--image=${picture}`]), words];
    return run(desk, 'codex', { args, env: { CODEX_HOME: desk.home, HERMES_API_KEY: ownerKey, RUST_LOG: 'codex_api=info' } });
  },
});

const opencodeConfig = (url: string, npm: string): string =>
  JSON.stringify({
    model: 'hermes/hermes',
    small_model: 'hermes/hermes',
    provider: { hermes: { npm, name: 'Hermes', options: { baseURL: `${url}/v1`, apiKey: ownerKey }, models: { hermes: { name: 'Hermes', attachment: true, modalities: { input: ['text', 'image'], output: ['text'] } } } } },
    autoupdate: false,
    share: 'disabled',
  });

const opencode = (desk: Desk, npm: string): Stage => ({
  name: `opencode with ${npm}`,
  desk,
  writes: { name: 'write', arguments: JSON.stringify({ filePath: join(desk.project, 'proof.txt'), content: 'proof\n' }) },
  ask: (url, words, { goesOn = false, picture } = {}) =>
    run(desk, 'opencode', { args: ['run', ...(goesOn ? ['--continue'] : []), words, ...(picture === undefined ? [] : ['--file', picture])], env: { OPENCODE_CONFIG_CONTENT: opencodeConfig(url, npm) } }),
});

const tryStage = async (stage: Stage, fixture: string): Promise<void> => {
  await using world = await newWorld();
  await world.configure({ model: { provider: 'openai', default: 'sim-1', base_url: world.model.baseUrl, api_key: 'sk-simulated-model-key', max_retries: 0 } });
  await using api = await startApiGateway({ world });
  await using recorder = await startRecorder(api.url);
  await play(stage, api, recorder);
  if (!process.argv.includes('--record')) return;
  const scrubbed = fixtureOf(recorder.exchanges, { folders: { [stage.desk.project]: '/project', [stage.desk.home]: '/home/user', [stage.desk.folder]: '/programs' }, secrets: [ownerKey] });
  await writeFile(new URL(`${fixture}.json`, fixtures), `[\n${scrubbed.map((request) => JSON.stringify(request)).join(',\n')}\n]\n`);
};

/** Not recorded: over a socket there are messages, not requests. */
const trySocket = async (stage: Stage): Promise<void> => {
  await using api = await startApiGateway();
  api.world.model.otherwise(modelThatWrites(stage.writes));
  const written = await stage.ask(api.url, 'please write it');
  const file = await readFile(join(stage.desk.project, 'proof.txt'), 'utf8').catch(() => undefined);
  report('codex runs its own tool over a WebSocket', file?.trim() === 'proof' && written.includes('connected to Responses WebSocket') && written.includes('It is written.'), written);
};

const folder = await mkdtemp(join(tmpdir(), 'hermes-clients-trial-'));
try {
  await install(folder);
  const responses = 'wire_api = "responses"';
  await tryStage(codex(await newDesk(folder, 'codex'), responses), 'codex');
  await trySocket(codex(await newDesk(folder, 'codex-socket'), responses, 'supports_websockets = true'));
  const chat = await codex(await newDesk(folder, 'codex-chat'), 'wire_api = "chat"').ask('http://127.0.0.1:9', 'hello');
  report('codex no longer speaks chat completions', chat.includes('`wire_api = "chat"` is no longer supported'), chat);
  await tryStage(opencode(await newDesk(folder, 'opencode-chat'), '@ai-sdk/openai-compatible'), 'opencode-chat');
  await tryStage(opencode(await newDesk(folder, 'opencode-responses'), '@ai-sdk/openai'), 'opencode-responses');
} finally {
  await rm(folder, { recursive: true, force: true });
}
