import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Question } from '../../../core/question.ts';
import { ToolError } from '../contract.ts';
import { scriptedCommand } from './scripted-server.test-support.ts';
import { newBench, serverSettings, until } from './servers.test-support.ts';

const failing = (code: string, words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ToolError, String(error));
  assert.equal(error.code, code);
  assert.match(error.message, words);
  return true;
};

const started = async (...args: readonly string[]) => {
  const bench = await newBench();
  await bench.configure({ it: scriptedCommand(...args) });
  await bench.reach('it', 'ready');
  return bench;
};

test('the tools of a program are the agent’s, and what they answer is marked as somebody else’s words', async () => {
  await using bench = await started();
  assert.ok(bench.names().includes('mcp_it_echo'));
  const answer = await bench.call('mcp_it_echo', { text: 'good morning' });
  assert.match(answer, /^\[untrusted text \w+ from "MCP server it" begins/);
  assert.match(answer, /\ngood morning\n/);
  assert.deepEqual(bench.tool('mcp_it_echo').definition.parameters, { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] });
});

test('a program that speaks only the newest revision of the protocol is understood', async () => {
  await using bench = await started('modern');
  assert.match(await bench.call('mcp_it_echo', { text: 'hello, future' }), /hello, future/);
});

test('starting waits for no server', async () => {
  await using bench = await newBench();
  await bench.configure({ silent: scriptedCommand('silent'), gone: { command: '/nowhere/at-all' } });
  assert.deepEqual(bench.names(), []);
  assert.equal(bench.state('silent'), 'connecting');
});

test('a server that cannot be set up does not keep later settings from being applied', async () => {
  await using bench = await newBench();
  await mkdir(join(bench.home, 'cache', 'mcp', 'it.json'), { recursive: true });
  await assert.rejects(bench.configure({ it: scriptedCommand() }), { code: 'EISDIR' });
  await bench.configure({ other: scriptedCommand('silent') });
  assert.equal(bench.state('other'), 'connecting');
});

test('a program knows nothing of our environment but what it is given', async () => {
  await using bench = await newBench();
  process.env['HERMES_TEST_SECRET_TOKEN'] = 'sesame';
  await bench.configure({ it: { ...scriptedCommand(), env: { OWN: '1' } } });
  await bench.reach('it', 'ready');
  const names = (await bench.call('mcp_it_variables')).split('\n')[1]?.split(' ') ?? [];
  delete process.env['HERMES_TEST_SECRET_TOKEN'];
  assert.ok(names.includes('OWN') && names.includes('LANG'));
  assert.ok(!names.some((name) => name.startsWith('HERMES') || name.startsWith('npm_')), names.join(' '));
});

test('an error of a tool, a refusal of the server and wrong arguments are errors for the model', async () => {
  await using bench = await started();
  await assert.rejects(bench.call('mcp_it_fail'), failing('failed', /out of paper/));
  await assert.rejects(bench.call('mcp_it_echo', { text: 7 }), failing('failed', /string/));
});

test('a server that crashes in the middle of a call is started again by itself', async () => {
  await using bench = await started();
  await assert.rejects(bench.call('mcp_it_crash'), failing('failed', /ended while this call was running. It may have taken effect/));
  assert.match(await bench.call('mcp_it_echo', { text: 'back again' }), /back again/);
  assert.ok(bench.lines.some((line) => line.includes('mcp.lost') && line.includes('the disk is on fire')));
});

test('a server that keeps crashing is given growing pauses, and its tools say why they are unavailable', async () => {
  await using bench = await started();
  await assert.rejects(bench.call('mcp_it_crash'));
  await bench.reach('it', 'ready');
  await assert.rejects(bench.call('mcp_it_crash'));
  await bench.reach('it', 'waiting');
  await assert.rejects(bench.call('mcp_it_echo', { text: 'x' }), failing('unavailable', /MCP server it is unavailable: it ended; its last words: the disk is on fire\. The next attempt is in 2 s/));
  await bench.clock.advance(2_000);
  await bench.reach('it', 'ready');
  assert.match(await bench.call('mcp_it_echo', { text: 'patience' }), /patience/);
});

