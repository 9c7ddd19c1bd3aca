import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toolNames } from './tool-names.ts';
import type { ServerTool } from './tool-names.ts';

const names = (...tools: readonly [server: string, tool: string][]): string[] => toolNames(tools.map(([server, tool]): ServerTool => ({ server, tool }))).map(({ name }) => name);

test('a tool is called by its server and its own name, with plain characters', () => {
  assert.deepEqual(names(['my-server', 'list.items']), ['mcp_my_server_list_items']);
});

test('names and order depend on the tools alone, not on who came first', () => {
  const tools: [string, string][] = [['b', 'z'], ['a', 'y'], ['b', 'a']];
  assert.deepEqual(names(...tools), ['mcp_a_y', 'mcp_b_a', 'mcp_b_z']);
  assert.deepEqual(names(...tools.toReversed()), names(...tools));
});

test('tools that come out the same are told apart, always in the same way', () => {
  const clashing: [string, string][] = [['a', 'b_c'], ['a_b', 'c'], ['a', 'b-c'], ['a', 'b.c']];
  const made = names(...clashing);
  assert.equal(new Set(made).size, 4);
  assert.ok(made.includes('mcp_a_b_c'));
  assert.ok(made.every((name) => name.startsWith('mcp_a_b_c')));
  assert.deepEqual(names(...clashing.toReversed()), made);
});

test('no name is longer than providers take, and long ones stay different', () => {
  const made = names(['server', `${'x'.repeat(80)}1`], ['server', `${'x'.repeat(80)}2`], ['server', 'ü'.repeat(100)]);
  assert.equal(new Set(made).size, 3);
  assert.ok(made.every((name) => /^[A-Za-z0-9_]{1,64}$/.test(name)));
});

test('a server cannot take the name of a neighbour by foreseeing its mark', () => {
  const [, second] = names(['a', 'b-c'], ['a', 'b_c']);
  const forged = second?.replace('mcp_a_', '') ?? '';
  assert.equal(new Set(names(['a', 'b-c'], ['a', 'b_c'], ['a', forged])).size, 3);
});
