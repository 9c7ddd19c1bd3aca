import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { isSupervised, unsupervised } from './restart-process.ts';

const run = promisify(execFile);

const program = `
import { appendFileSync, readFileSync } from 'node:fs';
import { endWithin } from ${JSON.stringify(new URL('./forensics.ts', import.meta.url).href)};
import { capturingLogger } from ${JSON.stringify(new URL('../../lib/logger.ts', import.meta.url).href)};
import { restartAtOnce } from ${JSON.stringify(new URL('./restart-process.ts', import.meta.url).href)};
const [told, env] = process.argv.slice(2);
appendFileSync(told, 'started ' + process.pid + '\\n');
if (readFileSync(told, 'utf8').split('\\n').length > 2) process.exit(0);
// A part that does not end.
setInterval(() => undefined, 1000);
endWithin(1, capturingLogger().log, () => restartAtOnce(JSON.parse(env)));
`;

const ended = async (env: Readonly<Record<string, string>>) => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-restart-'));
  try {
    await writeFile(join(folder, 'program.mjs'), program);
    const code = await run(process.execPath, [join(folder, 'program.mjs'), join(folder, 'told'), JSON.stringify(env)]).then(() => 0, (error: { readonly code: number }) => error.code);
    return { code, starts: (await readFile(join(folder, 'told'), 'utf8')).trim().split('\n') };
  } finally {
    await rm(folder, { recursive: true });
  }
};

test('a gateway that is to start anew and does not come to its end starts anew all the same', { skip: process.execve === undefined && 'a process cannot become another here' }, async () => {
  const { code, starts } = await ended({});
  assert.deepEqual([code, starts.length, new Set(starts).size], [0, 2, 1]);
});

test('under a service manager it leaves with the code that asks for a new start', async () => {
  const { code, starts } = await ended({ HERMES_GATEWAY_EXTERNAL_SUPERVISOR: 'x' });
  assert.deepEqual([code, starts.length], [75, 1]);
});

test('whoever is only started below a service, as by the shell of a desktop, is not looked after by its manager', () => {
  const [id, own] = ['0123', String(process.pid)];
  assert.deepEqual(
    [{}, { INVOCATION_ID: id, SYSTEMD_EXEC_PID: own }, { INVOCATION_ID: id, SYSTEMD_EXEC_PID: '1' }, { INVOCATION_ID: id }, { XPC_SERVICE_NAME: 'ai.hermes.gateway' }, { XPC_SERVICE_NAME: '0' }, { XPC_SERVICE_NAME: 'application.com.googlecode.iterm2.1.2' }].map(isSupervised),
    [false, true, false, true, true, false, false],
  );
  assert.equal(isSupervised(unsupervised({ INVOCATION_ID: id, SYSTEMD_EXEC_PID: own, XPC_SERVICE_NAME: 'x' })), false);
});