test('a program that cannot be started is tried again with growing pauses', async () => {
  await using bench = await newBench();
  await bench.configure({ gone: { command: '/nowhere/at-all' }, dying: scriptedCommand('die') });
  const waits = () => bench.servers.report().map(({ status }) => (status.state === 'waiting' ? [status.retryAtMs - bench.clock.now(), status.reason] : []));
  await until(() => waits().every((wait) => wait.length > 0), 'both to fail');
  const [dying, gone] = waits();
  assert.deepEqual([dying?.[0], gone?.[0]], [1_000, 1_000]);
  assert.match(String(gone?.[1]), /ENOENT/);
  assert.match(String(dying?.[1]), /its last words: no licence/);
  await bench.clock.advance(1_000);
  await until(() => waits().every((wait) => Number(wait[0]) > 1_000), 'both to fail again');
  assert.deepEqual(waits().map((wait) => wait[0]), [2_000, 2_000]);
  assert.equal(bench.lines.filter((line) => line.includes('mcp.unreachable') && line.includes('"server":"gone"')).length, 1, 'the same is not said again');
});

test('a call that hangs ends after its time, and the server is told', async () => {
  await using bench = await newBench();
  await bench.configure({ it: { ...scriptedCommand(), timeout: 30 } });
  await bench.reach('it', 'ready');
  const call = bench.call('mcp_it_hang');
  call.catch(() => undefined);
  await until(() => bench.clock.waiting() > 1, 'the call to be under way');
  await bench.clock.advance(30_000);
  await assert.rejects(call, failing('failed', /did not answer within 30 s/));
  assert.match(await bench.call('mcp_it_echo', { text: 'still here' }), /still here/);
});

test('a call that is cancelled ends at once with the reason it was given', async () => {
  await using bench = await started();
  const stop = new AbortController();
  const call = bench.call('mcp_it_hang', {}, { signal: stop.signal });
  const reason = new Error('stopped by a person');
  stop.abort(reason);
  await assert.rejects(call, reason);
});

test('progress is a sign of life: neither the turn nor the call runs out of time', async () => {
  await using bench = await newBench();
  await bench.configure({ it: { ...scriptedCommand(), timeout: 30 } });
  await bench.reach('it', 'ready');
  let alive = 0;
  const walk = bench.call('mcp_it_walk', {}, { context: { alive: () => (alive += 1) } });
  for (let steps = 1; steps <= 3; steps += 1) {
    await until(() => alive === steps, `step ${steps}`);
    await bench.clock.advance(20_000);
    await bench.call('mcp_it_step', { last: steps === 3 });
  }
  assert.match(await walk, /arrived/);
});

test('a call to a server that is being connected waits for it, but not for ever', async () => {
  await using bench = await started();
  await bench.configure({});
  const quiet = { ...scriptedCommand(), env: { SCRIPT: 'silent' }, connect_timeout: 10 };
  await bench.configure({ it: quiet });
  const call = bench.call('mcp_it_echo', { text: 'anybody there?' });
  call.catch(() => undefined);
  assert.equal(bench.state('it'), 'connecting');
  await bench.clock.advance(10_000);
  await assert.rejects(call, failing('unavailable', /MCP server it is unavailable: it (?:did not answer within 10 s|is still connecting)/));
});

test('nothing is left of a program that does not end by itself', async () => {
  await using bench = await newBench();
  await bench.configure({ it: { ...scriptedCommand(), env: { SCRIPT: 'stubborn' } } });
  await bench.reach('it', 'ready');
  const pid = Number((await bench.call('mcp_it_pid')).split('\n')[1]);
  assert.ok(process.kill(pid, 0));
  await bench.configure({});
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
});

