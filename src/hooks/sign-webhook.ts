import { createHmac } from 'node:crypto';

/**
 * Headers that prove who has sent a webhook: the HMAC-SHA256, in hexadecimal, of the time in seconds, a dot and the body. Whoever checks it refuses times that
 * are more than five minutes away.
 */
export const signWebhook = (body: string, key: { readonly secret: string; readonly nowMs: number }): Readonly<Record<string, string>> => {
  const seconds = String(Math.floor(key.nowMs / 1000));
  return { 'X-Webhook-Timestamp': seconds, 'X-Webhook-Signature-V2': createHmac('sha256', key.secret).update(`${seconds}.${body}`).digest('hex') };
};
