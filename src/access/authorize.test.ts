import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sampleEvent } from '../../test/support/samples.ts';
import type { EventKind, InboundEvent } from '../core/message.ts';
import { authorize } from './authorize.ts';
import type { AccessRules } from './authorize.ts';

const kinds: readonly EventKind[] = ['message', 'edit', 'button', 'reaction', 'join'];

const closed: AccessRules = {
  account: { allowed_users: [], allowed_roles: [], allow_all_users: false, allow_bots: 'none', group_allowed_chats: [], group_allowed_users: [] },
  authenticated: false,
  paired: false,
  allowedEverywhere: [],
  allowAllEverywhere: false,
};

const rules = (account: Partial<AccessRules['account']>, more: Partial<AccessRules> = {}): AccessRules => ({ ...closed, ...more, account: { ...closed.account, ...account } });

const direct = (facts: Partial<InboundEvent> = {}): Partial<InboundEvent> => ({ chat: { id: '7', type: 'dm' }, sender: { id: '7', isBot: false }, ...facts });
const inGroup = (facts: Partial<InboundEvent> = {}): Partial<InboundEvent> => direct({ chat: { id: '-1', type: 'group' }, ...facts });
const bot = { id: '7', isBot: true };

interface Case {
  readonly name: string;
  readonly rules: AccessRules;
  readonly event: Partial<InboundEvent>;
  readonly allowed: boolean;
  readonly by: string;
}

const cases: readonly Case[] = [
  { name: 'nothing configured', rules: closed, event: direct(), allowed: false, by: 'default' },
  { name: 'the login of the page', rules: rules({}, { authenticated: true }), event: direct(), allowed: true, by: 'platform login' },
  { name: 'an open account', rules: rules({ allow_all_users: true }), event: direct(), allowed: true, by: 'allow_all_users of the account' },
  { name: 'a listed person', rules: rules({ allowed_users: ['7'] }), event: direct(), allowed: true, by: 'allowed_users of the account' },
  { name: 'a listed person in a group', rules: rules({ allowed_users: ['7'] }), event: inGroup(), allowed: true, by: 'allowed_users of the account' },
  { name: 'a person listed by another id', rules: rules({ allowed_users: ['uuid-7'] }), event: direct({ sender: { id: '+49', altId: 'uuid-7', isBot: false } }), allowed: true, by: 'allowed_users of the account' },
  { name: 'a name that is listed', rules: rules({ allowed_users: ['Ada'] }), event: direct({ sender: { id: '8', name: 'Ada', isBot: false } }), allowed: false, by: 'default' },
  { name: 'a listed person for whom nobody vouches', rules: rules({ allowed_users: ['7'], allow_all_users: true }, { paired: true }), event: direct({ sender: { id: '7', isBot: false, unverified: 'no proof' } }), allowed: false, by: 'verified sender' },
  { name: 'somebody else', rules: rules({ allowed_users: ['77'] }), event: direct(), allowed: false, by: 'default' },
  { name: 'a group that is open', rules: rules({ group_allowed_chats: ['-1'] }), event: inGroup(), allowed: true, by: 'group_allowed_chats of the account' },
  { name: 'a thread of a group that is open', rules: rules({ group_allowed_chats: ['-1'] }), event: direct({ chat: { id: '9', type: 'thread', threadId: '9', parentId: '-1' } }), allowed: true, by: 'group_allowed_chats of the account' },
  { name: 'a direct chat with the id of an open group', rules: rules({ group_allowed_chats: ['7'] }), event: direct(), allowed: false, by: 'default' },
  { name: 'somebody with a listed role', rules: rules({ allowed_roles: ['r2'] }), event: inGroup({ sender: { id: '7', isBot: false, roles: ['r1', 'r2'] } }), allowed: true, by: 'allowed_roles of the account' },
  { name: 'somebody with other roles', rules: rules({ allowed_roles: ['r2'] }), event: inGroup({ sender: { id: '7', isBot: false, roles: ['r1'] } }), allowed: false, by: 'default' },
  { name: 'somebody whose id is that of a listed role', rules: rules({ allowed_roles: ['7'] }), event: inGroup(), allowed: false, by: 'default' },
  { name: 'a bot with a listed role', rules: rules({ allowed_roles: ['r2'] }), event: inGroup({ sender: { ...bot, roles: ['r2'] } }), allowed: false, by: 'bots' },
  { name: 'a person of groups, in a group', rules: rules({ group_allowed_users: ['7'] }), event: inGroup(), allowed: true, by: 'group_allowed_users of the account' },
  { name: 'a person of groups, in a direct chat', rules: rules({ group_allowed_users: ['7'] }), event: direct(), allowed: false, by: 'default' },
  { name: 'somebody let in by a code', rules: rules({}, { paired: true }), event: direct(), allowed: true, by: 'pairing' },
  { name: 'a bot let in by a code', rules: rules({}, { paired: true }), event: direct({ sender: bot }), allowed: false, by: 'bots' },
  { name: 'a person of every platform', rules: rules({}, { allowedEverywhere: ['7'] }), event: direct(), allowed: true, by: 'GATEWAY_ALLOWED_USERS' },
  { name: 'a gateway that is open', rules: rules({}, { allowAllEverywhere: true }), event: direct(), allowed: true, by: 'GATEWAY_ALLOW_ALL_USERS' },
  { name: 'a bot, however open the account', rules: rules({ allow_all_users: true, allowed_users: ['7'] }, { allowAllEverywhere: true }), event: direct({ sender: bot }), allowed: false, by: 'bots' },
  { name: 'a bot where all bots are heard but it is on no list', rules: rules({ allow_bots: 'all' }), event: direct({ sender: bot }), allowed: false, by: 'default' },
  { name: 'a listed bot where all bots are heard', rules: rules({ allow_bots: 'all', allowed_users: ['7'] }), event: direct({ sender: bot }), allowed: true, by: 'allowed_users of the account' },
  { name: 'a listed bot that does not mention us', rules: rules({ allow_bots: 'mentions', allowed_users: ['7'] }), event: inGroup({ sender: bot }), allowed: false, by: 'bots' },
  { name: 'a listed bot that mentions us', rules: rules({ allow_bots: 'mentions', allowed_users: ['7'] }), event: inGroup({ sender: bot, mentioned: true }), allowed: true, by: 'allowed_users of the account' },
];

describe('the same verdict for every kind of event', () => {
  for (const { name, rules: given, event, allowed, by } of cases) {
    test(`${name}: ${allowed ? 'allowed' : 'denied'}`, () => {
      for (const kind of kinds) {
        const verdict = authorize(sampleEvent({ ...event, kind }), given);
        assert.deepEqual([verdict.allowed, verdict.by], [allowed, by], kind);
      }
    });
  }
});

test('every rule that was asked is recorded in order, and the last one decided', () => {
  const { decisions } = authorize(sampleEvent(direct()), rules({}, { allowedEverywhere: ['7'] }));
  assert.deepEqual(decisions.map(({ verdict }) => verdict), ['no', 'no', 'no', 'no', 'no', 'no', 'no', 'no', 'allowed']);
  const denied = authorize(sampleEvent(direct()), closed).decisions;
  assert.deepEqual(denied.at(-1), { step: 'default', verdict: 'denied' });
  assert.equal(denied.length, 11);
});
