import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { randomUUID } from 'node:crypto';
import type { ReplyContext } from '../../core/message.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { AccountData, Inbox } from '../contract.ts';
import { seqOfMessage } from '../journal.ts';
import type { Live } from '../live.ts';
import { openEvents } from './events.ts';
import { fileRoutes } from './file-routes.ts';
import type { Files } from './files.ts';
import type { WebJournal } from './journal.ts';
import { readMenu } from './menu.ts';
import { messageBody, messageEvent, parseCursor, pressBody, pressEvent, replyContext } from './parse.ts';
import type { Origin } from './parse.ts';
import { chatId } from './wire.ts';
import type { ChatsAnswer, MessagesAnswer, WireFile } from './wire.ts';

export interface WebDeps {
  readonly account: string;
  readonly title: string;
  readonly data: AccountData;
  readonly journal: WebJournal;
  readonly live: Live;
  readonly files: Files;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What `run` gives for as long as it is under way. */
export interface Running {
  readonly inbox: Inbox;
  readonly signal: AbortSignal;
}

interface WebEnv {
  readonly Bindings: Partial<HttpBindings>;
  readonly Variables: { readonly running: Running };
}

/** A refusal that the page shows to the person. */
class Refused extends Error {
  readonly status: ContentfulStatusCode;

