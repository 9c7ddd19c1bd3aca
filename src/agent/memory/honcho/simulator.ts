import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

interface Message {
  readonly id: string;
  readonly content: string;
  readonly peer_id: string;
  readonly session_id: string;
  readonly workspace_id: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created_at: string;
  readonly token_count: number;
}

interface Conclusion {
  readonly id: string;
  readonly content: string;
  readonly observer_id: string;
  readonly observed_id: string;
  readonly session_id: string | null;
  readonly level: 'explicit';
  readonly created_at: string;
}

interface Session {
  metadata: Readonly<Record<string, unknown>>;
  readonly peers: Set<string>;
  readonly messages: Message[];
}

interface Workspace {
  readonly peers: Set<string>;
  readonly sessions: Map<string, Session>;
  readonly conclusions: Conclusion[];
  readonly cards: Map<string, readonly string[]>;
}

export type Fault =
  | { readonly type: 'status'; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  /** Accepts the connection and never answers. */
  | { readonly type: 'silence' }
  /** Answers when the promise resolves. */
  | { readonly type: 'held'; readonly until: Promise<void> }
  /** Does what it was asked and breaks the connection instead of saying so. */
  | { readonly type: 'lost_answer' }
  | { readonly type: 'garbage' };

/** A Honcho server over its real HTTP protocol (v3). It remembers literally and concludes nothing by itself. */
export interface HonchoSimulator extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly { readonly method: string; readonly path: string }[];
  workspace(id: string): Workspace | undefined;
  /** What happens to the next requests whose path matches, one each. */
  fail(path: RegExp, ...faults: readonly Fault[]): void;
}

class Refusal extends Error {
  readonly status: number;

  constructor(status: number, detail: string) {
    super(detail);
    this.status = status;
  }
}

const name = z.string().regex(/^[a-zA-Z0-9_-]{1,512}$/);
const metadata = z.record(z.string(), z.unknown()).nullish();
const bodies = {
  named: z.object({ id: name, metadata }),
  session: z.object({ id: name, metadata, peers: z.record(name, z.object({ observe_me: z.boolean().nullish(), observe_others: z.boolean().nullish() })).nullish() }),
  described: z.object({ metadata }),
  messages: z.object({ messages: z.array(z.object({ peer_id: name, content: z.string().max(25_000), metadata, created_at: z.iso.datetime({ offset: true }).nullish() })).min(1).max(100) }),
  list: z.object({ filters: z.object({ metadata: z.record(z.string(), z.unknown()).optional() }).nullish() }),
  search: z.object({ query: z.string().min(1), limit: z.number().int().min(1).max(100).optional() }),
  chat: z.object({ query: z.string().min(1).max(10_000), stream: z.boolean().optional(), session_id: name.nullish() }),
  conclusions: z.object({ conclusions: z.array(z.object({ content: z.string().min(1), observer_id: name, observed_id: name, session_id: name.nullish() })).min(1) }),
  query: z.object({ query: z.string().min(1), top_k: z.number().int().min(1).max(100).optional(), filters: z.object({ observer_id: name.optional(), observed_id: name.optional() }).nullish() }),
  card: z.object({ peer_card: z.array(z.string()) }),
};

const readText = async (incoming: IncomingMessage): Promise<string> => {
  const pieces: Uint8Array[] = [];
  for await (const piece of incoming) pieces.push(piece as Uint8Array);
  return Buffer.concat(pieces).toString();
};

const parse = <T>(schema: z.ZodType<T>, body: unknown): T => {
  const result = schema.safeParse(body ?? {});
  if (result.success) return result.data;
  throw new Refusal(422, z.prettifyError(result.error));
};

/** Stands in for search by meaning: something is found when it shares a word. */
const shares = (text: string, query: string): boolean => {
  const words = new Set(text.toLowerCase().split(/\W+/));
  return query.toLowerCase().split(/\W+/).some((word) => word.length > 2 && words.has(word));
};

const now = (): string => new Date().toISOString();

interface Scene {
  readonly space: Workspace;
  readonly workspaceId: string;
  readonly ids: readonly string[];
  readonly query: URLSearchParams;
  readonly body: unknown;
}

type Route = readonly [method: string, path: RegExp, answer: (scene: Scene) => unknown];

const sessionOf = ({ space, ids }: Scene): Session => space.sessions.get(ids[0] ?? '') ?? refuse(404, 'Session not found');
const refuse = (status: number, detail: string): never => {
  throw new Refusal(status, detail);
};

