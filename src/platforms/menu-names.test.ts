import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clampEntries, menuName, orderMenu } from './menu-names.ts';

const entries = ['a', 'b', 'c', 'd-e'].map((name) => ({ name, description: name }));
const names = (ordered: readonly { readonly name: string }[]): string[] => ordered.map(({ name }) => name);

test('a name keeps what menus allow', () => {
  assert.deepEqual(['Reload-MCP', 'my.skill', '__x__', '🙂go', '+++', 'a--b'].map(menuName), ['reload_mcp', 'myskill', 'x', 'go', '', 'a_b']);
});

test('a name that has to be cut gets a digit when the cut one is taken, and the eleventh finds no place', () => {
  const long = 'x'.repeat(40);
  const placed = names(clampEntries(Array.from({ length: 12 }, () => ({ name: long, description: '' }))));
  assert.equal(placed.length, 11);
  assert.deepEqual([placed[0], placed[1], placed[10]], ['x'.repeat(32), `${'x'.repeat(31)}0`, `${'x'.repeat(31)}9`]);
  assert.ok(placed.every((name) => name.length === 32));
  assert.equal(new Set(placed).size, placed.length);
});

test('of two equal names the first stays, with what is said about it', () => {
  assert.deepEqual(clampEntries([{ name: 'a', description: '1' }, { name: 'a', description: '2' }, { name: '', description: '3' }]), [{ name: 'a', description: '1' }]);
});

test('the owner moves commands to either end of the menu, or shows only those', () => {
  const order = (priority_mode: 'prepend' | 'append' | 'replace', max_commands = 60) => names(orderMenu(entries, { max_commands, priority_mode, priority: ['/d_e', 'B', 'unknown'] }));
  assert.deepEqual(order('prepend'), ['d-e', 'b', 'a', 'c']);
  assert.deepEqual(order('append'), ['a', 'c', 'd-e', 'b']);
  assert.deepEqual(order('replace'), ['d-e', 'b']);
  assert.deepEqual(order('prepend', 1), ['d-e']);
  assert.deepEqual(names(orderMenu(entries, { max_commands: 2, priority_mode: 'replace', priority: [] })), ['a', 'b']);
});
