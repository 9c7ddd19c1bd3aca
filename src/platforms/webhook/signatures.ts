import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { HmacOptions, Scheme } from './options.ts';

/** A call as it came over the wire. */
export interface SignedCall {
  /** Undefined for a header that is not there; names in small letters. */
  header(name: string): string | undefined;
  readonly body: Uint8Array;
}

export interface Expected {
  readonly scheme: Scheme;
  readonly secret: string;
  readonly hmac?: HmacOptions | undefined;
  readonly nowMs: number;
  readonly toleranceSeconds: number;
}

/** What a good signature vouches for, beyond the body. */
export type Proof =
  /** An id that the sender gave the call, and its time. */
  | { readonly type: 'id'; readonly id: string }
  | { readonly type: 'time'; readonly seconds: number }
  /** Nothing else: the same bytes are good for ever. */
  | { readonly type: 'body' }
  /** The secret itself was sent. */
  | { readonly type: 'token' };

export type Verdict = { readonly ok: true; readonly scheme: Scheme; readonly proof: Proof } | { readonly ok: false; readonly reason: string };

type Check = (call: SignedCall, expected: Expected) => Proof | string;

const digest = (value: string | Uint8Array): Buffer => createHash('sha256').update(value).digest();

/** Takes the same time whatever is compared, also for texts of different lengths. */
const isSame = (given: string, expected: string): boolean => timingSafeEqual(digest(given), digest(expected));

const wrong = 'the signature is wrong';

