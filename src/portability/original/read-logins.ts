import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { factsOf, isProviderName } from '../../agent/models/endpoints/providers.ts';
import { isThere } from '../copy-folder.ts';
import type { ImportReport } from '../import-report.ts';
import { at, isRecord, parsed, wordAt } from '../plain-json.ts';

/** Keys that somebody has given to the original by hand, as `.env` would say them. Logins by a browser belong to the program that made them, and are named. */
export const keysOfLogins = async (folder: string, report: ImportReport): Promise<string> => {
  const path = join(folder, 'auth.json');
  if (!(await isThere(path))) return '';
  const logins = parsed(await readFile(path, 'utf8'));
  const keys = new Map<string, string>();
  const leave = (what: string): void => report.add({ area: 'config', fate: 'left', what: `login ${what}`, why: 'it belongs to the original; this gateway needs a key of its own' });
  for (const name of Object.keys((at(logins, 'providers') ?? {}) as object)) leave(name);
  for (const [provider, pool] of Object.entries((at(logins, 'credential_pool') ?? {}) as object)) {
    for (const login of Array.isArray(pool) ? pool.filter(isRecord) : []) {
      // Those of the environment are in .env.
      if (wordAt(login, 'source')?.startsWith('env:') === true) continue;
      const variable = isProviderName(provider) && login['auth_type'] === 'api_key' ? factsOf(provider).keyEnv : undefined;
      const key = wordAt(login, 'access_token');
      if (variable === undefined || key === undefined || keys.has(variable)) leave(`${provider} ${wordAt(login, 'label') ?? ''}`.trim());
      else keys.set(variable, key);
    }
  }
  return [...keys].map(([name, key]) => `${name}=${JSON.stringify(key)}\n`).join('');
};
