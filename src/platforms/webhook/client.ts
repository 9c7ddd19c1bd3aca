import { randomBytes } from 'node:crypto';
import type { Answer } from './answers.ts';
import { noAuthentication } from './options.ts';
import type { Route, Scheme } from './options.ts';
import { signCall } from './sign.ts';

export { commentPlace, isNowhere, namedIn, noAuthentication, routeName, schemes } from './options.ts';
export type { Route, Scheme, WebhookOptions } from './options.ts';

/** A secret as senders of the scheme want it. */
export const newSecret = (scheme: Scheme): string => (['auto', 'standard', 'svix'].includes(scheme) ? `whsec_${randomBytes(32).toString('base64')}` : randomBytes(32).toString('base64url'));

export interface TrialCall {
  readonly url: string;
  readonly route: Route;
  readonly id: string;
  readonly event: string | undefined;
  readonly payload: unknown;
  readonly nowMs: number;
}

export interface TrialAnswer {
  readonly code: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const eventHeader = (scheme: Scheme): string => (scheme === 'gitlab' ? 'x-gitlab-event' : 'x-github-event');

const readAnswer = async (response: Response): Promise<TrialAnswer> => {
  const text = await response.text();
  try {
    return { code: response.status, body: JSON.parse(text) as Readonly<Record<string, unknown>> };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { code: response.status, body: { error: text.slice(0, 500) } };
  }
};

/** Calls a route as its sender would. Rejects with a `TypeError` when nobody answers there. */
export const callRoute = async ({ url, route, id, event, payload, nowMs }: TrialCall, signal: AbortSignal): Promise<TrialAnswer> => {
  const body = JSON.stringify(payload);
  const signed = route.secret === noAuthentication ? {} : signCall({ scheme: route.scheme, secret: route.secret, hmac: route.hmac, id, nowMs, body });
  const headers = { 'content-type': 'application/json', ...signed, ...(event !== undefined && { [eventHeader(route.scheme)]: event }) };
  return readAnswer(await fetch(url, { method: 'POST', headers, body, signal }));
};

/** What was answered to a delivery so far. */
export const answersTo = async ({ url, route, delivery }: { readonly url: string; readonly route: Route; readonly delivery: string }, signal: AbortSignal): Promise<readonly Answer[]> => {
  const { code, body } = await readAnswer(await fetch(`${url}?delivery=${encodeURIComponent(delivery)}`, { headers: { authorization: `Bearer ${route.secret}` }, signal }));
  return code === 200 ? (body['answers'] as readonly Answer[]) : [];
};

/** A call from the shell, for people who want to see it work or write it into a script. `$SECRET` stands for the secret. */
export const shellCall = (url: string, scheme: Scheme): string | undefined => {
  const hmac = (text: string): string => `$(printf %s "${text}" | openssl dgst -sha256 -hmac "$SECRET" | sed 's/^.* //')`;
  const curl = (...headers: readonly string[]): string => [`body='{"text":"hello"}'`, ...(headers.some((header) => header.includes('$time')) ? ['time=$(date +%s)'] : []), `curl -X POST ${url} -H 'content-type: application/json' ${headers.map((header) => `-H "${header}"`).join(' ')} -d "$body"`].join('\n');
  switch (scheme) {
    case 'auto':
    case 'v2':
      return curl('x-webhook-timestamp: $time', `x-webhook-signature-v2: ${hmac('$time.$body')}`);
    case 'github':
      return curl(`x-hub-signature-256: sha256=${hmac('$body')}`);
    case 'v1':
      return curl(`x-webhook-signature: ${hmac('$body')}`);
    case 'gitlab':
      return curl('x-gitlab-token: $SECRET');
    case 'bearer':
      return curl('authorization: Bearer $SECRET');
    case 'standard':
    case 'svix':
    case 'stripe':
    case 'slack':
    case 'hmac':
      return undefined;
    default:
      throw scheme satisfies never;
  }
};