const mac = (key: string | Uint8Array, ...parts: readonly (string | Uint8Array)[]): Buffer => {
  const hash = createHmac('sha256', key);
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** Seconds since 1970, if they are close enough to ours. */
const timely = (written: string | undefined, { nowMs, toleranceSeconds }: Expected): number | string => {
  if (written === undefined || !/^\d{1,12}$/.test(written)) return 'the time of the call is missing';
  const seconds = Number(written);
  return Math.abs(Math.floor(nowMs / 1000) - seconds) > toleranceSeconds ? 'the time of the call is too far from ours' : seconds;
};

const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Keys of Standard Webhooks are base64, with or without their prefix; whatever cannot be that is taken as it is. */
export const standardKey = (secret: string): Uint8Array => {
  const bare = secret.replace(/^whsec_/, '');
  return base64.test(bare) ? Buffer.from(bare, 'base64') : Buffer.from(secret);
};

/** https://www.standardwebhooks.com, which Svix began: several signatures may be given, any one may match. */
const standard =
  (prefix: 'webhook' | 'svix'): Check =>
  (call, expected) => {
    const [id, written, signatures] = [call.header(`${prefix}-id`), call.header(`${prefix}-timestamp`), call.header(`${prefix}-signature`)];
    if (id === undefined || id === '' || signatures === undefined) return 'the headers of the signature are incomplete';
    const seconds = timely(written, expected);
    if (typeof seconds === 'string') return seconds;
    const ours = `v1,${mac(standardKey(expected.secret), `${id}.${written ?? ''}.`, call.body).toString('base64')}`;
    const matches = signatures.split(' ').map((signature) => isSame(signature, ours));
    return matches.includes(true) ? { type: 'id', id } : wrong;
  };

/** `t=<time>,v1=<signature>`, where several signatures may be given: https://docs.stripe.com/webhooks#verify-manually */
const timedHeader =
  (header: string): Check =>
  (call, expected) => {
    const parts = (call.header(header) ?? '').split(',').map((part) => part.trim().split('=', 2));
    const valuesOf = (name: string): readonly string[] => parts.flatMap(([key, value]) => (key === name && value !== undefined ? [value] : []));
    const [written] = valuesOf('t');
    const seconds = timely(written, expected);
    if (typeof seconds === 'string') return seconds;
    const ours = mac(expected.secret, `${written ?? ''}.`, call.body).toString('hex');
    const matches = valuesOf('v1').map((signature) => isSame(signature, ours));
    return matches.includes(true) ? { type: 'time', seconds } : wrong;
  };

/** https://docs.slack.dev/authentication/verifying-requests-from-slack */
const slack: Check = (call, expected) => {
  const written = call.header('x-slack-request-timestamp');
  const seconds = timely(written, expected);
  if (typeof seconds === 'string') return seconds;
  const ours = `v0=${mac(expected.secret, `v0:${written ?? ''}:`, call.body).toString('hex')}`;
  return isSame(call.header('x-slack-signature') ?? '', ours) ? { type: 'time', seconds } : wrong;
};

const github: Check = (call, { secret }) => (isSame(call.header('x-hub-signature-256') ?? '', `sha256=${mac(secret, call.body).toString('hex')}`) ? { type: 'body' } : wrong);

const gitlab: Check = (call, { secret }) => (isSame(call.header('x-gitlab-token') ?? '', secret) ? { type: 'token' } : 'the token is wrong');

const v1: Check = (call, { secret }) => (isSame(call.header('x-webhook-signature') ?? '', mac(secret, call.body).toString('hex')) ? { type: 'body' } : wrong);

const v2: Check = (call, expected) => {
  const written = call.header('x-webhook-timestamp');
  const seconds = timely(written, expected);
  if (typeof seconds === 'string') return seconds;
  const ours = mac(expected.secret, `${written ?? ''}.`, call.body).toString('hex');
  return isSame(call.header('x-webhook-signature-v2') ?? '', ours) ? { type: 'time', seconds } : wrong;
};

/** The token behind `Bearer`, if there is one. */
export const bearerToken = (header: string | undefined): string | undefined => /^Bearer +(\S.*)$/i.exec(header ?? '')?.[1];

const bearer: Check = (call, { secret }) => (isSame(bearerToken(call.header('authorization')) ?? '', secret) ? { type: 'token' } : 'the token is wrong');

const custom: Check = (call, expected) => {
  const { hmac: how, secret } = expected;
  if (how === undefined) return 'the route does not say how calls are signed';
  if (how.format === 't,v1') return timedHeader(how.header.toLowerCase())(call, expected);
  const written = how.timestamp_header === undefined ? undefined : call.header(how.timestamp_header.toLowerCase());
  const seconds = how.timestamp_header === undefined ? undefined : timely(written, expected);
  if (typeof seconds === 'string') return seconds;
  const hash = createHmac(how.algorithm, secret);
  if (written !== undefined) hash.update(`${written}.`);
  const ours = how.prefix + hash.update(call.body).digest(how.encoding);
  if (!isSame(call.header(how.header.toLowerCase()) ?? '', ours)) return wrong;
  return seconds === undefined ? { type: 'body' } : { type: 'time', seconds };
};

const checks: Readonly<Record<Exclude<Scheme, 'auto'>, Check>> = { github, gitlab, standard: standard('webhook'), svix: standard('svix'), stripe: timedHeader('stripe-signature'), slack, v1, v2, hmac: custom, bearer };

/** Headers that only one scheme has, the strongest scheme first. Whoever sends one of them is held to it: there is no falling back to another. */
const tells: readonly (readonly [Exclude<Scheme, 'auto'>, readonly string[]])[] = [
  ['svix', ['svix-id', 'svix-timestamp', 'svix-signature']],
  ['standard', ['webhook-id', 'webhook-timestamp', 'webhook-signature']],
  ['stripe', ['stripe-signature']],
  ['slack', ['x-slack-signature']],
  ['v2', ['x-webhook-signature-v2']],
  ['github', ['x-hub-signature-256']],
  ['gitlab', ['x-gitlab-token']],
  ['v1', ['x-webhook-signature']],
];

const schemeOf = (call: SignedCall, scheme: Scheme): Exclude<Scheme, 'auto'> | undefined =>
  scheme === 'auto' ? tells.find(([, headers]) => headers.some((header) => call.header(header) !== undefined))?.[0] : scheme;

/** Whether a call was sent by somebody who has the secret. Nothing of its body was read before this says so. */
export const verifyCall = (call: SignedCall, expected: Expected): Verdict => {
  const scheme = schemeOf(call, expected.scheme);
  if (scheme === undefined) return { ok: false, reason: 'the call is not signed' };
  const proof = checks[scheme](call, expected);
  return typeof proof === 'string' ? { ok: false, reason: proof } : { ok: true, scheme, proof };
};

/** Whether a text is the secret, in a time that tells nothing about it. */
export const isSecret = (given: string | undefined, secret: string): boolean => isSame(given ?? '', secret);
