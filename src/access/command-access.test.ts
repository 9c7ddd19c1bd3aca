import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { resolveCommand } from '../commands/registry.ts';
import { accountOptions } from '../platforms/account-options.ts';
import { commandAccess } from './command-access.ts';
import type { RuledCommand } from './command-access.ts';

interface Case {
  readonly id: string;
  readonly in: { readonly config: Readonly<Record<string, readonly (string | number)[]>>; readonly scope: 'dm' | 'group'; readonly user: string | null; readonly command: string };
  readonly out: { readonly may_run: boolean; readonly is_admin: boolean };
}

const { cases } = JSON.parse(readFileSync(new URL('../../test/vectors/slash-access.json', import.meta.url), 'utf8')) as { cases: readonly Case[] };

/** The configuration reads numbers as text before the schema sees them, and refuses `*`. */
const rulesOf = (config: Case['in']['config']) => {
  const texts = Object.fromEntries(Object.entries(config).map(([key, list]) => [key, list.map(String).filter((id) => id !== '*')]));
  return accountOptions.parse(texts);
};

/** A command as the registry knows it, or one of a platform's own. */
const named = (name: string): RuledCommand => {
  const resolved = resolveCommand(name);
  return resolved.type === 'command' ? resolved.command : { name, aliases: [] };
};

for (const { id, in: given, out } of cases) {
  test(`the vector ${id} holds`, () => {
    const access = commandAccess({ rules: rulesOf(given.config), chatType: given.scope, userIds: given.user === null ? [] : [given.user], authenticated: false });
    assert.deepEqual({ may_run: access.mayRun(named(given.command)), is_admin: access.role === 'admin' }, out);
  });
}

test('without an admin list nobody is restricted, but only those named by id may let others in', () => {
  const rules = accountOptions.parse({ allowed_users: ['1'] });
  const of = (user: string) => commandAccess({ rules, chatType: 'dm', userIds: [user], authenticated: false });
  assert.deepEqual([of('1').mayRun(named('new')), of('2').mayRun(named('new'))], [true, true]);
  assert.deepEqual([of('1').mayAdminister, of('2').mayAdminister], [true, false]);
});

test('an admin list for direct messages says nothing about groups', () => {
  const rules = accountOptions.parse({ allow_admin_from: ['1'] });
  assert.equal(commandAccess({ rules, chatType: 'group', userIds: ['2'], authenticated: false }).mayRun(named('new')), true);
  assert.equal(commandAccess({ rules, chatType: 'group', userIds: ['1'], authenticated: false }).role, 'user');
});

test('the list for groups serves direct messages that have none, for commands only', () => {
  const rules = accountOptions.parse({ allow_admin_from: ['1'], group_user_allowed_commands: ['/stop'] });
  const access = commandAccess({ rules, chatType: 'dm', userIds: ['2'], authenticated: false });
  assert.deepEqual([access.mayRun(named('stop')), access.mayRun(named('new'))], [true, false]);
});

test('whoever the platform has proved to be the owner may do everything', () => {
  const access = commandAccess({ rules: accountOptions.parse({ allow_admin_from: ['1'] }), chatType: 'dm', userIds: ['owner'], authenticated: true });
  assert.deepEqual([access.role, access.mayAdminister, access.mayRun(named('restart'))], ['admin', true, true]);
});
