import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventFamily, exactness, hookEvents, isDecidable, isEventPattern } from './events.ts';

test('an event is named by itself, by its kind or by a star, in that order of exactness', () => {
  assert.equal(exactness(['*', 'command:*', 'command:new'], 'command:new'), 0);
  assert.equal(exactness(['*', 'command:*'], 'command:new'), 1);
  assert.equal(exactness(['*'], 'command:new'), 2);
  assert.equal(exactness(['command:stop', 'session:*'], 'command:new'), undefined);
});

test('the name of a kind alone names nothing', () => {
  assert.equal(exactness(['command'], 'command:new'), undefined);
  assert.equal(isEventPattern('command'), false);
  assert.equal(isEventPattern('command:'), false);
});

test('an event without a kind is not named by the pattern of an empty kind', () => {
  assert.equal(exactness([':*', 's*'], 'select_agent'), undefined);
  assert.equal(exactness(['select_agent'], 'select_agent'), 0);
});

test('patterns are events, kinds of events and the star, and nothing that is misspelt', () => {
  for (const name of [...Object.keys(hookEvents), 'command:deploy', 'session:*', 'agent:*', 'message:*', '*']) assert.ok(isEventPattern(name), name);
  for (const name of ['sesion:start', 'session:begin', 'sesion:*', 'command:two words', '', ':*', 'select_agent:*']) assert.ok(!isEventPattern(name), name);
});

test('commands, texts and the choice of an agent can be decided, and nothing else', () => {
  const decidable = Object.keys(hookEvents).map((name) => (name === 'command:*' ? 'command:new' : name)).filter(isDecidable);
  assert.deepEqual(decidable, ['command:new', 'message:inbound', 'message:outbound', 'select_agent']);
  assert.equal(eventFamily('command:*'), undefined, 'the pattern is no event');
});

test('every event says which agent it is about', () => {
  for (const [name, { sample }] of Object.entries(hookEvents)) assert.ok('agent_id' in sample, name);
});
