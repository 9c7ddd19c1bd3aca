import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { sign as githubSign, verify as githubVerify } from '@octokit/webhooks-methods';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import { schemes } from './options.ts';
import type { HmacOptions, Scheme } from './options.ts';
import { signCall } from './sign.ts';
import { verifyCall } from './signatures.ts';
import type { Verdict } from './signatures.ts';

interface Given {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly secret: string;
  readonly scheme?: Scheme;
  readonly hmac?: HmacOptions;
  readonly nowMs?: number;
}

const verify = ({ headers, body, secret, scheme = 'auto', hmac, nowMs = Date.now() }: Given): Verdict => {
  const small = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return verifyCall({ header: (name) => small.get(name), body: Buffer.from(body) }, { scheme, secret, hmac, nowMs, toleranceSeconds: 300 });
};

const vectors = <Case>(name: string): readonly Case[] => (JSON.parse(readFileSync(new URL(`../../../test/vectors/${name}.json`, import.meta.url), 'utf8')) as { readonly cases: readonly Case[] }).cases;

describe('the vectors of the original', () => {
  for (const each of vectors<{ id: string; in: Omit<Given, 'nowMs'> & { now: number }; out: { accepted: boolean } }>('webhook-signatures')) {
    test(each.id, () => assert.equal(verify({ ...each.in, nowMs: each.in.now * 1000 }).ok, each.out.accepted));
  }
});

interface PlatformCase {
  readonly id: string;
  readonly scheme: string;
  readonly in: { readonly secret: string; readonly signing_secret: string; readonly timestamp: string | number; readonly header: string; readonly id: string; readonly headers?: Record<string, string>; readonly body: string; readonly now: number };
  readonly out: { readonly accepted?: boolean; readonly header?: string; readonly signature?: string };
}

describe('the vectors of the platforms', () => {
  for (const each of vectors<PlatformCase>('platform-signatures').filter(({ scheme }) => ['x-hub-signature-256', 'slack-v0', 'standard-webhooks'].includes(scheme))) {
    test(each.id, () => {
      const { body, secret, timestamp, now, headers } = each.in;
      switch (each.scheme) {
        case 'x-hub-signature-256':
          assert.ok(verify({ headers: { 'x-hub-signature-256': each.out.header ?? '' }, body, secret }).ok);
          return;
        case 'slack-v0':
          assert.equal(verify({ headers: { 'x-slack-request-timestamp': String(timestamp), 'x-slack-signature': each.in.header }, body, secret: each.in.signing_secret, nowMs: now * 1000 }).ok, each.out.accepted);
          return;
        default: {
          const made = { 'webhook-id': each.in.id, 'webhook-timestamp': String(timestamp), 'webhook-signature': each.out.signature ?? '' };
          const nowMs = (now ?? timestamp) * 1000;
          assert.equal(verify({ headers: headers ?? made, body, secret, nowMs }).ok, each.out.accepted ?? true);
        }
      }
    });
  }
});

const body = '{"hello":"wörld","n":1}';
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const id = 'msg_1';
const made = (scheme: Scheme): Readonly<Record<string, string>> => signCall({ scheme, secret, id, nowMs: Date.now(), body });

describe('official libraries', () => {
  test('GitHub: what @octokit/webhooks-methods signs is accepted, and it accepts what we sign', async () => {
    assert.ok(verify({ headers: { 'x-hub-signature-256': await githubSign(secret, body) }, body, secret }).ok);
    assert.ok(await githubVerify(secret, body, made('github')['x-hub-signature-256'] ?? ''));
  });

  test('Standard Webhooks: what standardwebhooks signs is accepted, and it accepts what we sign', () => {
    const judge = new StandardWebhook(secret);
    const at = new Date();
    const headers = { 'webhook-id': id, 'webhook-timestamp': String(Math.floor(at.getTime() / 1000)), 'webhook-signature': judge.sign(id, at, body) };
    assert.deepEqual(verify({ headers, body, secret }), { ok: true, scheme: 'standard', proof: { type: 'id', id } });
    assert.deepEqual(judge.verify(body, { ...made('standard') }), JSON.parse(body));
  });

  test('Svix: what svix signs is accepted, and it accepts what we sign', () => {
    const judge = new SvixWebhook(secret);
    const at = new Date();
    const headers = { 'svix-id': id, 'svix-timestamp': String(Math.floor(at.getTime() / 1000)), 'svix-signature': judge.sign(id, at, body) };
    assert.deepEqual(verify({ headers, body, secret }), { ok: true, scheme: 'svix', proof: { type: 'id', id } });
    judge.verify(body, { ...made('svix') });
    assert.throws(() => judge.verify(`${body} `, { ...made('svix') }));
  });

  test('Stripe: what stripe signs is accepted, and it accepts what we sign', () => {
    const { webhooks } = new Stripe('sk_test_of_nobody');
    assert.ok(verify({ headers: { 'stripe-signature': webhooks.generateTestHeaderString({ payload: body, secret }) }, body, secret }).ok);
    assert.deepEqual(webhooks.constructEvent(body, made('stripe')['stripe-signature'] ?? '', secret), JSON.parse(body));
  });
});

