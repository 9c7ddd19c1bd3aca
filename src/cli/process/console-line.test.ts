import assert from 'node:assert/strict';
import { fstatSync } from 'node:fs';
import { test } from 'node:test';
import { localTime } from '../../lib/local-time.ts';
import type { Terminal } from '../environment.ts';
import { consoleLine, readableLine } from './console-line.ts';

const terminal = (journal: string): Terminal => ({ env: { JOURNAL_STREAM: journal }, version: 'test', write: () => undefined, writeError: () => undefined });
const line = '{"level":"warn","time":"2026-01-01T00:00:00.000Z","msg":"loop.blocked"}\n';

test("a line for systemd's journal says how important it is; whoever only inherited the variable writes plain lines", () => {
  const { dev, ino } = fstatSync(process.stderr.fd);
  assert.equal(consoleLine(line, terminal(`${dev}:${ino}`)), `<4>${line}`);
  assert.equal(consoleLine(line, terminal(`${dev}:${ino + 1}`)), line);
  assert.equal(consoleLine(line, terminal('')), line);
});

test('a person at a terminal sees what happened, and nothing that the terminal would obey', () => {
  const clear = JSON.stringify({ level: 'info', time: '2026-01-01T00:00:00.000Z', msg: 'inbound.skipped', user: '\u001b[2J7' });
  assert.equal(readableLine(clear, terminal('')), `${localTime(Date.UTC(2026, 0, 1))} inbound.skipped user=7\n`);
});
