import type { Context } from 'hono';
import type { z } from 'zod';
import type { HttpEnv } from '../client.ts';
import { ApiError } from './api-error.ts';

const tooLarge = (maxBytes: number): ApiError =>
  new ApiError(413, `The request is larger than ${Math.floor(maxBytes / 1024 / 1024)} MB, the most that api_server.max_body_mb allows.`, { code: 'body_too_large' });

const readBytes = async (c: Context<HttpEnv>, maxBytes: number): Promise<Buffer> => {
  const length = c.req.header('content-length');
  if (length !== undefined && !/^\d+$/.test(length)) throw new ApiError(400, 'Content-Length is not a number.', { code: 'invalid_content_length' });
  if (Number(length ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  // Of the request itself where there is one: what the web's form of it costs, nobody needs here.
  for await (const piece of c.env?.incoming?.iterator({ destroyOnReturn: false }) ?? c.req.raw.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ApiError(400, 'The body of the request is not valid JSON.', { code: 'invalid_json', cause: error });
  }
};

/** `messages[2].content` */
export const paramOf = (path: readonly PropertyKey[]): string => path.map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${String(part)}`)).join('');

/** The first thing that is wrong. Of the branches of a union the one counts that came closest: whose complaint lies deepest. */
const firstIssue = (issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue | undefined => {
  const [issue] = issues;
  if (issue?.code !== 'invalid_union') return issue;
  const inner = issue.errors.flatMap((branch) => firstIssue(branch) ?? []).toSorted((a, b) => b.path.length - a.path.length)[0];
  return inner === undefined || inner.path.length === 0 ? issue : { ...inner, path: [...issue.path, ...inner.path] };
};

const refusalOf = (issues: readonly z.core.$ZodIssue[]): ApiError => {
  const issue = firstIssue(issues);
  const param = paramOf(issue?.path ?? []);
  if (issue?.code === 'custom' && typeof issue.params?.['code'] === 'string') return new ApiError(400, issue.message, { code: issue.params['code'], param });
  const missing = (issue?.code === 'invalid_type' || issue?.code === 'invalid_union') && issue.input === undefined;
  if (missing) return new ApiError(400, `Missing required parameter: '${param}'.`, { code: 'missing_required_parameter', param });
  const code = issue?.code === 'invalid_type' || issue?.code === 'invalid_union' ? 'invalid_type' : 'invalid_value';
  return new ApiError(400, param === '' ? 'The body of the request has to be a JSON object.' : `Invalid value for '${param}': ${issue?.message ?? 'not accepted'}.`, { code, ...(param !== '' && { param }) });
};

/** What a schema makes of a value; throws the refusal for what is wrong with it. */
export const checked = <Out>(schema: z.ZodType<Out>, value: unknown): Out => {
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw refusalOf(parsed.error.issues);
};

/** The JSON body of a request, read with a limit and checked. */
export const readBody = async <Out>(c: Context<HttpEnv>, schema: z.ZodType<Out>, maxBytes: number): Promise<Out> => {
  const type = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (type !== 'application/json' && !/^application\/[\w.-]+\+json$/.test(type)) throw new ApiError(415, 'Send the request as application/json.', { code: 'unsupported_media_type' });
  const text = new TextDecoder().decode(await readBytes(c, maxBytes));
  return checked(schema, parseJson(text));
};
