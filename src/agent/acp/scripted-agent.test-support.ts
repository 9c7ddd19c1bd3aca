import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { agent, ndJsonStream, RequestError } from '@agentclientprotocol/sdk';
import type { AgentContext, ContentBlock, PromptResponse, RequestPermissionResponse, SessionUpdate } from '@agentclientprotocol/sdk';

/**
 * An agent made with the protocol's own library. It does what the last line of a prompt says, and writes down in its folder what it was told:
 * `told.jsonl` has every session and prompt, so that another run of it knows them again.
 */
interface Told {
  readonly session: string;
  readonly prompt?: readonly ContentBlock[];
  readonly event?: string;
}

const abilities = (process.env['ABILITIES'] ?? '').split(',');
const write = (told: Told): void => appendFileSync('told.jsonl', `${JSON.stringify(told)}\n`);
const read = (): Told[] => (existsSync('told.jsonl') ? readFileSync('told.jsonl', 'utf8').trim().split('\n').map((line) => JSON.parse(line) as Told) : []);
const cancels = new Map<string, AbortController>();
const folders = new Map<string, string>();

const lastLine = (prompt: readonly ContentBlock[]): string => prompt.flatMap((block) => (block.type === 'text' ? [block.text] : [])).at(-1)?.split('\n').at(-1) ?? '';

const until = (signal: AbortSignal): Promise<void> => new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

interface Scene {
  readonly client: AgentContext;
  readonly session: string;
  readonly words: string;
  readonly prompt: readonly ContentBlock[];
  readonly signal: AbortSignal;
  tell(update: SessionUpdate): Promise<void>;
  say(text: string): Promise<void>;
}

const ask = async ({ client, session, tell, words, say }: Scene): Promise<void> => {
  const command = words.slice('ask '.length);
  const toolCall = { toolCallId: 'c1', title: command, kind: 'execute' as const, rawInput: { command } };
  await tell({ sessionUpdate: 'tool_call', ...toolCall, status: 'pending' });
  const { outcome }: RequestPermissionResponse = await client.request('session/request_permission', {
    sessionId: session,
    toolCall,
    options: [
      { optionId: 'o', kind: 'allow_once', name: 'Allow once' },
      { optionId: 'a', kind: 'allow_always', name: 'Always' },
      { optionId: 'r', kind: 'reject_once', name: 'Reject' },
    ],
  });
  const choice = outcome.outcome === 'selected' ? outcome.optionId : outcome.outcome;
  write({ session, event: `permission ${choice}` });
  await tell({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: choice === 'r' || choice === 'cancelled' ? 'failed' : 'completed' });
  await say(`It was ${choice}.`);
};

const useTool = async ({ tell, say }: Scene): Promise<void> => {
  await tell({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'Hm.' } });
  await say('Let me look. ');
  await tell({ sessionUpdate: 'plan', entries: [] });
  await tell({ sessionUpdate: 'tool_call', toolCallId: 'c1', title: 'read', kind: 'read', status: 'pending' });
  await tell({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'in_progress', title: 'Read a.txt', rawInput: { path: 'a.txt' } });
  await tell({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed', content: [{ type: 'content', content: { type: 'text', text: 'contents of a' } }] });
  await say('It says a.');
};

const acts: Readonly<Record<string, (scene: Scene) => Promise<PromptResponse['stopReason'] | void>>> = {
  echo: ({ say, words }) => say(words.slice('echo '.length)),
  blocks: ({ say, prompt }) => say(prompt.map((block) => block.type).join(',')),
  ask,
  tool: useTool,
  async wait({ say, signal }) {
    await say('So far.');
    if (!abilities.includes('stubborn')) await until(signal);
    else await new Promise(() => setInterval(() => undefined, 60_000));
    return 'cancelled';
  },
  async crash({ say }) {
    await say('Half an ans');
    process.exit(3);
  },
  async huge({ say, signal }) {
    while (!signal.aborted) await say('x'.repeat(60_000));
    return 'cancelled';
  },
  nothing: async () => undefined,
  refuse: async () => 'refusal',
  async login() {
    throw RequestError.authRequired();
  },
  async fail() {
    throw RequestError.internalError(undefined, 'no credit left');
  },
  async read({ client, session, say, words }) {
    const asked = client.request('fs/read_text_file', { sessionId: session, path: words.slice('read '.length) });
    await say(await asked.then(({ content }) => content, (error: unknown) => (error as Error).message));
  },
  async write({ client, session, say, words }) {
    const asked = client.request('fs/write_text_file', { sessionId: session, path: words.slice('write '.length), content: 'written' });
    await say(await asked.then(() => 'ok', (error: unknown) => (error as Error).message));
  },
  folder: ({ say, session }) => say(folders.get(session) ?? ''),
  async environment({ say }) {
    await say(Object.keys(process.env).toSorted().join(','));
  },
};

const knows = (session: string): void => {
  if (!read().some((told) => told.session === session)) throw RequestError.sessionNotFound(session);
  write({ session, event: 'taken up' });
};

const app = agent({ name: 'scripted' })
  .onRequest('initialize', () => ({
    protocolVersion: 1,
    agentInfo: { name: 'scripted', version: '1' },
    agentCapabilities: { loadSession: abilities.includes('load'), promptCapabilities: { image: abilities.includes('image') }, sessionCapabilities: abilities.includes('resume') ? { resume: {} } : {} },
  }))
  .onRequest('session/new', async ({ params }) => {
    if (abilities.includes('mute')) {
      write({ session: '', event: 'mute' });
      await new Promise(() => setInterval(() => undefined, 60_000));
    }
    const session = `s${read().filter((told) => told.event === 'new').length + 1}`;
    write({ session, event: 'new' });
    folders.set(session, params.cwd);
    return { sessionId: session };
  })
  .onRequest('session/resume', ({ params }) => {
    knows(params.sessionId);
    return {};
  })
  .onRequest('session/load', async ({ params, client }) => {
    knows(params.sessionId);
    await client.notify('session/update', { sessionId: params.sessionId, update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'said long ago' } } });
  })
  .onNotification('session/cancel', ({ params }) => {
    write({ session: params.sessionId, event: 'cancel' });
    cancels.get(params.sessionId)?.abort();
  })
  .onRequest('session/prompt', async ({ params, client }): Promise<PromptResponse> => {
    const { sessionId: session, prompt } = params;
    write({ session, prompt });
    const cancel = new AbortController();
    cancels.set(session, cancel);
    const words = lastLine(prompt);
    const tell = (update: SessionUpdate): Promise<void> => client.notify('session/update', { sessionId: session, update });
    const say = (text: string): Promise<void> => tell({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
    const act = acts[words.split(' ')[0] ?? ''] ?? acts['echo'];
    const stopReason = (await act?.({ client, session, words, prompt, signal: cancel.signal, tell, say })) ?? 'end_turn';
    await tell({ sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount: 0.25 * read().filter((told) => told.prompt !== undefined && told.session === session).length, currency: 'USD' } });
    return { stopReason, usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } } as PromptResponse;
  });

process.stderr.write('scripted agent is up\n');
if (abilities.includes('broken')) process.exit(1);
const connection = app.connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>));
await connection.closed;
process.exit(0);
