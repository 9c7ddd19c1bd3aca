import { Hono } from 'hono';
import { z } from 'zod';
import { platformOf } from '../core/ids.ts';
import type { AuditedAct } from '../lib/audit-log.ts';
import type { DeviceChecks, Platform } from '../platforms/contract.ts';
import { accountData } from '../store/accounts/account-data.ts';
import { allStatus } from '../store/accounts/accounts.ts';
import type { Store } from '../store/store.ts';
import type { HttpEnv } from './client.ts';
import type { DeviceChecksAnswer } from './people-wire.ts';

const answerBody = z.strictObject({ account: z.string().min(1).max(128), id: z.string().min(1).max(256), same: z.boolean() });

/** Devices that wait to be compared by emoji, and the owner's word about them. Behind the page's login. */
export const deviceCheckRoutes = (store: Store, platforms: readonly Platform[], audit: (act: AuditedAct) => void): Hono<HttpEnv> => {
  const routes = new Hono<HttpEnv>();
  const checksOf = (account: string): DeviceChecks | undefined => platforms.find(({ name }) => name === platformOf(account))?.deviceChecks?.(accountData(store, account));
  const answer = async (): Promise<DeviceChecksAnswer> => {
    const accounts = (await store.read(allStatus)).map(({ account }) => account);
    const found = await Promise.all(accounts.map(async (account) => ((await checksOf(account)?.list()) ?? []).map((check) => ({ account, ...check }))));
    return { checks: found.flat() };
  };
  routes.use(async (c, next) => {
    await next();
    c.header('cache-control', 'no-store');
  });
  routes.get('/', async (c) => c.json(await answer()));
  routes.post('/answer', async (c) => {
    const body = answerBody.safeParse(await c.req.json().catch(() => undefined)).data;
    const checks = body === undefined ? undefined : checksOf(body.account);
    if (body === undefined || checks === undefined) return c.json({ error: 'The request is not what was expected.' }, 400);
    if (!(await checks.list()).some(({ id, state }) => id === body.id && state === 'compare')) return c.json({ error: 'This device does not wait for an answer any more.' }, 404);
    await checks.answer(body.id, body.same);
    audit({ by: 'the owner at the page', act: body.same ? 'device verify' : 'device refuse', subject: `${body.account} ${body.id}` });
    return c.json(await answer());
  });
  return routes;
};