const sessionAnswer = ({ workspaceId }: Scene, id: string, session: Session) => ({ id, workspace_id: workspaceId, is_active: true, metadata: session.metadata, configuration: {}, created_at: now() });

const openSession = (scene: Scene): unknown => {
  const wanted = parse(bodies.session, scene.body);
  const session = scene.space.sessions.get(wanted.id) ?? { metadata: {}, peers: new Set<string>(), messages: [] };
  if (wanted.metadata != null) session.metadata = wanted.metadata;
  for (const peer of Object.keys(wanted.peers ?? {})) {
    scene.space.peers.add(peer);
    session.peers.add(peer);
  }
  scene.space.sessions.set(wanted.id, session);
  return sessionAnswer(scene, wanted.id, session);
};

const addMessages = (scene: Scene): unknown => {
  const session = sessionOf(scene);
  const made = parse(bodies.messages, scene.body).messages.map(
    (message): Message => ({
      id: randomUUID(),
      content: message.content,
      peer_id: message.peer_id,
      session_id: scene.ids[0] ?? '',
      workspace_id: scene.workspaceId,
      metadata: message.metadata ?? {},
      created_at: message.created_at ?? now(),
      token_count: Math.ceil(message.content.length / 4),
    }),
  );
  for (const message of made) session.peers.add(message.peer_id);
  session.messages.push(...made);
  return made;
};

const listMessages = (scene: Scene): unknown => {
  const wanted = Object.entries(parse(bodies.list, scene.body).filters?.metadata ?? {});
  const found = sessionOf(scene).messages.filter((message) => wanted.every(([key, value]) => message.metadata[key] === value));
  const size = Number(scene.query.get('size') ?? 50);
  const page = Number(scene.query.get('page') ?? 1);
  return { items: found.slice((page - 1) * size, page * size), page, size, total: found.length, pages: Math.ceil(found.length / size) };
};

const conclusionsAbout = ({ space }: Scene, peer: string, query: string | null): readonly string[] =>
  space.conclusions.filter((conclusion) => conclusion.observed_id === peer && (query === null || shares(conclusion.content, query))).map((conclusion) => conclusion.content);

const addConclusions = (scene: Scene): unknown => {
  const made = parse(bodies.conclusions, scene.body).conclusions.map((conclusion): Conclusion => ({ ...conclusion, id: randomUUID(), session_id: conclusion.session_id ?? null, level: 'explicit', created_at: now() }));
  scene.space.conclusions.push(...made);
  return made;
};

const queryConclusions = (scene: Scene): unknown => {
  const { query, top_k, filters } = parse(bodies.query, scene.body);
  const fits = (conclusion: Conclusion): boolean => (filters?.observed_id ?? conclusion.observed_id) === conclusion.observed_id && (filters?.observer_id ?? conclusion.observer_id) === conclusion.observer_id;
  return scene.space.conclusions.filter((conclusion) => fits(conclusion) && shares(conclusion.content, query)).slice(0, top_k ?? 10);
};

const sessionContext = (scene: Scene): unknown => {
  const session = sessionOf(scene);
  const peer = scene.query.get('peer_target');
  const own = scene.space.conclusions.filter((conclusion) => conclusion.observed_id === peer && (scene.query.get('limit_to_session') !== 'true' || conclusion.session_id === scene.ids[0])).map((conclusion) => conclusion.content);
  return { id: scene.ids[0], messages: session.messages.slice(-10), summary: null, peer_representation: own.length === 0 ? null : own.join('\n'), peer_card: null };
};

