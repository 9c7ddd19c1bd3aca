import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { Question } from '../../../core/question.ts';
import { ToolError } from '../contract.ts';
import { loginFile } from './login-file.ts';
import { serveScripted } from './scripted-server.test-support.ts';
import { newBench, until } from './servers.test-support.ts';

const failing = (code: string, words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ToolError, String(error));
  assert.equal(error.code, code);
  assert.match(error.message, words);
  return true;
};

const eras = ['legacy', 'modern'] as const;

for (const era of eras) {
  test(`tools of a server at an address work with the owner’s headers (${era})`, async () => {
    await using server = await serveScripted(era);
    await using bench = await newBench();
    await bench.configure({ far: { url: server.url, headers: { 'X-Key': 'sesame' } } });
    await bench.reach('far', 'ready');
    assert.match(await bench.call('mcp_far_echo', { text: 'hello from afar' }), /hello from afar/);
    assert.match(await bench.call('mcp_far_read_resource', { uri: 'note://one' }), /remember the milk/);
    assert.ok(server.seen.every((headers) => headers.get('x-key') === 'sesame'));
    assert.ok(!bench.lines.join('').includes('sesame'));
  });

  test(`each question of a server reaches the person of its own call, also when several wait (${era})`, async () => {
    await using server = await serveScripted(era);
    await using bench = await newBench();
    await bench.configure({ far: { url: server.url } });
    await bench.reach('far', 'ready');
    const all = Promise.withResolvers<void>();
    let waiting = 0;
    const ask = (colour: string) => async (_question: Question) => {
      waiting += 1;
      if (waiting === 3) all.resolve();
      await all.promise;
      return { type: 'answered' as const, value: colour, by: '7' };
    };
    const colours = ['red', 'green', 'blue'];
    const answers = await Promise.all(colours.map((colour) => bench.call('mcp_far_ask', {}, { context: { turnId: colour, ask: ask(colour) } })));
    for (const [index, colour] of colours.entries()) assert.match(answers[index] ?? '', new RegExp(`"colour":"${colour}"`));
  });
}

test('a server that has forgotten our session is asked again on a new one, once and unnoticed', async () => {
  await using server = await serveScripted('legacy');
  await using bench = await newBench();
  await bench.configure({ far: { url: server.url } });
  await bench.reach('far', 'ready');
  server.forgetSessions();
  assert.match(await bench.call('mcp_far_echo', { text: 'again' }), /again/);
});

test('a server that goes away is unavailable with the reason until it is back', async () => {
  const server = await serveScripted('legacy');
  await using bench = await newBench();
  await bench.configure({ far: { url: server.url } });
  await bench.reach('far', 'ready');
  await server[Symbol.asyncDispose]();
  await assert.rejects(bench.call('mcp_far_echo', { text: 'x' }), failing('failed', /The call to the MCP server far failed: fetch failed/));
  await bench.reach('far', 'waiting');
  await assert.rejects(bench.call('mcp_far_echo', { text: 'x' }), failing('unavailable', /fetch failed \(connect ECONNREFUSED.*The next attempt is in 2 s/));
  await using _back = await serveScripted('legacy', Number(new URL(server.url).port));
  await bench.clock.advance(2_000);
  await bench.reach('far', 'ready');
  assert.match(await bench.call('mcp_far_echo', { text: 'welcome back' }), /welcome back/);
});

/** A server whose every answer is written by hand. */
const handmade = async (answer: (message: { readonly id?: number; readonly method: string }) => { readonly status?: number; readonly type?: string; readonly body: string } | undefined) => {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const message = JSON.parse(Buffer.concat(chunks).toString()) as { id?: number; method: string };
      const made = answer(message);
      if (made === undefined) return;
      response.writeHead(made.status ?? 200, { 'content-type': made.type ?? 'application/json' }).end(made.body);
    });
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const result = (id: number | undefined, value: object): { readonly body: string } => ({ body: JSON.stringify({ jsonrpc: '2.0', id, result: value }) });

const hello = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'handmade', version: '1' } };

