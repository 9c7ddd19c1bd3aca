import { Hono } from 'hono';
import type { Context } from 'hono';
import { z } from 'zod';
import { anyAccount, approveRequest, invite, pairingRules } from '../access/pairing.ts';
import { listPaired, pendingPairings, removePending, unpair } from '../store/accounts/pairing.ts';
import type { AuditedAct } from '../lib/audit-log.ts';
import type { Store } from '../store/store.ts';
import type { HttpEnv } from './client.ts';
import type { InviteAnswer, PeopleAnswer } from './people-wire.ts';

/** The owner at the page. */
const owner = { account: anyAccount, userId: 'web', userName: null } as const;

const requestBody = z.strictObject({ id: z.string().min(1).max(64) });
const personBody = z.strictObject({ account: z.string().min(1).max(128), userId: z.string().min(1).max(256) });

const read = async <T>(c: Context<HttpEnv>, schema: z.ZodType<T>): Promise<T | undefined> => schema.safeParse(await c.req.json().catch(() => undefined)).data;

const answerOf = async (store: Store): Promise<PeopleAnswer> =>
  store.read(async (db) => ({
    pending: (await pendingPairings(db, { kind: 'request', lifeMs: pairingRules.lifeMs })).map(({ id, account, userId, userName, ageMs }) => ({ id, account, userId, userName, ageMs })),
    paired: (await listPaired(db)).map(({ account, userId, userName, approvedAtMs }) => ({ account, userId, userName, approvedAtMs })),
  }));

const malformed = (c: Context): Response => c.json({ error: 'The request is not what was expected.' }, 400);

/** Who asks to be let in, who was, and the owner's word about both. Behind the page's login. */
export const peopleRoutes = (store: Store, audit: (act: AuditedAct) => void): Hono<HttpEnv> => {
  const by = 'the owner at the page';
  const routes = new Hono<HttpEnv>();
  routes.use(async (c, next) => {
    await next();
    c.header('cache-control', 'no-store');
  });
  routes.get('/', async (c) => c.json(await answerOf(store)));
  routes.post('/approve', async (c) => {
    const body = await read(c, requestBody);
    if (body === undefined) return malformed(c);
    const approval = await store.write((tx) => approveRequest(tx, { id: body.id, approvedBy: owner.userId }));
    if (approval.type === 'approved') audit({ by, act: 'pairing approve', subject: body.id });
    return approval.type === 'approved' ? c.json(await answerOf(store)) : c.json({ error: 'This request has run out or was decided already.' }, 404);
  });
  routes.post('/dismiss', async (c) => {
    const body = await read(c, requestBody);
    if (body === undefined) return malformed(c);
    await store.write((tx) => removePending(tx, [body.id]));
    return c.json(await answerOf(store));
  });
  routes.post('/revoke', async (c) => {
    const body = await read(c, personBody);
    if (body === undefined) return malformed(c);
    const gone = await store.write((tx) => unpair(tx, body.account, body.userId));
    if (gone) audit({ by, act: 'pairing revoke', subject: `${body.account} ${body.userId}` });
    return gone ? c.json(await answerOf(store)) : c.json({ error: 'This person was not let in by a code.' }, 404);
  });
  routes.post('/invite', async (c) => {
    audit({ by, act: 'pairing invite' });
    const answer: InviteAnswer = { code: await store.write((tx) => invite(tx, owner)), lifeMs: pairingRules.lifeMs };
    return c.json(answer);
  });
  return routes;
};
