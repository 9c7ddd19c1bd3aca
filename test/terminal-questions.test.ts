import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { calls, says } from '../src/agent/models/chat-simulator.ts';
import type { Answer, SimulatedRequest } from '../src/agent/models/chat-simulator.ts';
import { hermes } from './support/terminal.ts';
import { newWorld, startOutside } from './support/whole.ts';

const asks = (id: string, question: string, choices?: readonly string[]): Answer => calls({ id, name: 'clarify', arguments: JSON.stringify({ question, ...(choices !== undefined && { choices }) }) });

const toolResults = (request: SimulatedRequest | undefined): string => JSON.stringify(request?.body.messages.filter(({ role }) => role === 'tool'));

test('a line of a pipe answers what the agent asks, by number or in words', { timeout: 180_000 }, async () => {
  await using world = await newWorld();
  world.model.next(asks('c1', 'Which colour?', ['red', 'blue']), asks('c2', 'And what name?'), says('Painted.'));
  const { code, out } = await hermes(world, ['--plain'], 'paint it\n2\nthe old boat\nthank you');
  assert.equal(code, 0);
  assert.match(out, /Which colour\?[\s\S]*› blue\n[\s\S]*And what name\?[\s\S]*› the old boat\n[\s\S]*Painted\.\n\n› thank you\n\nre: thank you/);
  const [, second, third] = world.model.requests;
  assert.match(toolResults(second), /blue/);
  assert.match(toolResults(third), /the old boat/);
});

test('a command in a pipe is carried out before the next line is taken for an answer', { timeout: 180_000 }, async () => {
  await using world = await newWorld();
  await mkdir(join(world.home, 'workspace', 'old'), { recursive: true });
  world.model.next(calls({ id: 'c1', name: 'terminal', arguments: JSON.stringify({ command: 'rm -r old' }) }), says('Gone.'));
  const { out } = await hermes(world, ['--plain'], 'clean up\n/approve\nthank you');
  assert.match(out, /Gone\.\n\n› thank you\n\nre: thank you/);
  assert.equal(existsSync(join(world.home, 'workspace', 'old')), false);
});

test('no answer is waited for once a pipe has ended', { timeout: 180_000 }, async () => {
  await using world = await newWorld();
  world.model.next(asks('c1', 'Which colour?', ['red', 'blue']), says('Red, then.'));
  const { code, out } = await hermes(world, ['--plain'], 'paint it');
  assert.equal(code, 0);
  assert.match(out, /Which colour\?[\s\S]*nobody is left to answer[\s\S]*Red, then\./);
  assert.match(toolResults(world.model.requests[1]), /did not answer/);
});

test('what the agent asks back about a single question gets no answer, at once, and the person is told', { timeout: 180_000 }, async () => {
  await using world = await newWorld();
  await using _gateway = await startOutside(world);
  world.model.next(asks('c1', 'Which colour?', ['red', 'blue']), says('Red, then.'));
  const { code, out, err } = await hermes(world, ['-q', 'paint it']);
  assert.deepEqual([code, out], [0, 'Red, then.\n']);
  assert.match(err, /^Nobody can answer here, so the agent goes on without: ❓ Which colour\?\n$/);
});