test('a tool that is no tool is left out, and the others stay', async () => {
  const tools = [{ name: 'good', inputSchema: { type: 'object' } }, { name: 7 }, 'nonsense', { name: 'odd', inputSchema: 'none' }, { name: 'loose' }, { name: 'good', description: 'again' }, { name: `long${'g'.repeat(300)}` }];
  await using server = await handmade(({ id, method }) => {
    if (method === 'initialize') return result(id, hello);
    return method === 'tools/list' ? result(id, { tools }) : { status: id === undefined ? 202 : 400, body: '' };
  });
  await using bench = await newBench();
  await bench.configure({ far: { url: server.url } });
  await bench.reach('far', 'ready');
  assert.deepEqual(bench.names(), ['mcp_far_good', 'mcp_far_loose', 'mcp_far_odd']);
  assert.deepEqual(bench.tool('mcp_far_odd').definition.parameters, { type: 'object', properties: {} });
  assert.equal(bench.lines.filter((line) => line.includes('mcp.tool_skipped')).length, 3);
});

test('names and descriptions of a server hold no hidden words and no unreasonable lengths', async () => {
  const tools = [{ name: 'a\u0007b', description: `Reads\u{e0049}\u{e0047} files.\u001b[2J${'long '.repeat(2000)}` }];
  await using server = await handmade(({ id, method }) => {
    if (method === 'initialize') return result(id, hello);
    return method === 'tools/list' ? result(id, { tools }) : { status: id === undefined ? 202 : 400, body: '' };
  });
  await using bench = await newBench();
  await bench.configure({ far: { url: server.url } });
  await bench.reach('far', 'ready');
  const { name, description } = bench.tool('mcp_far_a_b').definition;
  assert.equal(name, 'mcp_far_a_b');
  assert.match(description, /^Reads files\.long/);
  assert.ok(description.length <= 1024);
});

test('a server that never answers is given up after its time', async () => {
  await using server = await handmade(() => undefined);
  await using bench = await newBench();
  await bench.configure({ far: { url: server.url, connect_timeout: 5 } });
  await until(() => bench.clock.waiting() > 0, 'the connection to be under way');
  await bench.clock.advance(5_000);
  await bench.reach('far', 'waiting');
  const [report] = bench.servers.report();
  assert.ok(report?.status.state === 'waiting');
  assert.match(report.status.reason, /did not answer within 5 s/);
});

test('an endless answer is cut off', async () => {
  await using server = await handmade(({ id, method }) => {
    if (method === 'initialize') return result(id, hello);
    return method === 'tools/list' ? { body: `{"jsonrpc":"2.0","id":${id},"result":{"tools":[],"x":"${'x'.repeat(11 * 1024 * 1024)}"}}` } : { status: id === undefined ? 202 : 400, body: '' };
  });
  await using bench = await newBench();
  await bench.configure({ far: { url: server.url } });
  await bench.reach('far', 'waiting');
  const [report] = bench.servers.report();
  assert.ok(report?.status.state === 'waiting');
  assert.match(report.status.reason, /larger than 10 MB/);
});

test('what a server writes into an error is shown without secrets and without tricks', async () => {
  await using server = await handmade(({ id, method }) => {
    if (method === 'initialize') return result(id, hello);
    if (method === 'tools/list') return result(id, { tools: [{ name: 'open' }] });
    if (method === 'tools/call') return { status: 500, body: 'wrong key sesame\u001b[31m' };
    return { status: id === undefined ? 202 : 400, body: '' };
  });
  await using bench = await newBench();
  await bench.configure({ far: { url: server.url } });
  await bench.reach('far', 'ready');
  await assert.rejects(bench.call('mcp_far_open'), failing('failed', /HTTP 500: .*wrong key \*\*\*$/));
});

test('a server that wants a login is left alone until a person has logged in', async () => {
  let requests = 0;
  await using server = await handmade(({ id, method }) => {
    requests += 1;
    if (method === 'initialize') return result(id, hello);
    return method === 'tools/list' ? result(id, { tools: [{ name: 'secret' }] }) : { status: id === undefined ? 202 : 400, body: '' };
  });
  await using bench = await newBench();
  await bench.configure({ far: { url: server.url, auth: 'oauth' } });
  await bench.reach('far', 'login');
  assert.equal(requests, 0);
  const [report] = bench.servers.report();
  assert.ok(report?.status.state === 'login');
  assert.match(report.status.reason, /hermes mcp login far/);
  await loginFile(bench.home, { name: 'far', url: server.url }).write({ tokens: { access_token: 'abc', token_type: 'Bearer' } });
  bench.servers.reconnect();
  await bench.reach('far', 'ready');
});
