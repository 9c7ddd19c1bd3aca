import { createHmac, timingSafeEqual } from 'node:crypto';

export interface SignedCall {
  readonly secret: string;
  /** `v0=` and the HMAC, from `X-Slack-Signature`. */
  readonly signature: string | undefined;
  /** Seconds, from `X-Slack-Request-Timestamp`. */
  readonly timestamp: string | undefined;
  /** As it came, byte for byte. */
  readonly body: string;
  readonly nowMs: number;
}

/** Older calls may be recordings. */
const windowMs = 5 * 60_000;

/** https://docs.slack.dev/authentication/verifying-requests-from-slack */
export const sign = (secret: string, timestamp: string, body: string): string => `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`;

/** Whether Slack has made this call, and not long ago. */
export const isSigned = ({ secret, signature, timestamp, body, nowMs }: SignedCall): boolean => {
  if (signature === undefined || timestamp === undefined || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(nowMs - Number(timestamp) * 1000) > windowMs) return false;
  const expected = Buffer.from(sign(secret, timestamp, body));
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected);
};
