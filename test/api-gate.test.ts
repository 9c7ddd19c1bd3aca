import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type OpenAI from 'openai';
import { traceMessage } from '../src/store/messages/trace.ts';
import { startApiGateway } from './support/api-gateway.ts';
import type { ApiGateway } from './support/api-gateway.ts';
import { heldAnswer } from './support/scenes.ts';
import { newWorld, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

/** Writes a hook into the world's home, with time enough for a slow machine. */
const install = async (world: World, name: string, events: readonly string[], body: string): Promise<void> => {
  const folder = join(world.home, 'hooks', name);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'HOOK.yaml'), JSON.stringify({ timeout: 10, events }));
  await writeFile(join(folder, 'handler.ts'), `export const handle = (event: string, context: Record<string, string>) => { ${body} };`);
};

const chat = (content: string) => ({ model: 'hermes', messages: [{ role: 'user', content }] });
const said = async (response: Response): Promise<string | null | undefined> => {
  assert.equal(response.status, 200, await response.clone().text());
  return ((await response.json()) as OpenAI.ChatCompletion).choices[0]?.message.content;
};
const codeOf = async (response: Response): Promise<readonly [number, string, string]> => {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return [response.status, error.code, error.message];
};

/** The ways to say something: of which nothing is kept, in a conversation, as a response and as a run. */
const ways = (api: ApiGateway): Readonly<Record<string, (content: string) => Promise<string | null | undefined>>> => ({
  stateless: async (content) => said(await api.post('/v1/chat/completions', chat(content))),
  session: async (content) => said(await api.post('/v1/chat/completions', chat(content), { 'x-hermes-session-key': 'k' })),
  async response(content) {
    const made = (await (await api.post('/v1/responses', { model: 'hermes', input: content })).json()) as { output: readonly { content: readonly { text: string }[] }[] };
    return made.output[0]?.content[0]?.text;
  },
  async run(content) {
    const { run_id } = (await (await api.post('/v1/runs', { input: content })).json()) as { run_id: string };
    await (await api.ask(`/v1/runs/${run_id}/events`)).text();
    return ((await (await api.ask(`/v1/runs/${run_id}`)).json()) as { output: string }).output;
  },
});

describe('calls of the API pass what every message passes', { concurrency: true }, () => {
  test('hooks see and change what is said and what is answered, whatever the way', async () => {
    await using world = await newWorld();
    await install(world, 'spelling', ['message:inbound'], "return { decision: 'replace', text: context.text.replace('teh', 'the') };");
    await install(world, 'leaks', ['message:outbound'], "return { decision: 'replace', text: context.text.replace('hunter2', '***') };");
    await using api = await startApiGateway({ world });
    for (const [name, say] of Object.entries(ways(api))) assert.equal(await say('teh password is hunter2'), 're: the password is ***', name);
    const streamed = await (await api.post('/v1/chat/completions', { ...chat('it is hunter2'), stream: true })).text();
    assert.match(streamed, /it is \*\*\*/);
    assert.doesNotMatch(streamed, /hunter2/);
  });

  test('a hook refuses a call, in its own words, and the model is not asked', async () => {
    await using world = await newWorld();
    await install(world, 'rude', ['message:inbound'], "if (context.text.includes('rude')) return { decision: 'drop', reason: 'it is rude', message: 'Please be kind.' };");
    await using api = await startApiGateway({ world });
    for (const [path, body] of [['/v1/chat/completions', chat('a rude word')], ['/v1/responses', { input: 'a rude word' }], ['/v1/runs', { input: 'a rude word' }]] as const) {
      assert.deepEqual(await codeOf(await api.post(path, body)), [403, 'message_refused', 'Please be kind.'], path);
    }
    assert.equal(world.model.requests.length, 0);
  });

  test('an answer that a hook withholds is empty, now and when it is looked up later', async () => {
    await using world = await newWorld();
    await install(world, 'mute', ['message:outbound'], "return { decision: 'drop', reason: 'quiet' };");
    await using api = await startApiGateway({ world });
    assert.equal(await ways(api)['stateless']?.('hello'), '');
    assert.equal(await ways(api)['run']?.('hello'), '');
  });

  test('the select_agent hook says who answers, but not where the client does', async () => {
    await using world = await newWorld();
    await world.configure({ agents: { support: {}, sales: {} }, model: { provider: 'openai', default: 'sim-1', base_url: world.model.baseUrl, api_key: 'sk-simulated-model-key' } });
    await install(world, 'router', ['select_agent'], "if (context.text.includes('broken')) return { agent: 'support' };");
    await using api = await startApiGateway({ world });
    const agentOf = async (body: object): Promise<unknown> => {
      const { run_id, session_id } = (await (await api.post('/v1/runs', body)).json()) as { run_id: string; session_id: string };
      await (await api.ask(`/v1/runs/${run_id}/events`)).text();
      const decisions = (await api.inside.store.read((db) => traceMessage(db, run_id)))[0]?.arrival?.decisions ?? [];
      assert.ok(decisions.some(({ step }) => step === 'agent'));
      return ((await (await api.ask(`/api/sessions/${session_id}`)).json()) as { session: { agent: string } }).session.agent;
    };
    assert.equal(await agentOf({ input: 'It is broken!' }), 'support');
    assert.equal(await agentOf({ input: 'It works.' }), 'main');
    assert.equal(await agentOf({ input: 'It is broken!', model: 'hermes/sales' }), 'sales');
  });

  test('calls of which nothing is kept count towards what their agent may do at once, and make conversations wait', async () => {
    await using world = await newWorld();
    await world.configure({ agents: { support: { max_concurrent_turns: 1 } }, model: { provider: 'openai', default: 'sim-1', base_url: world.model.baseUrl, api_key: 'sk-simulated-model-key' } });
    await using api = await startApiGateway({ world });
    const ask = (content: string, headers = {}) => api.post('/v1/chat/completions', { ...chat(content), model: 'hermes/support' }, headers);
    const slow = heldAnswer();
    world.model.next(slow.answer);
    const first = ask('one');
    await until(() => world.model.requests.length === 1, 'the first to be asked');
    const others = [ask('two'), ask('three', { 'x-hermes-session-key': 'k' })];
    const { run_id } = (await (await api.post('/v1/runs', { input: 'of another agent' })).json()) as { run_id: string };
    await (await api.ask(`/v1/runs/${run_id}/events`)).text();
    assert.equal(world.model.requests.length, 2, 'other agents do not wait');
    slow.open();
    for (const response of [await first, ...(await Promise.all(others))]) assert.equal(response.status, 200);
    assert.equal(world.model.requests.length, 4);
  });
});
