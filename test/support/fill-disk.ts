import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../../src/core/errors.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { accountData } from '../../src/store/accounts/account-data.ts';
import { SqliteStore } from '../../src/store/engines/sqlite.ts';

/** Run on a file system of its own: writes until it is full, makes room, writes again, and says what it saw. */
const folder = process.argv[2] ?? '';
const ballast = join(folder, 'ballast');
writeFileSync(ballast, Buffer.alloc(300_000));
const store = new SqliteStore({ path: join(folder, 'gateway.db'), clock: systemClock, checkIntegrity: true });
const data = accountData(store, 'a');

const codes = new Set<string>();
const acknowledged: string[] = [];
let failures = 0;
for (let i = 0; failures < 5 && i < 500; i += 1) {
  const keys = Array.from({ length: 4 }, (_, k) => `${String(i).padStart(4, '0')}-${k}`);
  const results = await Promise.allSettled(keys.map((key) => data.set(key, key.padEnd(4000, '.'))));
  for (const [k, result] of results.entries()) {
    if (result.status === 'fulfilled') acknowledged.push(keys[k] ?? '');
    else codes.add(result.reason instanceof StoreError ? result.reason.code : String(result.reason));
  }
  if (results.some((result) => result.status === 'rejected')) failures += 1;
}
const whileFull = (await data.list('')).map((row) => row.key);
rmSync(ballast);
await data.set('zzzz', 'room again');
const afterwards = (await data.list('')).map((row) => row.key);
await store.close();
const reopened = new SqliteStore({ path: join(folder, 'gateway.db'), clock: systemClock, checkIntegrity: true });
const afterReopening = (await accountData(reopened, 'a').list('')).map((row) => row.key);
await reopened.close();
process.stdout.write(JSON.stringify({ codes: [...codes], acknowledged, whileFull, afterwards, afterReopening }));
