import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { newLogins } from '../../http/logins.ts';
import { systemClock } from '../../lib/clock.ts';
import { accountData } from '../../store/accounts/account-data.ts';
import { SqliteStore } from '../../store/engines/sqlite.ts';
import { requireConfig } from '../configuration/settings.ts';
import type { Terminal } from '../environment.ts';
import { welcome } from './welcome.ts';

test('a link that logs in is shown to somebody at a terminal and written nowhere else', async () => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-welcome-'));
  const store = new SqliteStore({ path: join(home, 'gateway.db'), clock: systemClock, checkIntegrity: false });
  try {
    const logins = newLogins({ store: accountData(store, 'http'), clock: systemClock });
    const shown = async (env: Readonly<Record<string, string>>, isTTY: boolean): Promise<string> => {
      let out = '';
      const stream = Object.assign(new PassThrough(), { isTTY, getColorDepth: () => 1 }) as unknown as NodeJS.WriteStream;
      const terminal: Terminal = { env: { HERMES_HOME: home, ...env }, version: '1', stream, write: (text) => void (out += text), writeError: () => undefined };
      await welcome(terminal, { config: await requireConfig(terminal), home, url: 'http://127.0.0.1:1', logins });
      return out;
    };
    assert.match(await shown({}, true), /login#\S{40,}/);
    for (const out of [await shown({}, false), await shown({ INVOCATION_ID: 'x' }, true)]) {
      assert.doesNotMatch(out, /login#/);
      assert.match(out, /hermes login makes a link/);
    }
  } finally {
    await store.close();
    await rm(home, { recursive: true });
  }
});
