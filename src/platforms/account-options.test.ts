import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountOptions } from './account-options.ts';

test('an account says nobody may speak unless it is told otherwise', () => {
  const options = accountOptions.parse({});
  assert.deepEqual([options.allowed_users, options.allow_all_users, options.allow_bots, options.group_allowed_chats, options.group_allowed_users], [[], false, 'none', [], []]);
});

test('lists whose absence means something else than being empty stay absent', () => {
  const options = accountOptions.parse({});
  for (const key of ['allow_admin_from', 'group_allow_admin_from', 'user_allowed_commands', 'group_user_allowed_commands'] as const) assert.equal(options[key], undefined, key);
  assert.deepEqual(accountOptions.parse({ allow_admin_from: [] }).allow_admin_from, []);
});

test('bots are heard by words or by true and false', () => {
  const bots = (value: unknown): string => accountOptions.parse({ allow_bots: value }).allow_bots;
  assert.deepEqual(['none', 'mentions', 'all', true, false, 'yes', 'off'].map(bots), ['none', 'mentions', 'all', 'all', 'none', 'all', 'none']);
  assert.equal(accountOptions.safeParse({ allow_bots: 'sometimes' }).success, false);
});

test('commands lose their slash and their capitals, and * is no command', () => {
  assert.deepEqual(accountOptions.parse({ user_allowed_commands: ['/Status', 'model'] }).user_allowed_commands, ['status', 'model']);
  assert.equal(accountOptions.safeParse({ user_allowed_commands: ['*'] }).success, false);
});

test('every key has a description for the docs', () => {
  for (const [key, schema] of Object.entries(accountOptions.shape)) assert.match(JSON.stringify(schema.unwrap().meta() ?? {}), /description/, key);
});
