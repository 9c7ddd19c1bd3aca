import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

test('a gateway that is killed under load loses nothing', async () => {
  // Ends with 1, and with the evidence on its output, when anything was lost, doubled, misplaced or out of order.
  const { stdout } = await run(process.execPath, [fileURLToPath(new URL('../bench/chaos.ts', import.meta.url)), '--rounds', '3', '--chats', '6']);
  assert.match(stdout, /^Seed \w+, 3 rounds, 6 chats$/m);
  assert.match(stdout, /lost +0$/m);
});
