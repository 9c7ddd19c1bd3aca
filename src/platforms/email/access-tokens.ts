import { z } from 'zod';
import { PlatformError } from '../../core/errors.ts';
import { newChains } from '../../lib/chains.ts';
import type { Clock } from '../../lib/clock.ts';
import type { AccountData } from '../contract.ts';
import { oauthProviderOf } from './options.ts';
import type { EmailOptions, OAuthOptions } from './options.ts';
import { seal, unseal } from './sealed-token.ts';

/** A word that opens the mailbox for a while. */
export interface AccessToken {
  readonly value: string;
  /** It was made for this call: whoever refuses it would refuse another one as well. */
  readonly isNew: boolean;
}

/** Access tokens of one mailbox: kept until shortly before they expire. */
export interface AccessTokens {
  get(signal: AbortSignal): Promise<AccessToken>;
  /** The servers do not take it any more, whatever was said about its time. */
  forget(value: string): void;
}

export interface Granting {
  readonly oauth: OAuthOptions;
  readonly provider: EmailOptions['provider'];
  readonly data: AccountData;
  readonly clock: Clock;
}

const services = {
  google: { url: 'https://oauth2.googleapis.com/token' },
  microsoft: { url: 'https://login.microsoftonline.com/common/oauth2/v2.0/token', scope: 'https://outlook.office.com/IMAP.AccessAsUser.All https://outlook.office.com/SMTP.Send offline_access' },
} as const satisfies Readonly<Record<NonNullable<OAuthOptions['provider']>, { readonly url: string; readonly scope?: string }>>;

const patienceMs = 30_000;
/** A login takes a while, and clocks differ. */
const earlyMs = 120_000;

const grant = z.object({ access_token: z.string().min(1), expires_in: z.coerce.number().positive().catch(3600), refresh_token: z.string().min(1).optional().catch(undefined) });
const refusal = z.object({ error: z.string().catch(''), error_description: z.string().catch('') });

type Grant = z.output<typeof grant>;

const words = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, 200);

const refusedBy = (status: number, body: unknown, retryAfter: string | null): PlatformError => {
  const { error, error_description: description } = refusal.safeParse(body).data ?? { error: '', error_description: '' };
  const said = words(`${error} ${description}`) || `status ${status}`;
  if (status === 429) return new PlatformError('rate_limited', `the token server: ${said}`, { scope: 'account', ...(Number(retryAfter) > 0 && { retryAfterMs: Number(retryAfter) * 1000 }) });
  if (status >= 500) return new PlatformError('unavailable', `the token server: ${said}`);
  return new PlatformError('bad_credential', error === 'invalid_grant' ? `the refresh token is not accepted any more, make a new one: ${said}` : `the token server refused: ${said}`);
};

/** Asks once; every failure is a `PlatformError` without anything secret in it. */
const ask = async ({ oauth, provider }: Granting, refreshToken: string, signal: AbortSignal): Promise<Grant> => {
  const name = oauthProviderOf(oauth, provider);
  const service: { readonly url?: string; readonly scope?: string } = name === undefined ? {} : services[name];
  const form = { grant_type: 'refresh_token', client_id: oauth.client_id ?? '', refresh_token: refreshToken, ...(oauth.client_secret !== undefined && { client_secret: oauth.client_secret }), ...(service.scope !== undefined && { scope: service.scope }) };
  const lost = (): PlatformError => new PlatformError(signal.aborted ? 'aborted' : 'unavailable', signal.aborted ? 'aborted' : 'the token server cannot be reached');
  const answer = await fetch(oauth.token_url ?? service.url ?? '', { method: 'POST', body: new URLSearchParams(form), headers: { accept: 'application/json' }, redirect: 'error', signal: AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]) }).catch(() => {
    throw lost();
  });
  const text = await answer.text().catch(() => {
    throw lost();
  });
  const body = readJson(text);
  if (!answer.ok) throw refusedBy(answer.status, body, answer.headers.get('retry-after'));
  const granted = grant.safeParse(body);
  if (!granted.success) throw new PlatformError('unavailable', 'the token server answered without a token');
  return granted.data;
};

const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const keptName = 'oauth_refresh_token';

/** Some services give a new refresh token with every access token and let the old one expire: the newest is kept across restarts. */
const refresh = async (granting: Granting, signal: AbortSignal): Promise<Grant> => {
  const { oauth, data } = granting;
  const configured = oauth.refresh_token ?? '';
  const kept = await data.get(keptName);
  const newest = kept === undefined ? undefined : unseal(configured, kept);
  const granted = await ask(granting, newest ?? configured, signal).catch(async (error: unknown) => {
    if (newest === undefined || !(error instanceof PlatformError) || error.code !== 'bad_credential') throw error;
    await data.remove(keptName);
    return ask(granting, configured, signal);
  });
  if (granted.refresh_token !== undefined && granted.refresh_token !== (newest ?? configured)) await data.set(keptName, seal(configured, granted.refresh_token));
  return granted;
};

export const newAccessTokens = (granting: Granting): AccessTokens => {
  const { clock } = granting;
  const turns = newChains();
  let current: { readonly value: string; readonly untilMs: number } | undefined;
  return {
    get: (signal) =>
      turns.run('', async () => {
        if (current !== undefined && clock.now() < current.untilMs) return { value: current.value, isNew: false };
        const { access_token: value, expires_in: seconds } = await refresh(granting, signal);
        current = { value, untilMs: clock.now() + seconds * 1000 - earlyMs };
        return { value, isNew: true };
      }),
    forget(value) {
      if (current?.value === value) current = undefined;
    },
  };
};
