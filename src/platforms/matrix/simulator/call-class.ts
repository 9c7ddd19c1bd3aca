import type { CallClass } from '../../simulator-faults.ts';
import { record } from '../wire.ts';

/** Which class of calls a request belongs to. */
export const classOf = (method: string, path: string, body: unknown): CallClass | undefined => {
  if (path.endsWith('/sync')) return 'receive';
  if (path.endsWith('/account/whoami')) return 'identify';
  if (path.includes('/media/') && method === 'GET') return 'download';
  if (path.includes('/typing/')) return 'typing';
  if (path.includes('/redact/')) return 'edit';
  if (!/\/send\/m\.room\.(?:message|encrypted)\//.test(path)) return undefined;
  return record(record(body)?.['m.relates_to'])?.['rel_type'] === 'm.replace' ? 'edit' : 'send';
};
