import type { Context } from 'hono';
import type { ApiScope } from '../../store/api/api-keys.ts';
import type { HttpEnv } from '../client.ts';
import type { Caller } from './callers.ts';

/** One call of the API. The table of them is what is served, what 405 and the capabilities say, and what the documents describe. */
export interface ApiRoute {
  /** As the capabilities call it. */
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** As hono writes it. */
  readonly path: string;
  readonly scope: ApiScope;
  handle(c: Context<HttpEnv>, caller: Caller): Response | Promise<Response>;
}
