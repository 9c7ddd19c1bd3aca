import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { clampEntries, menuName } from '../platforms/menu-names.ts';
import { sampleSettings } from './command-call.test-support.ts';
import type { Command } from './contract.ts';
import { parseCommand } from './parse.ts';
import { readCommand } from './read-command.ts';
import { commands, isCalled } from './registry.ts';
import { existsAt } from './visible.ts';

interface Vectors {
  readonly cases: readonly { readonly id: string; readonly in: Readonly<Record<string, unknown>>; readonly out: Readonly<Record<string, unknown>> }[];
}

const { cases } = JSON.parse(readFileSync(new URL('../../test/vectors/slash-commands.json', import.meta.url), 'utf8')) as Vectors;

/** What the recorded program refuses while it works and we do not: a command that is safe then answers. */
const answersAnyway: readonly string[] = ['usage', 'model', 'sethome'];

/** What exists only in the recorded program's terminal, and here everywhere. */
const existsAnywhere: readonly string[] = ['handoff'];

const kindOf = (id: string): string => ['parse', 'resolve', 'menu-name', 'clamp', 'plaintext'].find((kind) => id.startsWith(`${kind}-`)) ?? '';
/** A terminal asks like any chat; there is no prompt of its own for approvals. */
const answeredInTerminal = ['approve', 'deny'];

const ofKind = (kind: string) => cases.filter(({ id }) => kindOf(id) === kind);
const exact = (name: unknown): Command | undefined => commands.find((command) => isCalled(command, String(name)));

test('every recorded case is of a kind that is looked at', () => {
  assert.deepEqual(cases.filter(({ id }) => kindOf(id) === ''), []);
});

for (const { id, in: given, out } of ofKind('parse')) {
  test(`the vector ${id} holds`, () => {
    const parsed = parseCommand(String(given['text']));
    const isNamed = typeof out['name'] === 'string' && out['name'] !== '';
    assert.deepEqual(parsed, isNamed ? { name: out['name'], args: out['args'] } : undefined);
    const known = parsed === undefined ? undefined : exact(parsed.name);
    if (known !== undefined) assert.deepEqual([known.name, out['known_in_chat']], [out['canonical'], existsAt(known, { surface: 'chat', settings: sampleSettings() })]);
  });
}

for (const { id, in: given, out } of ofKind('resolve')) {
  const command = exact(given['name']);
  // What is not ours has no counterpart here.
  if (command === undefined) continue;
  test(`the vector ${id} holds`, () => {
    const at = (surface: 'chat' | 'terminal'): boolean => existsAt(command, { surface, settings: sampleSettings() });
    const inChat = existsAnywhere.includes(command.name) || out['in_chat'];
    const inTerminal = answeredInTerminal.includes(command.name) || out['in_terminal'];
    assert.deepEqual([command.name, at('chat'), at('terminal')], [out['canonical'], inChat, inTerminal]);
    const refused = out['while_busy'] === 'reject' && !answersAnyway.includes(command.name);
    assert.equal(command.whileRunning, refused ? 'refused' : 'allowed');
  });
}

for (const { id, in: given, out } of ofKind('menu-name')) {
  test(`the vector ${id} holds`, () => {
    assert.deepEqual({ telegram: menuName(String(given['raw_name'])), slack: menuName(String(given['raw_name'])) }, out);
  });
}

for (const { id, in: given, out } of ofKind('clamp')) {
  test(`the vector ${id} holds`, () => {
    const entries = (given['names'] as string[]).map((name) => ({ name, description: '' }));
    assert.deepEqual(clampEntries(entries, given['reserved'] as string[]).map(({ name }) => name), out['names']);
  });
}

for (const { id, in: given, out } of ofKind('plaintext')) {
  test(`the vector ${id} holds`, () => {
    const text = String(given['text']);
    const type = given['chat_type'] === 'dm' ? 'dm' : 'group';
    const read = readCommand({ text, chat: { id: '1', type } }, {}, () => commands);
    assert.equal(read === undefined ? text : `/${read.name}`, out['text']);
  });
}