const hmac: HmacOptions = { header: 'X-Own-Signature', format: 'plain', algorithm: 'sha512', encoding: 'base64', prefix: 'own=', timestamp_header: 'X-Own-Time' };

for (const scheme of schemes) {
  test(`${scheme}: a call is let in with the secret, and not with another one, another body or another time`, () => {
    const sign = (with_: string, nowMs = Date.now()): Readonly<Record<string, string>> => signCall({ scheme, secret: with_, hmac, id, nowMs, body });
    const given = { body, secret, scheme, hmac };
    const good = verify({ ...given, headers: sign(secret) });
    assert.ok(good.ok);
    assert.ok(!verify({ ...given, headers: sign('whsec_c29tZWJvZHkgZWxzZXMgc2VjcmV0') }).ok);
    assert.ok(!verify({ ...given, headers: {} }).ok);
    if (good.proof.type !== 'token') assert.ok(!verify({ ...given, body: `${body} `, headers: sign(secret) }).ok);
    if (good.proof.type === 'id' || good.proof.type === 'time') {
      const nowMs = Date.now();
      for (const off of [-301_000, 302_000]) assert.ok(!verify({ ...given, nowMs, headers: sign(secret, nowMs + off) }).ok, `${off} ms`);
    }
  });
}

test('a signature of one’s own kind has the hash, the encoding, the prefix and the time that the route says', () => {
  const seconds = String(Math.floor(Date.now() / 1000));
  const signature = `own=${createHmac('sha512', secret).update(`${seconds}.${body}`).digest('base64')}`;
  const given = { body, secret, scheme: 'hmac' as const, hmac };
  assert.ok(verify({ ...given, headers: { 'X-Own-Signature': signature, 'X-Own-Time': seconds } }).ok);
  assert.ok(!verify({ ...given, headers: { 'X-Own-Signature': signature } }).ok);
  const { timestamp_header: _time, ...untimed } = hmac;
  const bare = `own=${createHmac('sha512', secret).update(body).digest('base64')}`;
  assert.deepEqual(verify({ ...given, hmac: untimed, headers: { 'X-Own-Signature': bare } }), { ok: true, scheme: 'hmac', proof: { type: 'body' } });
});

test('others sign as Stripe does, under a name of their own', () => {
  const { webhooks } = new Stripe('sk_test_of_nobody');
  const given = { body, secret, scheme: 'hmac' as const, hmac: { ...hmac, header: 'Calendly-Webhook-Signature', format: 't,v1' as const } };
  const signature = webhooks.generateTestHeaderString({ payload: body, secret });
  assert.ok(verify({ ...given, headers: { 'Calendly-Webhook-Signature': signature } }).ok);
  assert.ok(!verify({ ...given, body: `${body} `, headers: { 'Calendly-Webhook-Signature': signature } }).ok);
  assert.ok(verify({ ...given, headers: signCall({ ...given, id, nowMs: Date.now() }) }).ok);
});

test('a token in the header is taken only where the route says so', () => {
  const headers = { authorization: `Bearer ${secret}` };
  assert.ok(!verify({ headers, body, secret }).ok);
  assert.ok(verify({ headers, body, secret, scheme: 'bearer' }).ok);
});
