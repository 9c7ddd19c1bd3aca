import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleSettings } from './command-call.test-support.ts';
import { readCommand } from './read-command.ts';
import { allCommands, commands } from './registry.ts';

const read = (text: string, more: { mark?: string; known?: typeof commands } = {}) =>
  readCommand({ text, chat: { id: '1', type: 'group' } }, more.mark === undefined ? {} : { commandMark: more.mark }, () => more.known ?? commands);

test('a platform’s own mark before the name of a command gives it', () => {
  assert.deepEqual(read('!stop', { mark: '!' }), { name: 'stop', args: '' });
  assert.deepEqual(read(' !Reset my talk ', { mark: '!' }), { name: 'reset', args: 'my talk' });
  assert.deepEqual(read('/stop', { mark: '!' }), { name: 'stop', args: '' });
});

test('the mark before anything else is only a mark, and without one it is nothing', () => {
  assert.equal(read('!important: read this', { mark: '!' }), undefined);
  assert.equal(read('!st', { mark: '!' }), undefined, 'a name that is only begun is no command');
  assert.equal(read('!', { mark: '!' }), undefined);
  assert.equal(read('!stop'), undefined);
});

test('commands of the configuration are known behind the mark as well', () => {
  const known = allCommands(sampleSettings({ quick_commands: { deploy: { type: 'exec', command: 'true' } } }));
  assert.deepEqual(read('!deploy now', { mark: '!', known }), { name: 'deploy', args: 'now' });
  assert.equal(read('!deploy now', { mark: '!' }), undefined);
});
