import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openAccountData } from '../../../test/support/account-data.ts';
import { manualClock } from '../../lib/clock.ts';
import { eventWith, failure, never } from '../conformance-bench.ts';
import { newAccessTokens } from './access-tokens.ts';
import { messageTo, openMailbox } from './email.test-support.ts';
import type { Mailbox } from './email.test-support.ts';
import { emailOptions } from './options.ts';
import { startTokenServer } from './simulator/token-server.ts';

const tokensOf = (box: Mailbox) => box.provider.tokens ?? assert.fail('no tokens');

describe('a mailbox that is opened by tokens', () => {
  it('is read and sent from with one access token', async () => {
    await using box = await openMailbox({ provider: { oauth: true } });
    const { inbox } = await box.receive();
    await box.say('hello');
    await eventWith(inbox, 'hello');
    await box.adapter.send(messageTo('k', 'answer'), never);
    assert.equal(box.provider.sent().length, 1);
    assert.deepEqual(tokensOf(box).requests.map(({ grant_type: type, refresh_token: token }) => [type, token]), [['refresh_token', 'simulated-refresh-token-DDDD']]);
  });

  it('is opened with a new token when the servers do not take the old one any more', async () => {
    await using box = await openMailbox({ provider: { oauth: true } });
    await box.adapter.identify(never);
    tokensOf(box).revokeAccess();
    await box.adapter.identify(never);
    const other = await box.open();
    await other.identify(never);
    tokensOf(box).revokeAccess();
    await other.send(messageTo('k', 'by a connection that is still open'), never);
    await (await box.open()).send(messageTo('k2', 'by a new one'), never);
    assert.equal(box.provider.sent().length, 2);
  });

  it('is opened with a new token also where only the SMTP server refuses the old one', async () => {
    await using box = await openMailbox({ provider: { oauth: true } });
    const { inbox } = await box.receive();
    tokensOf(box).revokeAccess();
    const late = await box.open();
    await late.send(messageTo('k', 'one'), never);
    tokensOf(box).revokeAccess();
    box.provider.fail({ what: 'send', fault: { type: 'refuse' } });
    await failure(late.send(messageTo('k', 'the connection breaks'), never), 'unavailable');
    await late.send(messageTo('k', 'two'), never);
    assert.equal(box.provider.sent().length, 2);
    assert.equal(inbox.events.length, 0);
  });

  it('stays closed when the permission was taken back, and the error says what to do, without a secret', async () => {
    await using box = await openMailbox({ provider: { oauth: true } });
    tokensOf(box).revokeAll();
    const { message } = await failure(box.adapter.identify(never), 'bad_credential');
    assert.match(message, /refresh token is not accepted any more, make a new one: invalid_grant/);
    for (const secret of box.provider.secrets) assert.ok(!`${message}${box.lines.join('\n')}`.includes(secret), secret);
  });
});

describe('access tokens', () => {
  const open = async (data = openAccountData(':memory:')) => {
    const server = await startTokenServer();
    const clock = manualClock();
    const oauth = server.options;
    return { server, clock, data, tokens: newAccessTokens({ oauth, provider: 'other', data, clock }), again: (changes = {}) => newAccessTokens({ oauth: { ...oauth, ...changes }, provider: 'other', data, clock }), [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  };

  it('are made once for all who ask, and anew shortly before they expire', async () => {
    await using opened = await open();
    const { tokens, server, clock } = opened;
    const [one, two] = await Promise.all([tokens.get(never), tokens.get(never)]);
    assert.deepEqual([one.value === two.value, one.isNew, two.isNew], [true, true, false]);
    await clock.advance(3600_000 - 121_000);
    assert.equal((await tokens.get(never)).value, one.value);
    await clock.advance(1_000);
    assert.notEqual((await tokens.get(never)).value, one.value);
    assert.equal(server.requests.length, 2);
  });

  it('are got with the newest refresh token, also after a restart, and it is not kept in the clear', async () => {
    await using opened = await open();
    const { tokens, server, data, again } = opened;
    server.rotates = true;
    await tokens.get(never);
    await again().get(never);
    assert.deepEqual(server.requests.map(({ refresh_token: token }) => token), ['simulated-refresh-token-DDDD', 'simulated-refresh-token-1']);
    assert.ok((await data.list('')).every(({ value }) => !value.includes('simulated-refresh-token')));
  });

  it('are got with what the owner has put into the settings since', async () => {
    await using opened = await open();
    const { tokens, server, again } = opened;
    server.rotates = true;
    await tokens.get(never);
    await failure(again({ refresh_token: 'another' }).get(never), 'bad_credential');
    assert.equal(server.requests.at(-1)?.['refresh_token'], 'another');
  });

  it('are got with the configured one again when the newest is refused', async () => {
    await using opened = await open();
    const { tokens, server, again } = opened;
    server.rotates = true;
    await tokens.get(never);
    server.answerNext(400, '{"error":"invalid_grant"}');
    await failure(again().get(never), 'bad_credential');
    assert.deepEqual(server.requests.slice(1).map(({ refresh_token: token }) => token), ['simulated-refresh-token-1', 'simulated-refresh-token-DDDD']);
  });

  it('that are not given are no word about the credential unless the server says so', async () => {
    await using opened = await open();
    const { tokens, server } = opened;
    for (const [status, body, code] of [
      [503, 'busy', 'unavailable'],
      [429, '{}', 'rate_limited'],
      [200, '<html>', 'unavailable'],
      [401, '{"error":"invalid_client"}', 'bad_credential'],
    ] as const) {
      server.answerNext(status, body);
      await failure(tokens.get(never), code);
    }
    await failure(tokens.get(AbortSignal.abort()), 'aborted');
    await server[Symbol.asyncDispose]();
    await failure(tokens.get(never), 'unavailable');
  });

  it('are asked for with what each service wants', async () => {
    await using server = await startTokenServer();
    for (const provider of ['google', 'microsoft'] as const) await newAccessTokens({ oauth: { ...server.options, provider }, provider: undefined, data: openAccountData(':memory:'), clock: manualClock() }).get(never);
    assert.deepEqual(server.requests.map(({ scope }) => scope?.includes('IMAP.AccessAsUser.All')), [undefined, true]);
  });
});

describe('the settings of a login', () => {
  const problems = (options: object): readonly string[] => (emailOptions.safeParse({ address: 'a@b.org', provider: 'gmail', ...options }).error?.issues ?? []).map(({ path }) => path.join('.'));
  const whole = { client_id: 'c', refresh_token: 'r' };

  it('are a password or tokens, and nothing of either may be missing', () => {
    assert.deepEqual(problems({}), ['password']);
    assert.deepEqual(problems({ password: 'p', oauth: whole }), ['password']);
    assert.deepEqual(problems({ oauth: {} }), ['oauth.client_id', 'oauth.refresh_token']);
    assert.deepEqual(problems({ oauth: whole }), []);
    const elsewhere = { provider: 'other', imap_host: 'x', smtp_host: 'x' };
    assert.deepEqual(problems({ ...elsewhere, oauth: whole }), ['oauth.provider']);
    assert.deepEqual(problems({ ...elsewhere, oauth: { ...whole, token_url: 'http://tokens.example.org' } }), ['oauth.token_url']);
    assert.deepEqual(problems({ ...elsewhere, oauth: { ...whole, token_url: 'https://tokens.example.org' } }), []);
  });
});
