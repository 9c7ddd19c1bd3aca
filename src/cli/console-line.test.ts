import assert from 'node:assert/strict';
import { fstatSync } from 'node:fs';
import { test } from 'node:test';
import { consoleLine } from './console-line.ts';
import type { Terminal } from './environment.ts';

const terminal = (journal: string): Terminal => ({ env: { JOURNAL_STREAM: journal }, version: 'test', write: () => undefined, writeError: () => undefined });
const line = '{"level":"warn","time":"2026-01-01T00:00:00.000Z","msg":"loop.blocked"}\n';

test("a line for systemd's journal says how important it is; whoever only inherited the variable writes plain lines", () => {
  const { dev, ino } = fstatSync(process.stderr.fd);
  assert.equal(consoleLine(line, terminal(`${dev}:${ino}`)), `<4>${line}`);
  assert.equal(consoleLine(line, terminal(`${dev}:${ino + 1}`)), line);
  assert.equal(consoleLine(line, terminal('')), line);
});
