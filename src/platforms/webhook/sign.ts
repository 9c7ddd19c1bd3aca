import { createHmac } from 'node:crypto';
import type { HmacOptions, Scheme } from './options.ts';
import { standardKey } from './signatures.ts';

export interface Signing {
  readonly scheme: Scheme;
  readonly secret: string;
  readonly hmac?: HmacOptions | undefined;
  readonly id: string;
  readonly nowMs: number;
  readonly body: string;
}

const hex = (secret: string, text: string): string => createHmac('sha256', secret).update(text).digest('hex');

const standard = (prefix: 'webhook' | 'svix', { secret, id, body }: Signing, seconds: string): Readonly<Record<string, string>> => ({
  [`${prefix}-id`]: id,
  [`${prefix}-timestamp`]: seconds,
  [`${prefix}-signature`]: `v1,${createHmac('sha256', standardKey(secret)).update(`${id}.${seconds}.${body}`).digest('base64')}`,
});

const timed = (secret: string, body: string, seconds: string): string => `t=${seconds},v1=${hex(secret, `${seconds}.${body}`)}`;

const custom = ({ hmac: how, secret, body }: Signing, seconds: string): Readonly<Record<string, string>> => {
  if (how === undefined) throw new Error('the route does not say how calls are signed');
  if (how.format === 't,v1') return { [how.header.toLowerCase()]: timed(secret, body, seconds) };
  const signed = how.timestamp_header === undefined ? body : `${seconds}.${body}`;
  const signature = how.prefix + createHmac(how.algorithm, secret).update(signed).digest(how.encoding);
  return { [how.header.toLowerCase()]: signature, ...(how.timestamp_header !== undefined && { [how.timestamp_header.toLowerCase()]: seconds }) };
};

/** The headers of a call as the sender of the scheme makes them, for trying a route out. */
export const signCall = (signing: Signing): Readonly<Record<string, string>> => {
  const { scheme, secret, id, body } = signing;
  const seconds = String(Math.floor(signing.nowMs / 1000));
  switch (scheme) {
    case 'auto':
    case 'standard':
      return standard('webhook', signing, seconds);
    case 'svix':
      return standard('svix', signing, seconds);
    case 'github':
      return { 'x-hub-signature-256': `sha256=${hex(secret, body)}`, 'x-github-delivery': id };
    case 'gitlab':
      return { 'x-gitlab-token': secret, 'idempotency-key': id };
    case 'stripe':
      return { 'stripe-signature': timed(secret, body, seconds) };
    case 'slack':
      return { 'x-slack-request-timestamp': seconds, 'x-slack-signature': `v0=${hex(secret, `v0:${seconds}:${body}`)}` };
    case 'v2':
      return { 'x-webhook-timestamp': seconds, 'x-webhook-signature-v2': hex(secret, `${seconds}.${body}`), 'x-request-id': id };
    case 'v1':
      return { 'x-webhook-signature': hex(secret, body), 'x-request-id': id };
    case 'hmac':
      return { ...custom(signing, seconds), 'x-request-id': id };
    case 'bearer':
      return { authorization: `Bearer ${secret}`, 'x-request-id': id };
    default:
      throw scheme satisfies never;
  }
};
