import type { Context } from 'hono';
import { z } from 'zod';
import type { SessionResult } from '../../../gateway/api/api-sessions.ts';
import type { HttpEnv } from '../../client.ts';
import { ApiError } from '../api-error.ts';
import type { Caller } from '../callers.ts';
import { agentOfModel } from '../models.ts';
import { checked, readBody } from '../read-body.ts';
import type { ResponsesDeps } from '../responses/ask.ts';
import type { ApiRoute } from '../route.ts';
import { sessionChat, sessionChatStream } from './chat.ts';
import { sessionEnvelope, wireMessage, wireSession } from './wire.ts';

const smallBytes = 1024 * 1024;

/** Ids that clients choose look like none of ours, so that they cannot be in the way. */
const chosenId = z.string().refine((id) => /^api_[A-Za-z0-9_-]{1,60}$/.test(id), { error: 'An id of your own begins with api_, then up to 60 letters, digits, _ and -.', params: { code: 'invalid_session_id' } });
const title = z.string().max(1000);

const createRequest = z.looseObject({ id: chosenId.nullish(), session_id: chosenId.nullish(), model: z.string().min(1).nullish(), system_prompt: z.string().max(65_536).nullish(), title: title.nullish() });
const changeRequest = z.looseObject({ title: title.min(1).optional(), end_reason: z.literal('closed').optional() });
const forkRequest = z.looseObject({ id: chosenId.nullish(), title: title.nullish() });
/** What may stand behind `GET /api/sessions`. */
export const sessionListQuery = z.object({ limit: z.coerce.number().int().min(1).max(200).default(50), offset: z.coerce.number().int().min(0).default(0) });
/** What may stand behind `GET /api/sessions/{id}/messages`. */
export const sessionMessagesQuery = z.object({ limit: z.coerce.number().int().min(1).max(1000).default(200), after: z.coerce.number().int().min(0).default(0) });

export const sessionRequests = { createRequest, changeRequest, forkRequest };

const refusals = {
  not_found: () => new ApiError(404, 'There is no such session.', { code: 'session_not_found' }),
  exists: () => new ApiError(409, 'There is a session with this id already.', { code: 'session_exists', param: 'id' }),
  title_taken: () => new ApiError(409, 'Another session has this title.', { code: 'invalid_title', param: 'title' }),
  busy: () => new ApiError(409, 'Something is being answered in this session.', { code: 'session_busy', retryAfterMs: 1000 }),
};

const done = <T>(result: SessionResult<T>): T => {
  if (result.type === 'done') return result.value;
  throw refusals[result.why]();
};

const idOf = (c: Context<HttpEnv>): string => c.req.param('id') ?? '';

const create = async (deps: ResponsesDeps, c: Context<HttpEnv>, caller: Caller): Promise<Response> => {
  const gate = deps.gate();
  const asked = await readBody(c, createRequest, smallBytes);
  const agent = agentOfModel(asked.model ?? 'hermes', gate) ?? gate.agentAt(caller.id);
  const session = done(await gate.sessions.create(caller.id, { id: asked.id ?? asked.session_id ?? undefined, agent, title: asked.title ?? undefined, instructions: asked.system_prompt ?? undefined }));
  return c.json(sessionEnvelope(session), 201);
};

const change = async (deps: ResponsesDeps, c: Context<HttpEnv>, caller: Caller): Promise<Response> => {
  const asked = await readBody(c, changeRequest, smallBytes);
  const unknown = Object.keys(asked).find((name) => name !== 'title' && name !== 'end_reason');
  if (unknown !== undefined) throw new ApiError(400, `A session has no '${unknown.slice(0, 60)}' that could be changed; title and end_reason can.`, { code: 'unsupported_session_field', param: unknown.slice(0, 60) });
  return c.json(sessionEnvelope(done(await deps.gate().sessions.change(caller.id, idOf(c), { title: asked.title, close: asked.end_reason !== undefined }))));
};

const list = async (deps: ResponsesDeps, c: Context<HttpEnv>, caller: Caller): Promise<Response> => {
  const page = checked(sessionListQuery, c.req.query());
  const { sessions, more } = await deps.gate().sessions.list(caller.id, page);
  return c.json({ object: 'list', data: sessions.map(wireSession), ...page, has_more: more });
};

const messages = async (deps: ResponsesDeps, c: Context<HttpEnv>, caller: Caller): Promise<Response> => {
  const { limit, after } = checked(sessionMessagesQuery, c.req.query());
  const found = await deps.gate().sessions.messages(caller.id, idOf(c), { afterId: after, limit: limit + 1 });
  if (found === undefined) throw refusals.not_found();
  return c.json({ object: 'list', session_id: idOf(c), data: found.slice(0, limit).map(wireMessage), has_more: found.length > limit });
};

/** `/api/sessions`: the conversations of a key, to look at and to go on with. */
export const sessionRoutes = (deps: ResponsesDeps): readonly ApiRoute[] => [
  { name: 'sessions', method: 'GET', path: '/api/sessions', scope: 'sessions', handle: (c, caller) => list(deps, c, caller) },
  { name: 'session_create', method: 'POST', path: '/api/sessions', scope: 'sessions', handle: (c, caller) => create(deps, c, caller) },
  {
    name: 'session',
    method: 'GET',
    path: '/api/sessions/:id',
    scope: 'sessions',
    async handle(c, caller) {
      const session = await deps.gate().sessions.find(caller.id, idOf(c));
      if (session === undefined) throw refusals.not_found();
      return c.json(sessionEnvelope(session));
    },
  },
  { name: 'session_change', method: 'PATCH', path: '/api/sessions/:id', scope: 'sessions', handle: (c, caller) => change(deps, c, caller) },
  {
    name: 'session_delete',
    method: 'DELETE',
    path: '/api/sessions/:id',
    scope: 'sessions',
    async handle(c, caller) {
      done(await deps.gate().sessions.remove(caller.id, idOf(c)));
      return c.json({ object: 'hermes.session.deleted', id: idOf(c), deleted: true });
    },
  },
  {
    name: 'session_fork',
    method: 'POST',
    path: '/api/sessions/:id/fork',
    scope: 'sessions',
    async handle(c, caller) {
      const asked = await readBody(c, forkRequest, smallBytes);
      return c.json(sessionEnvelope(done(await deps.gate().sessions.fork(caller.id, idOf(c), { id: asked.id ?? undefined, title: asked.title ?? undefined }))), 201);
    },
  },
  { name: 'session_messages', method: 'GET', path: '/api/sessions/:id/messages', scope: 'sessions', handle: (c, caller) => messages(deps, c, caller) },
  { name: 'session_chat', method: 'POST', path: '/api/sessions/:id/chat', scope: 'sessions', handle: (c, caller) => sessionChat(deps, c, caller) },
  { name: 'session_chat_stream', method: 'POST', path: '/api/sessions/:id/chat/stream', scope: 'sessions', handle: (c, caller) => sessionChatStream(deps, c, caller) },
];
