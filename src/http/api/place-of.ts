import type { Context } from 'hono';
import type { ApiPlace } from '../../gateway/api/place.ts';
import type { CallSession } from '../../gateway/api/submit-call.ts';
import type { HttpEnv } from '../client.ts';
import { ApiError } from './api-error.ts';

const maxChars = 256;

const hasControl = (text: string): boolean => /\p{Cc}/u.test(text);

/** Short, and without anything that ends a line. */
export const isUsableName = (text: string): boolean => text.length <= maxChars && !hasControl(text);

/** Nothing that could pass for a path, whoever makes a file name of it. */
export const isUsableSessionId = (text: string): boolean => !hasControl(text) && !text.includes('..') && !/[/\\]|^[a-z]:/i.test(text);

const readHeader = (c: Context<HttpEnv>, name: string): string | undefined => {
  const bytes = c.req.header(name);
  // Node reads headers as latin-1; clients write UTF-8.
  const value = bytes === undefined ? '' : Buffer.from(bytes, 'latin1').toString('utf8').trim();
  return value === '' ? undefined : value;
};

/** A header that becomes part of a name. */
export const nameHeader = (c: Context<HttpEnv>, name: string): string | undefined => {
  const value = readHeader(c, name);
  if (value === undefined || isUsableName(value)) return value;
  throw new ApiError(400, `${name} takes up to ${maxChars} characters, none of them a control character.`, { code: 'invalid_header', param: name });
};

/** The conversation of the server that a call continues, if its headers name one. */
export const sessionHeaders = (c: Context<HttpEnv>): CallSession | undefined => {
  const id = readHeader(c, 'X-Hermes-Session-Id');
  if (id !== undefined && !isUsableSessionId(id)) throw new ApiError(400, 'X-Hermes-Session-Id is not the id of a session.', { code: 'invalid_session_id', param: 'X-Hermes-Session-Id' });
  if (id !== undefined) return { type: 'id', id };
  const key = nameHeader(c, 'X-Hermes-Session-Key');
  return key === undefined ? undefined : { type: 'named', name: `key:${key}` };
};

/** Where a call says that it comes from: the routes of every other platform decide by it who answers. */
export const placeOf = (c: Context<HttpEnv>, callerId: string, chatId: string): ApiPlace => {
  const threadId = nameHeader(c, 'X-Hermes-Thread-Id');
  return {
    chat: { id: nameHeader(c, 'X-Hermes-Chat-Id') ?? chatId, type: 'dm', ...(threadId !== undefined && { threadId }) },
    sender: { id: nameHeader(c, 'X-Hermes-User-Id') ?? callerId, isBot: false },
  };
};
