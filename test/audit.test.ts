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
  await until(() => readActs(world.home).some(({ by }) => by === 'the gateway'), 'the gateway to take it over');
  assert.deepEqual(readActs(world.home).filter(({ by }) => by === 'the gateway').map(({ act, subject }) => [act, subject]), [['config take over', 'telegram']]);
  const acts = readActs(world.home).filter(({ by }) => by !== 'the gateway').map(({ by, act, subject }) => [by.replace(/^\S+ at/, 'somebody at'), act, subject]);
  assert.deepEqual(acts, [
    ['telegram:7 (Ada)', '/sethome', '7'],
    ['somebody at the command line', 'config set', 'platforms.telegram.allowed_users'],
    ['somebody at the command line', 'api keys create', 'laptop'],
  ]);
  const shown = await hermes(world, ['audit', '-n', '50']);
  assert.match(shown.out, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d\d:\d\d {2}\S+ at the command line {2}api keys create +laptop$/m);
});

test('an act of a chat is written down with what it was done to, and only if it did something', async () => {
  await using world = await newWorld();
  await world.configure({ platforms: { telegram: { ...world.telegram.options, allowed_users: ['7'], allow_admin_from: ['7'] }, webhook: { routes: { deploy: { secret: 'a-secret-of-the-route' } } } } });
  await using _gateway = await startOutside(world);
  const answered = async (said: string): Promise<void> => {
    const before = world.shown().length;
    await world.say(said);
    await until(() => world.shown().length > before, `an answer to ${said}`);
  };
  for (const said of ['/platform list', '/platform pause nobody', '/platform pause webhook', '/pair list', '/pair revoke 99', '/pair']) await answered(said);
  for (let i = 0; i < 7; i += 1) await answered(`/pair approve AAAAAAA${'BCDEFGH'[i]}`);
  const code = /Code: `?(\w{8})/.exec(world.shown().join('\n'))?.[1] ?? assert.fail('there is no code');
  const stranger = async (senderId: string, text: string): Promise<unknown> => world.telegram.say({ chatId: senderId, chatType: 'dm', senderId, text });
  for (let i = 0; i < 7; i += 1) await stranger('9', `AAAAAAA${'BCDEFGH'[i]}`);
  await until(() => readActs(world.home).some(({ by }) => by.startsWith('telegram:9')), 'the guesses');
  await stranger('10', code);
  await until(() => readActs(world.home).length >= 5, 'the acts');
  assert.deepEqual(readActs(world.home).map(({ act, subject }) => [act, subject]), [
    ['/platform pause', 'webhook'],
    ['/pair', 'an invitation for telegram'],
    ['pairing locked', 'telegram: too many wrong codes'],
    ['pairing locked', 'too many wrong codes'],
    ['pairing redeem', 'invited by 7'],
  ]);
});

test('starting, replacing, restarting and stopping from the shell are written down', { skip: process.platform === 'win32' && 'no signals' }, async () => {
  await using world = await newWorld();
  assert.equal((await hermes(world, ['gateway', 'start'])).code, 0);
  try {
    assert.equal((await hermes(world, ['gateway', 'start'])).code, 0);
    assert.equal((await hermes(world, ['gateway', 'start', '--replace'])).code, 0);
    assert.equal((await hermes(world, ['gateway', 'restart'])).code, 0);
  } finally {
    assert.equal((await hermes(world, ['gateway', 'stop'])).code, 0);
  }
  assert.equal((await hermes(world, ['gateway', 'stop'])).code, 0);
  assert.deepEqual(readActs(world.home).map(({ act }) => act), ['gateway start', 'gateway take over', 'gateway restart', 'gateway stop']);
});
