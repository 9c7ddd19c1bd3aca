import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayDecide, readManifest, timeoutOf } from './manifest.ts';
import type { HookManifest } from './manifest.ts';

const good = (text: string): HookManifest => {
  const read = readManifest(text);
  assert.ok(!('problem' in read), JSON.stringify(read));
  return read;
};

const problem = (text: string): string => {
  const read = readManifest(text);
  assert.ok('problem' in read, JSON.stringify(read));
  return read.problem;
};

test('a manifest of the original is enough', () => {
  const read = good('name: my-hook\ndescription: Notes every conversation\nevents:\n  - session:start\n  - session:end\nversion: 1.2\nauthor: Ann\n');
  assert.deepEqual([read.name, read.events, read.kind, read.on_failure, read.enabled], ['my-hook', ['session:start', 'session:end'], 'decide', 'pass', true]);
});

test('what is misspelt is refused with its name, for it might be what makes a filter strict', () => {
  assert.match(problem('events: [message:inbound]\non_falure: block'), /on_falure/);
  assert.match(problem('events: [sesion:start]'), /"sesion:start" is no event/);
  assert.match(problem('events: [command]'), /"command" is no event/);
  assert.match(problem('events: []'), /at least one event/);
  assert.match(problem('description: no events'), /events/);
  assert.match(problem('events: [agent:end]\ntimeout: 3600'), /timeout/);
  assert.match(problem('- events'), /HOOK\.yaml/);
  assert.match(problem('events: [agent:end'), /not YAML/);
});

test('a manifest made of references to itself is refused instead of unfolded', () => {
  const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]', ...['b', 'c', 'd', 'e'].map((name, i) => `${name}: &${name} [${Array.from({ length: 9 }, () => `*${['a', 'b', 'c', 'd'][i]}`).join(', ')}]`)].join('\n');
  assert.match(problem(bomb), /refers to itself/);
});

test('who is waited for has less time than who only watches', () => {
  const times = (text: string, event: string): number => timeoutOf(good(text), event);
  assert.equal(times('events: [message:inbound]', 'message:inbound'), 2_000);
  assert.equal(times('events: [message:inbound]\nkind: observe', 'message:inbound'), 30_000);
  assert.equal(times('events: [agent:end]', 'agent:end'), 30_000);
  assert.equal(times('events: ["*"]\ntimeout: 120', 'message:inbound'), 10_000);
  assert.equal(times('events: ["*"]\ntimeout: 120', 'agent:end'), 120_000);
});

test('a hook may decide when it listens to something that can be decided and does not only watch', () => {
  const may = (events: string, kind = 'decide'): boolean => mayDecide(good(`events: [${events}]\nkind: ${kind}`));
  assert.deepEqual([may('command:new'), may('"command:*"'), may('"*"'), may('select_agent'), may('agent:end'), may('"session:*"'), may('message:inbound', 'observe')], [true, true, true, true, false, false, false]);
});
