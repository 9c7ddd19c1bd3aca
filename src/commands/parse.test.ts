import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCommand } from './parse.ts';

test('a command is a slash and a name, in any case, with everything behind it as its argument', () => {
  assert.deepEqual(parseCommand('/stop'), { name: 'stop', args: '' });
  assert.deepEqual(parseCommand('  /Title  My talk\nin two lines '), { name: 'title', args: 'My talk\nin two lines' });
});

test('the name of the bot behind a command is dropped', () => {
  assert.deepEqual(parseCommand('/status@hermes_bot now'), { name: 'status', args: 'now' });
});

test('dashes that a phone has made long are plain again', () => {
  assert.deepEqual(parseCommand('/undo —all –n'), { name: 'undo', args: '--all -n' });
});

test('paths, plain text and a lone slash are no commands', () => {
  for (const text of ['/etc/hosts', 'stop', '/', '', '/ stop', 'say /stop', '//stop']) assert.equal(parseCommand(text), undefined, text);
});
