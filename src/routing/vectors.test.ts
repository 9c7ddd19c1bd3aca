import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { Route, RouteMatch } from './options.ts';
import { routingSections } from './options.ts';
import { matchingRoute } from './select-agent.ts';

interface TheirRoute {
  readonly platform?: string;
  readonly guild_id?: string;
  readonly chat_id?: string | number;
  readonly thread_id?: string;
  readonly profile?: string;
  readonly enabled?: boolean;
}

interface Vectors {
  readonly note: { readonly STANDARD: readonly TheirRoute[] };
  readonly cases: readonly {
    readonly id: string;
    readonly in: { readonly routes: 'STANDARD' | readonly TheirRoute[]; readonly message: { readonly platform: string; readonly guild_id?: string; readonly chat_id: string; readonly thread_id?: string; readonly parent_chat_id?: string } };
    readonly out: { readonly profile: string | null };
  }[];
}

const vectors = JSON.parse(readFileSync(new URL('../../test/vectors/routing-precedence.json', import.meta.url), 'utf8')) as Vectors;

const weight = ({ guild_id, chat_id, thread_id }: TheirRoute): number => (guild_id === undefined ? 0 : 2) + (chat_id === undefined ? 0 : 4) + (thread_id === undefined ? 0 : 8);

/** Theirs weigh routes and let a chat stand for its threads; ours are taken in the order of the file, and a parent is a key of its own. The most special first, each chat twice, says the same. */
const inOurWords = (routes: readonly TheirRoute[]): readonly unknown[] =>
  routes
    .filter(({ enabled }) => enabled !== false)
    .toSorted((a, b) => weight(b) - weight(a))
    .flatMap(({ profile: agent, ...rest }) => {
      const { platform, guild_id, chat_id, thread_id } = rest;
      const match = { ...(platform !== undefined && { platform }), ...(guild_id !== undefined && { guild_id }), ...(thread_id !== undefined && { thread_id }) };
      return chat_id === undefined ? [{ match, agent }] : [{ match: { ...match, chat_id }, agent }, { match: { ...match, parent_chat_id: chat_id }, agent }];
    });

/** What they pass over in silence, we refuse when the file is read. */
const refused = new Set(['missing-profile-skipped', 'bad-profile-name-skipped', 'non-dict-skipped']);

const differently: Readonly<Record<string, { readonly agent: string; readonly because: string }>> = {
  'missing-platform-skipped': { agent: 'pa', because: 'a route need not name a platform' },
  'numeric-id-in-config-does-not-match-text': { agent: 'pa', because: 'a number in the file is the id it stands for' },
};

describe('routes of the original, put into our words', () => {
  for (const { id, in: given, out } of vectors.cases) {
    test(id, () => {
      const theirs = given.routes === 'STANDARD' ? vectors.note.STANDARD : given.routes;
      const parsed = routingSections[1].schema.safeParse(typeof theirs[0] === 'string' ? theirs : inOurWords(theirs));
      if (refused.has(id)) {
        assert.equal(parsed.success, false);
        return;
      }
      const { platform, chat_id, thread_id, guild_id, parent_chat_id } = given.message;
      const chat = { id: chat_id, type: 'group' as const, ...(thread_id !== undefined && { threadId: thread_id }), ...(guild_id !== undefined && { scopeId: guild_id }), ...(parent_chat_id !== undefined && { parentId: parent_chat_id }) };
      const found = matchingRoute(parsed.data ?? assert.fail(), { account: platform, chat, sender: { id: '7', isBot: false } });
      const other = differently[id];
      assert.equal(found?.route.agent ?? null, other === undefined ? out.profile : other.agent, other?.because ?? id);
    });
  }
});

test('a special route that stands behind a general one does not decide, unlike theirs', () => {
  const routes: readonly Route[] = [{ match: { platform: 'telegram' } satisfies RouteMatch, agent: 'pa' }, { match: { platform: 'telegram', chat_id: '1' }, agent: 'pb' }];
  assert.equal(matchingRoute(routes, { account: 'telegram', chat: { id: '1', type: 'group' }, sender: { id: '7', isBot: false } })?.route.agent, 'pa');
});
