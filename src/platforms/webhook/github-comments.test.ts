import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { openAccountData } from '../../../test/support/account-data.ts';
import type { OutboundMessage } from '../../core/message.ts';
import { manualClock } from '../../lib/clock.ts';
import { failure, never } from '../conformance-bench.ts';
import { isOwnComment, openGithubComments } from './github-comments.ts';
import type { GithubComments } from './github-comments.ts';
import { placesOf, readIssue } from './github-issue.ts';
import { startGithub } from './github-simulator.ts';
import type { GithubSimulator } from './github-simulator.ts';
import { webhookOptions } from './options.ts';

const issue = 'octo/app#7';
const chatId = `github:${issue}`;

const routeWith = (route: object) => webhookOptions.parse({ github: { token: 't' }, routes: { r: { secret: 'long enough', ...route } } }).routes['r'] ?? assert.fail('no route');

describe('a comment on GitHub', () => {
  let github: GithubSimulator;
  let comments: GithubComments;

  beforeEach(async () => {
    github = await startGithub([issue]);
    comments = openGithubComments({ token: github.token, api_url: github.apiUrl }, openAccountData(':memory:'), () => manualClock().now());
    await comments.allow(chatId, 0);
  });
  afterEach(() => github[Symbol.asyncDispose]());

  const post = (text: string, more: Partial<OutboundMessage> = {}) => comments.post({ key: `key:${text.slice(0, 10)}`, text, target: { account: 'webhook', chatId, chatType: 'dm' }, ...more }, readIssue(chatId) ?? assert.fail('no issue'), never);
  const shown = (): readonly string[] => github.comments(issue).map(({ body }) => body.replace(/\n\n<!-- hermes-gateway:[0-9a-f]{32} -->$/, ''));

  it('is what the agent said, with a mark that nobody sees', async () => {
    const { messageIds } = await post('**Looks good.**');
    assert.deepEqual([shown(), messageIds], [['**Looks good.**'], [String(github.comments(issue)[0]?.id)]]);
    assert.match(github.comments(issue)[0]?.body ?? '', /\n\n<!-- hermes-gateway:[0-9a-f]{32} -->$/);
  });

  it('whose answer was lost is found again among many, and not written twice', async () => {
    github.fail('lost');
    await failure(post('once'), 'unknown_outcome');
    for (let i = 0; i < 120; i += 1) github.write(issue, `noise ${i}`);
    const again = await post('once', { mayBeShown: true });
    assert.deepEqual([again.messageIds, shown().filter((text) => text === 'once').length], [[String(github.comments(issue)[0]?.id)], 1]);
    await post('another', { mayBeShown: true });
    assert.equal(shown().at(-1), 'another');
  });

  it('that never arrived is written by the repeat', async () => {
    github.fail({ status: 502, body: '<html>' });
    await failure(post('once'), 'unknown_outcome');
    await post('once', { mayBeShown: true });
    assert.deepEqual(shown(), ['once']);
  });

  it('goes only where a call has spoken of', async () => {
    const elsewhere = { account: 'webhook', chatId: 'github:octo/app#8', chatType: 'dm' as const };
    const { message } = await failure(comments.post({ key: 'k', text: 'x', target: elsewhere }, { repo: 'octo/app', number: '8' }, never), 'forbidden');
    assert.match(message, /no call has spoken of this issue/);
    await comments.forget(1);
    await failure(post('later'), 'forbidden');
    assert.deepEqual(github.log, []);
  });

  it('tells apart what a refusal is about, without the token', async () => {
    const refusals = [
      [{ status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '4102444800' } }, 'rate_limited'],
      [{ status: 403, headers: { 'retry-after': '61' } }, 'rate_limited'],
      [{ status: 429 }, 'rate_limited'],
      [{ status: 403, body: '{"message":"You have exceeded a secondary rate limit"}' }, 'rate_limited'],
      [{ status: 403, body: '{"message":"Resource not accessible by personal access token"}' }, 'forbidden'],
      [{ status: 401 }, 'forbidden'],
      [{ status: 404 }, 'chat_gone'],
      [{ status: 410 }, 'chat_gone'],
      [{ status: 422 }, 'rejected'],
      [{ status: 200, body: 'garbage' }, 'unknown_outcome'],
    ] as const;
    for (const [fault, code] of refusals) {
      github.fail(fault);
      const error = await failure(post('x'), code);
      assert.ok(!error.message.includes(github.token));
      if (code === 'rate_limited') assert.ok(error.facts.scope === 'chat' && (error.facts.retryAfterMs ?? 0) >= 60_000);
    }
    assert.deepEqual(shown(), []);
  });

  it('that is too long, cannot be sent, or is no longer wanted is not sent', async () => {
    await failure(post('x'.repeat(65_530)), 'too_long');
    await failure(comments.post({ key: 'k', text: 'x', target: { account: 'webhook', chatId, chatType: 'dm' } }, { repo: 'octo/app', number: '7' }, AbortSignal.abort()), 'aborted');
    assert.deepEqual(github.log, []);
    await github[Symbol.asyncDispose]();
    await failure(post('x'), 'unavailable');
  });

  it('of plain text shows it as it is', async () => {
    await post('a *b* ```c```', { plain: true });
    assert.deepEqual(shown(), ['````text\na *b* ```c```\n````']);
  });

  it('of ours is known when it comes back as a call', async () => {
    await post('hello');
    assert.equal(isOwnComment({ action: 'created', comment: { body: github.comments(issue)[0]?.body } }), true);
    for (const payload of [{ comment: { body: 'hello' } }, { comment: {} }, {}, null, 'text']) assert.equal(isOwnComment(payload), false);
  });
});

describe('the place of a comment', () => {
  const facts = (payload: unknown) => ({ payload, event: 'e', route: 'r' });
  const places = (route: object, payload: unknown) => placesOf(routeWith(route), 'webhook@work', facts(payload));
  const repository = { full_name: 'octo/app' };

  it('is the issue or pull request of the payload, beside other places', () => {
    assert.deepEqual(places({ deliver: 'github_comment' }, { repository, pull_request: { number: 7 } }), { deliver: 'webhook@work:github:octo/app#7', issue: chatId });
    assert.deepEqual(places({ deliver: 'telegram:7, github_comment' }, { repository, issue: { number: 7 } }), { deliver: 'telegram:7, webhook@work:github:octo/app#7', issue: chatId });
    assert.deepEqual(places({ deliver: 'github_comment', deliver_extra: { repo: 'a/b', pr_number: '{n}' } }, { n: 3 })?.issue, 'github:a/b#3');
  });

  it('is none where the payload names none, or something that is no issue', () => {
    for (const payload of [{}, { repository }, { repository, issue: { number: 'x' } }, { repository: { full_name: 'a/b/../c' }, issue: { number: 1 } }, { repository: { full_name: 'a/b?x=' }, issue: { number: 1 } }, { repository: { full_name: 'a/..' }, issue: { number: 1 } }]) assert.equal(places({ deliver: 'github_comment' }, payload), undefined, JSON.stringify(payload));
    assert.deepEqual(places({ deliver: 'log' }, {}), { deliver: undefined, issue: undefined });
  });

  it('needs a token', () => {
    const problems = webhookOptions.safeParse({ routes: { r: { secret: 'long enough', deliver: 'telegram, github_comment' } } }).error?.issues;
    assert.deepEqual(problems?.map(({ path }) => path.join('.')), ['routes.r.deliver']);
  });
});
