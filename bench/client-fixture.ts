import type { Exchange } from './recorder.ts';

/** A request of a client as the tests ask it again, and what the model had to say to it. */
export interface RecordedRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly answer: { readonly text: string; readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[] };
}

export interface Scrubbing {
  /** Folders of this machine, and what stands for them. */
  readonly folders: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
}

/** Longer texts are the clients' own prompts: their form matters here, not their words. */
const longest = 160;

/** What says nothing about the client, or something about the machine. */
const dropped: ReadonlySet<string> = new Set(['host', 'connection', 'content-length', 'authorization', 'accept-encoding']);

const scrubText = (text: string, { folders, secrets }: Scrubbing): string => {
  let clean = text;
  for (const [folder, name] of Object.entries(folders)) clean = clean.replaceAll(folder, name);
  for (const secret of secrets) clean = clean.replaceAll(secret, '<secret>');
  clean = clean.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '00000000-0000-4000-8000-000000000000').replaceAll(/ses_\w+/g, 'ses_0');
  return clean.length > longest && !clean.startsWith('data:') ? `${clean.slice(0, longest)}...` : clean;
};

const scrub = (value: unknown, how: Scrubbing): unknown => {
  if (typeof value === 'string') return scrubText(value, how);
  if (Array.isArray(value)) return value.map((each) => scrub(each, how));
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, scrub(each, how)])) : value;
};

interface Chunk {
  readonly choices?: readonly { readonly delta: { readonly content?: string; readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string; readonly arguments: string } }[] } }[];
  readonly type?: string;
  readonly delta?: string;
  readonly item?: { readonly type: string; readonly call_id: string; readonly name: string; readonly arguments: string };
}

/** The text and the calls of a streamed answer of either API. */
export const streamedAnswer = (stream: string): RecordedRequest['answer'] => {
  const frames = stream.split('\n').flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice('data: '.length)) as Chunk] : []));
  const deltas = frames.flatMap(({ choices = [] }) => choices.map(({ delta }) => delta));
  const spoken = frames.flatMap(({ type, delta }) => (type === 'response.output_text.delta' ? [delta ?? ''] : []));
  const items = frames.flatMap(({ type, item }) => (type === 'response.output_item.done' && item?.type === 'function_call' ? [{ id: item.call_id, name: item.name, arguments: item.arguments }] : []));
  return {
    text: [...deltas.map(({ content = '' }) => content), ...spoken].join(''),
    calls: [...deltas.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id, function: { name, arguments: given } }) => ({ id, name, arguments: given }))), ...items],
  };
};

/** What a client has asked and was answered, without the machine that it was on. */
export const fixtureOf = (exchanges: readonly Exchange[], how: Scrubbing): readonly RecordedRequest[] =>
  exchanges
    .filter((exchange) => exchange.status === 200 && exchange.method === 'POST')
    .map(({ path, headers, body, answer }) => ({
      path,
      headers: Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (dropped.has(name) || typeof value !== 'string' ? [] : [[name, scrubText(value, how)]]))),
      body: scrub(JSON.parse(body), how) as RecordedRequest['body'],
      answer: scrub(streamedAnswer(answer), how) as RecordedRequest['answer'],
    }));