test('nothing is left of a program that is still being connected either', async () => {
  await using bench = await newBench();
  const file = join(bench.home, 'pid');
  await bench.configure({ it: { ...scriptedCommand('silent'), env: { PID_FILE: file } } });
  await until(() => existsSync(file) && readFileSync(file, 'utf8') !== '', 'the program to run');
  const pid = Number(readFileSync(file, 'utf8'));
  await bench.configure({});
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
});

test('after a restart the tools are the same from the first moment, also when the server does not come back', async () => {
  await using bench = await started('5');
  const before = JSON.stringify(bench.servers.groups().map(({ toolset, tools }) => [toolset, tools.map(({ definition }) => definition)]));
  await bench.servers.close();
  const next = bench.again();
  const options = serverSettings({ ...scriptedCommand('5'), connect_timeout: 10 });
  await next.configure({ it: options });
  assert.equal(JSON.stringify(next.groups().map(({ toolset, tools }) => [toolset, tools.map(({ definition }) => definition)])), before);
  await next.configure({ it: serverSettings(scriptedCommand('6')) });
  assert.deepEqual(next.groups(), [], 'another program is another server');
});

test('results are bounded, however long', async () => {
  await using bench = await started();
  const answer = await bench.call('mcp_it_big', { chars: 3_000_000 });
  assert.ok(answer.length < 1_001_000);
  assert.match(answer, /characters left out/);
});

test('a message of unreasonable size ends the connection, not the gateway', async () => {
  await using bench = await started();
  await assert.rejects(bench.call('mcp_it_big', { chars: 11 * 1024 * 1024 }), failing('failed', /ended while this call was running/));
  assert.match(await bench.call('mcp_it_echo', { text: 'recovered' }), /recovered/);
});

test('what is no text is described, and kept where the agent can reach it', async () => {
  const kept: string[] = [];
  await using bench = await newBench({
    keepFile: async ({ bytes, mime }) => {
      kept.push(`${mime} ${Buffer.from(bytes).toString()}`);
      return '/media/1.png';
    },
  });
  await bench.configure({ it: scriptedCommand() });
  await bench.reach('it', 'ready');
  assert.match(await bench.call('mcp_it_picture'), /\[image, image\/png, 6 bytes: \/media\/1\.png\]/);
  assert.deepEqual(kept, ['image/png pixels']);
});

test('many tools come in one fixed order', async () => {
  await using bench = await started('50');
  const extras = bench.names().filter((name) => name.includes('extra_'));
  assert.equal(extras.length, 50);
  assert.deepEqual(bench.names(), bench.names().toSorted());
  assert.match(await bench.call('mcp_it_extra_049'), /\n49\n/);
});

test('a server that has other tools now changes what is offered, not what is held', async () => {
  await using bench = await started();
  const held = bench.servers.groups();
  const names = bench.names();
  await bench.call('mcp_it_grow');
  await until(() => bench.names().includes('mcp_it_grown'), 'the new tool');
  assert.deepEqual(held.flatMap(({ tools }) => tools).map(({ definition }) => definition.name), names);
  assert.match(await bench.call('mcp_it_grown'), /I am new/);
});

test('the owner decides which tools the agent gets', async () => {
  await using bench = await newBench();
  const server = scriptedCommand();
  await bench.configure({ only: { ...server, tools: { include: ['e*', 'fail'], exclude: ['echo'], resources: false, prompts: false } }, without: { ...server, tools: { exclude: ['*a*', 'crash'], prompts: false } }, off: { ...server, enabled: false } });
  await bench.reach('only', 'ready');
  await bench.reach('without', 'ready');
  const of = (server: string): readonly string[] => bench.names().filter((name) => name.startsWith(`mcp_${server}_`));
  assert.deepEqual(of('only'), ['mcp_only_echo', 'mcp_only_fail']);
  assert.ok(of('without').includes('mcp_without_read_resource') && !of('without').includes('mcp_without_get_prompt') && !of('without').includes('mcp_without_ask'));
  assert.deepEqual(of('off'), []);
  assert.deepEqual(bench.servers.groups().map(({ toolset }) => toolset), ['mcp-only', 'mcp-without']);
});

