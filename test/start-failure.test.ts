import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const launcher = fileURLToPath(new URL('../bin/hermes.js', import.meta.url));

test('a conversation in a terminal whose gateway cannot start ends with the reason, and leaves nothing running', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-start-failure-'));
  try {
    const server = { command: process.execPath, args: ['-e', 'process.stdin.resume()'] };
    await writeFile(join(home, 'config.yaml'), JSON.stringify({ model: { provider: 'openai', default: 'm', base_url: 'http://127.0.0.1:9/v1', api_key: 'sk-simulated-model-key' }, mcp_servers: { other: server } }));
    await writeFile(join(home, 'workspace'), 'a file where the agent wants its folder');
    const child = spawn(process.execPath, [launcher, 'chat', '-q', 'hello'], { env: { ...process.env, HERMES_HOME: home }, stdio: ['ignore', 'ignore', 'pipe'], signal: t.signal, killSignal: 'SIGKILL' });
    let said = '';
    child.stderr.on('data', (data: Buffer) => (said += data.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    assert.deepEqual([code, /workspace: a file stands where a folder should be/.test(said)], [78, true], said);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
});
