import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readActs } from '../src/lib/audit-log.ts';
import { hermes } from './support/terminal.ts';
import { newWorld, startOutside, until } from './support/whole.ts';

test('who changed what is written down, from a chat and from the shell, without the code or the value', async () => {
  await using world = await newWorld();
  await using _gateway = await startOutside(world);
  await world.say('/sethome', { senderName: 'Ada' });
  await until(() => readActs(world.home).length === 1, 'the act of the chat');
  await world.say('/whoami');
  await until(() => world.shown().length === 2, 'an answer to what changes nothing');
  assert.equal((await hermes(world, ['config', 'set', 'platforms.telegram.allowed_users', '[7, 8]'])).code, 0);
  assert.equal((await hermes(world, ['api', 'keys', 'create', 'laptop'])).code, 0);
  assert.notEqual((await hermes(world, ['api', 'keys', 'create', 'laptop'])).code, 0);
  const acts = readActs(world.home).map(({ by, act, subject }) => [by.replace(/^\S+ at/, 'somebody at'), act, subject]);
  assert.deepEqual(acts, [
    ['telegram:7 (Ada)', '/sethome', '7'],
    ['somebody at the command line', 'config set', 'platforms.telegram.allowed_users'],
    ['somebody at the command line', 'api keys create', 'laptop'],
  ]);
  const shown = await hermes(world, ['audit', '-n', '1']);
  assert.match(shown.out, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}\S+ at the command line {2}api keys create {2}laptop\n$/);
});
