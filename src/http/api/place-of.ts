import type { Context } from 'hono';
import type { ApiPlace } from '../../gateway/api/place.ts';
import type { HttpEnv } from '../client.ts';
import { ApiError } from './api-error.ts';

const maxChars = 256;

/** A header that becomes part of a name: short, and without anything that ends a line. */
export const nameHeader = (c: Context<HttpEnv>, name: string): string | undefined => {
  const bytes = c.req.header(name);
  // Node reads headers as latin-1; clients write UTF-8.
  const value = bytes === undefined ? undefined : Buffer.from(bytes, 'latin1').toString('utf8').trim();
  if (value === undefined || value === '') return undefined;
  if (value.length > maxChars) throw new ApiError(400, `${name} may have ${maxChars} characters.`, { code: 'invalid_header', param: name });
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001F\u007F]/.test(value)) throw new ApiError(400, `${name} must not contain control characters.`, { code: 'invalid_header', param: name });
  return value;
};

/** Where a call says that it comes from: the routes of every other platform decide by it who answers. */
export const placeOf = (c: Context<HttpEnv>, callerId: string, chatId: string): ApiPlace => {
  const threadId = nameHeader(c, 'X-Hermes-Thread-Id');
  return {
    chat: { id: nameHeader(c, 'X-Hermes-Chat-Id') ?? chatId, type: 'dm', ...(threadId !== undefined && { threadId }) },
    sender: { id: nameHeader(c, 'X-Hermes-User-Id') ?? callerId, isBot: false },
  };
};