test('resources and prompts of a server can be listed and read', async () => {
  await using bench = await started();
  assert.match(await bench.call('mcp_it_list_resources'), /note:\/\/one \(note\): A note/);
  assert.match(await bench.call('mcp_it_read_resource', { uri: 'note://one' }), /remember the milk/);
  assert.match(await bench.call('mcp_it_list_prompts'), /greet\(name\)/);
  assert.match(await bench.call('mcp_it_get_prompt', { name: 'greet', arguments: { name: 'Ada' } }), /user: Greet Ada/);
  await assert.rejects(bench.call('mcp_it_read_resource', { uri: 'note://none' }), failing('bad_arguments', /refused/));
});

test('a question of the server goes to the person of the call, and time stands still meanwhile', async () => {
  await using bench = await newBench();
  await bench.configure({ it: { ...scriptedCommand(), timeout: 30 } });
  await bench.reach('it', 'ready');
  const asked: Question[] = [];
  const ask = async (question: Question) => {
    asked.push(question);
    await bench.clock.advance(120_000);
    return { type: 'answered' as const, value: 'green', by: '7' };
  };
  assert.match(await bench.call('mcp_it_ask', {}, { context: { ask } }), /"action":"accept".*"colour":"green"/);
  assert.match(asked[0]?.text ?? '', /\*\*it\*\* asks: Which colour\?\nColour/);
  assert.equal(asked[0]?.answerer, 'asker');
  assert.equal(asked[0]?.begun, true);
});

test('when two conversations share a pipe nobody is asked, for it could be the wrong person', async () => {
  await using bench = await started();
  let asked = 0;
  const ask = async () => {
    asked += 1;
    return { type: 'unattended' as const };
  };
  const hanging = bench.call('mcp_it_hang', {}, { context: { turnId: 'another' } });
  hanging.catch(() => undefined);
  assert.match(await bench.call('mcp_it_ask', {}, { context: { ask } }), /"action":"cancel"/);
  assert.equal(asked, 0);
});

test('our model is not lent out', async () => {
  await using bench = await started();
  assert.match(await bench.call('mcp_it_sample'), /refused: /);
});

test('a server that nobody uses is let go and comes back for the next call', async () => {
  await using bench = await newBench();
  await bench.configure({ it: { ...scriptedCommand(), idle_timeout_seconds: 60 } });
  await bench.reach('it', 'ready');
  await bench.clock.advance(60_000);
  await bench.reach('it', 'resting');
  assert.ok(bench.names().includes('mcp_it_echo'));
  assert.match(await bench.call('mcp_it_echo', { text: 'awake' }), /awake/);
});

test('a server that is at work is not let go', async () => {
  await using bench = await newBench();
  await bench.configure({ it: { ...scriptedCommand(), idle_timeout_seconds: 60, timeout: 600 } });
  await bench.reach('it', 'ready');
  const walk = bench.call('mcp_it_walk');
  await bench.clock.advance(120_000);
  assert.equal(bench.state('it'), 'ready');
  await bench.call('mcp_it_step', { last: true });
  assert.match(await walk, /arrived/);
});

test('reconnecting and new settings take effect without a restart', async () => {
  await using bench = await newBench();
  await bench.configure({ it: { command: '/nowhere/at-all' } });
  await bench.reach('it', 'waiting');
  bench.servers.reconnect();
  assert.equal(bench.state('it'), 'connecting');
  await bench.reach('it', 'waiting');
  await bench.configure({ it: scriptedCommand() });
  await bench.reach('it', 'ready');
  bench.servers.reconnect();
  await until(() => bench.lines.filter((line) => line.includes('mcp.connected')).length === 2, 'the second connection');
  await bench.configure({});
  assert.deepEqual(bench.servers.groups(), []);
});
