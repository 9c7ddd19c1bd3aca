import assert from 'node:assert/strict';
import { test } from 'node:test';
import { currentTime } from './current-time.ts';
import { toolSet } from './tool-set.ts';

test('a tool is found by its exact name and by nothing that an object inherits', () => {
  const tools = toolSet([currentTime]);
  assert.equal(tools.get('current_time'), currentTime);
  assert.equal(tools.get('constructor'), undefined);
  assert.deepEqual(tools.definitions, [currentTime.definition]);
});

test('two tools with one name are a mistake', () => {
  assert.throws(() => toolSet([currentTime, currentTime]));
});