const routes: readonly Route[] = [
  ['POST', /^\/peers$/, (scene) => {
    const { id } = parse(bodies.named, scene.body);
    scene.space.peers.add(id);
    return { id, workspace_id: scene.workspaceId, metadata: {}, configuration: {}, created_at: now() };
  }],
  ['POST', /^\/sessions$/, openSession],
  ['PUT', /^\/sessions\/([^/]+)$/, (scene) => {
    const session = sessionOf(scene);
    session.metadata = parse(bodies.described, scene.body).metadata ?? session.metadata;
    return sessionAnswer(scene, scene.ids[0] ?? '', session);
  }],
  ['POST', /^\/sessions\/([^/]+)\/messages$/, addMessages],
  ['POST', /^\/sessions\/([^/]+)\/messages\/list$/, listMessages],
  ['POST', /^\/sessions\/([^/]+)\/search$/, (scene) => {
    const { query, limit } = parse(bodies.search, scene.body);
    return sessionOf(scene).messages.filter((message) => shares(message.content, query)).slice(0, limit ?? 10);
  }],
  ['GET', /^\/sessions\/([^/]+)\/context$/, sessionContext],
  ['GET', /^\/peers\/([^/]+)\/context$/, (scene) => {
    const peer = scene.ids[0] ?? '';
    return { peer_id: peer, target_id: peer, representation: conclusionsAbout(scene, peer, scene.query.get('search_query')).join('\n') || null, peer_card: scene.space.cards.get(peer) ?? null };
  }],
  ['GET', /^\/peers\/([^/]+)\/card$/, ({ space, ids }) => ({ peer_card: space.cards.get(ids[0] ?? '') ?? null })],
  ['PUT', /^\/peers\/([^/]+)\/card$/, ({ space, ids, body }) => {
    const { peer_card } = parse(bodies.card, body);
    space.cards.set(ids[0] ?? '', peer_card);
    return { peer_card };
  }],
  ['POST', /^\/peers\/([^/]+)\/chat$/, (scene) => {
    const { query } = parse(bodies.chat, scene.body);
    return { content: conclusionsAbout(scene, scene.ids[0] ?? '', query).join(' ') || null };
  }],
  ['POST', /^\/conclusions$/, addConclusions],
  ['POST', /^\/conclusions\/query$/, queryConclusions],
];

const answer = (spaces: Map<string, Workspace>, method: string, url: URL, body: unknown): unknown => {
  if (method === 'POST' && url.pathname === '/v3/workspaces') {
    const { id } = parse(bodies.named, body);
    if (!spaces.has(id)) spaces.set(id, { peers: new Set(), sessions: new Map(), conclusions: [], cards: new Map() });
    return { id, metadata: {}, configuration: {}, created_at: now() };
  }
  const [, workspaceId = '', path = ''] = /^\/v3\/workspaces\/([^/]+)(\/.+)$/.exec(url.pathname) ?? [];
  const space = spaces.get(workspaceId) ?? refuse(404, 'Workspace not found');
  for (const [wanted, shape, run] of routes) {
    const match = wanted === method ? shape.exec(path) : null;
    if (match !== null) return run({ space, workspaceId, ids: match.slice(1), query: url.searchParams, body });
  }
  return refuse(404, 'Not Found');
};

const listen = (server: Server): Promise<number> => new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));

const say = (response: ServerResponse, status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void =>
  void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

const outcomeOf = (run: () => unknown): { readonly status: number; readonly body: unknown } => {
  try {
    return { status: 200, body: run() };
  } catch (error) {
    if (error instanceof Refusal) return { status: error.status, body: { detail: error.message } };
    throw error;
  }
};

export const newHonchoSimulator = async (options: { readonly apiKey?: string } = {}): Promise<HonchoSimulator> => {
  const spaces = new Map<string, Workspace>();
  const requests: { method: string; path: string }[] = [];
  const faults: { readonly path: RegExp; readonly fault: Fault }[] = [];
  const takeFault = (path: string): Fault | undefined => {
    const at = faults.findIndex((planned) => planned.path.test(path));
    return at === -1 ? undefined : faults.splice(at, 1)[0]?.fault;
  };
  const server = createServer(async (incoming, response) => {
    const { method = 'GET' } = incoming;
    const url = new URL(incoming.url ?? '/', 'http://simulator');
    requests.push({ method, path: url.pathname });
    const text = await readText(incoming);
    const fault = takeFault(url.pathname);
    if (fault?.type === 'silence') return;
    if (fault?.type === 'held') await fault.until;
    if (fault?.type === 'garbage') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
    if (fault?.type === 'status') return say(response, fault.status, { detail: 'as planned' }, fault.headers);
    if (options.apiKey !== undefined && incoming.headers.authorization !== `Bearer ${options.apiKey}`) return say(response, 401, { detail: 'Invalid API key' });
    const { status, body } = outcomeOf(() => answer(spaces, method, url, text === '' ? undefined : JSON.parse(text)));
    if (fault?.type === 'lost_answer') return void response.destroy();
    say(response, status, body);
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    workspace: (id) => spaces.get(id),
    fail: (path, ...planned) => void faults.push(...planned.map((fault) => ({ path, fault }))),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