  constructor(status: ContentfulStatusCode, sentence: string) {
    super(sentence);
    this.name = 'Refused';
    this.status = status;
  }
}

const shownChats = 200;
const defaultPage = 60;
const largestPage = 200;
/** How far back a quoted message is looked for. */
const replySearch = 200;

const bodyOf = async <T>(c: Context, schema: { safeParse(value: unknown): { success: true; data: T } | { success: false } }): Promise<T> => {
  const json: unknown = await c.req.json().catch((error: unknown) => {
    if (error instanceof SyntaxError) throw new Refused(400, 'This is not JSON.');
    throw error;
  });
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw new Refused(400, 'This is not a message.');
  return parsed.data;
};

const originOf = (c: Context<WebEnv>, deps: WebDeps): Origin => {
  const chat = c.req.param('chat') ?? '';
  if (!chatId.test(chat)) throw new Refused(400, 'This is not the id of a chat.');
  return { account: deps.account, chat, atMs: deps.clock.now() };
};

const filesOf = (ids: readonly string[], files: Files): Promise<readonly WireFile[]> =>
  Promise.all(
    ids.map(async (id) => {
      const file = await files.find(id);
      if (file === undefined) throw new Refused(400, 'A file of this message is gone. Attach it again.');
      return file;
    }),
  );

const replyOf = async (messageId: string | undefined, chat: string, journal: WebJournal): Promise<ReplyContext | undefined> =>
  messageId === undefined ? undefined : replyContext(messageId, await journal.older(chat, { limit: replySearch }));

/** Stored for every tab first; the answer 200 is given once the gateway has it too, and until then the page tries again. */
const postMessage = async (c: Context<WebEnv>, deps: WebDeps): Promise<Response> => {
  const { journal } = deps;
  const origin = originOf(c, deps);
  const body = await bodyOf(c, messageBody);
  const files = await filesOf(body.files, deps.files);
  const replyTo = await replyOf(body.replyTo, origin.chat, journal);
  const message = { id: body.id, text: body.text, files: body.files, ...(body.replyTo !== undefined && { replyTo: body.replyTo }) };
  const event = messageEvent(message, origin, { files, replyTo });
  const seq = await journal.append(origin.chat, `in:${body.id}`, {
    type: 'message',
    id: body.id,
    from: 'owner',
    text: event.text,
    files,
    choices: [],
    ...(body.replyTo !== undefined && { replyTo: body.replyTo }),
  });
  await journal.touch(origin.chat, event.text === '' ? (files[0]?.name ?? '') : event.text);
  const accepted = await c.var.running.inbox.accept(event);
  return c.json({ seq, accepted });
};

const postPress = async (c: Context<WebEnv>, deps: WebDeps): Promise<Response> => {
  const origin = originOf(c, deps);
  const body = await bodyOf(c, pressBody);
  const at = seqOfMessage(body.messageId);
  const pressed = at === undefined ? undefined : await deps.journal.messageAt(origin.chat, at);
  if (pressed === undefined) throw new Refused(404, 'This message does not exist.');
  const seq = await deps.journal.append(origin.chat, `press:${body.id}`, { type: 'press', id: body.messageId, data: body.data });
  const accepted = await c.var.running.inbox.accept(pressEvent(body, origin));
  return c.json({ seq, accepted });
};

const getChats = async (c: Context<WebEnv>, deps: WebDeps): Promise<Response> => {
  const cursor = await deps.journal.last();
  const answer: ChatsAnswer = { title: deps.title, chats: await deps.journal.chats(shownChats), cursor, commands: await readMenu(deps.data) };
  return c.json(answer);
};

const getMessages = async (c: Context<WebEnv>, deps: WebDeps): Promise<Response> => {
  const { chat } = originOf(c, deps);
  const limit = Math.min(Math.max(1, parseCursor(c.req.query('limit')) ?? defaultPage), largestPage);
  const frames = await deps.journal.older(chat, { before: parseCursor(c.req.query('before')), limit: limit + 1 });
  const answer: MessagesAnswer = { frames: frames.slice(-limit), more: frames.length > limit };
  return c.json(answer);
};

const hideChat = async (c: Context<WebEnv>, deps: WebDeps): Promise<Response> => {
  const { chat } = originOf(c, deps);
  await deps.journal.append(chat, `hide:${randomUUID()}`, { type: 'hide' });
  await deps.journal.hide(chat);
  return c.json({ ok: true });
};

const getEvents = async (c: Context<WebEnv>, deps: WebDeps): Promise<Response> => {
  const { journal, live, clock, data } = deps;
  const after = parseCursor(c.req.header('last-event-id')) ?? parseCursor(c.req.query('after')) ?? (await journal.last());
  const outgoing = c.env?.outgoing;
  const cut = outgoing === undefined ? undefined : () => void outgoing.destroy();
  const stream = openEvents({ journal, live, clock, watch: (listener) => data.watch(listener) }, { after, signal: c.var.running.signal, cut });
  return c.body(stream, 200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no', 'transfer-encoding': 'chunked' });
};

/** The page's API, below the account's path. Every route answers 503 while the account does not run. */
export const webRoutes = (deps: WebDeps, running: () => Running | undefined): Hono => {
  const routes = new Hono<WebEnv>();
  routes.use(async (c, next) => {
    const now = running();
    if (now === undefined) return c.json({ error: 'The gateway is starting or stopping.' }, 503);
    now.inbox.alive();
    c.set('running', now);
    await next();
    if (!c.res.headers.has('cache-control')) c.res.headers.set('cache-control', 'no-store');
    return undefined;
  });
  routes.get('/chats', (c) => getChats(c, deps));
  routes.get('/chats/:chat/messages', (c) => getMessages(c, deps));
  routes.post('/chats/:chat/messages', (c) => postMessage(c, deps));
  routes.post('/chats/:chat/presses', (c) => postPress(c, deps));
  routes.delete('/chats/:chat', (c) => hideChat(c, deps));
  routes.get('/events', (c) => getEvents(c, deps));
  routes.route('/files', fileRoutes(deps.files));
  routes.onError((error, c) => {
    if (error instanceof Refused) return c.json({ error: error.message }, error.status);
    deps.log.warn({ err: error, method: c.req.method, path: c.req.path }, 'web.request_failed');
    return c.json({ error: 'This could not be stored. Please try again.' }, 503);
  });
  const mounted = new Hono();
  mounted.route('/', routes);
  mounted.notFound((c) => c.json({ error: 'There is nothing here.' }, 404));
  return mounted;
};
