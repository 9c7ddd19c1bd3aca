import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { emptyLongConsole } from './empty-long-console.ts';

test('what a service manager appends to for years is emptied when it is long, and goes on from its beginning', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'hermes-console-'));
  const path = join(folder, 'console.log');
  const output = openSync(path, 'a');
  t.after(() => {
    closeSync(output);
    rmSync(folder, { recursive: true });
  });
  writeSync(output, 'short\n');
  emptyLongConsole(output);
  assert.equal(readFileSync(path, 'utf8'), 'short\n');
  writeSync(output, 'x'.repeat(2 ** 20));
  emptyLongConsole(output);
  writeSync(output, 'new\n');
  assert.equal(readFileSync(path, 'utf8'), 'new\n');
});
