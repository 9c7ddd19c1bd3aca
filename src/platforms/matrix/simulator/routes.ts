import { randomUUID } from 'node:crypto';
import { record, text } from '../wire.ts';
import type { Json } from '../wire.ts';
import { claimKeys, queryKeys, sendToDevice, uploadKeys, uploadSignatures, uploadSigningKeys } from './keys.ts';
import { forbidden, notFound, Refusal } from './refusal.ts';
import { roomRoutes } from './room-routes.ts';
import { addDevice, addUser, advance } from './world.ts';
import type { Device, User, World } from './world.ts';

/** One call, with its caller where it has one. */
export interface Asked {
  readonly world: World;
  readonly user: User;
  readonly device: Device;
  readonly params: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Json;
}

/** `:x` stands for one part of the path. */
export type Route = readonly [method: string, pattern: string, answer: (asked: Asked) => Json];

export const param = ({ params }: Asked, index: number): string => params[index] ?? '';

const own = (asked: Asked): string => {
  const userId = param(asked, 0);
  if (userId !== asked.user.id) throw forbidden('Cannot act for other users');
  return userId;
};

/** Gives out a token for a device, which may be new. */
export const issueToken = (world: World, userId: string, deviceId: string): string => {
  const user = addUser(world, userId, userId);
  addDevice(user, deviceId);
  const token = `syt_${randomUUID().replaceAll('-', '')}`;
  world.tokens.set(token, { userId, deviceId });
  return token;
};

/** `POST /login` with a password. */
export const logIn = (world: World, body: Json): Json => {
  const wanted = text(record(body['identifier'])?.['user']) ?? text(body['user']) ?? '';
  const user = world.users.get(wanted.startsWith('@') ? wanted : `@${wanted}:${world.server}`);
  if (body['type'] !== 'm.login.password') throw new Refusal(400, 'M_UNKNOWN', 'Unknown login type');
  if (user?.password === undefined || user.password !== body['password']) throw forbidden('Invalid username or password');
  const deviceId = text(body['device_id']) ?? randomUUID().slice(0, 8).toUpperCase();
  return { user_id: user.id, device_id: deviceId, access_token: issueToken(world, user.id, deviceId), home_server: world.server };
};

const saveFilter = (asked: Asked): Json => {
  own(asked);
  const id = String(asked.world.filters.size + 1);
  asked.world.filters.set(id, asked.body);
  return { filter_id: id };
};

const setAccountData = (asked: Asked): Json => {
  const user = asked.world.users.get(own(asked));
  user?.accountData.set(param(asked, 1), { at: asked.world.position + 1, content: asked.body });
  advance(asked.world);
  return {};
};

const getAccountData = (asked: Asked): Json => {
  const found = asked.world.users.get(own(asked))?.accountData.get(param(asked, 1));
  if (found === undefined) throw notFound('Account data');
  return found.content;
};

const profile = (asked: Asked): Json => {
  const user = asked.world.users.get(param(asked, 0));
  if (user === undefined) throw notFound('Profile');
  return { displayname: user.name };
};

/** Uploading cross-signing keys wants a proof of who one is, the first time excepted. */
const signingKeys = ({ world, user, body }: Asked): Json => {
  const isFirst = user.crossSigning.size === 0;
  if (!isFirst && record(body['auth']) === undefined) throw new Refusal(401, 'M_FORBIDDEN', 'Authenticate', { flows: [{ stages: ['m.login.password'] }], params: {}, session: 'sim' });
  return uploadSigningKeys(world, user, body);
};

const absent = (what: string): never => {
  throw notFound(what);
};

const accountRoutes: readonly Route[] = [
  ['GET', 'v3/account/whoami', ({ user, device }) => ({ user_id: user.id, device_id: device.id, is_guest: false })],
  ['GET', 'v3/profile/:x', profile],
  ['GET', 'v3/profile/:x/displayname', profile],
  ['POST', 'v3/user/:x/filter', saveFilter],
  ['GET', 'v3/user/:x/filter/:x', (asked) => asked.world.filters.get(param(asked, 1)) ?? {}],
  ['PUT', 'v3/user/:x/account_data/:x', setAccountData],
  ['GET', 'v3/user/:x/account_data/:x', getAccountData],
  ['GET', 'v3/capabilities', () => ({ capabilities: {} })],
  ['GET', 'v3/pushrules/', () => ({ global: { override: [], content: [], room: [], sender: [], underride: [] } })],
  ['GET', 'v3/voip/turnServer', () => ({})],
  ['GET', 'v1/media/config', () => ({ 'm.upload.size': 52_428_800 })],
  ['POST', 'v3/logout', () => ({})],
  ['GET', 'v3/room_keys/version', () => absent('Backup')],
];

const keyRoutes: readonly Route[] = [
  ['POST', 'v3/keys/upload', ({ world, device, body }) => uploadKeys(world, device, body)],
  ['POST', 'v3/keys/query', ({ world, body, user }) => queryKeys(world, body, user.id)],
  ['POST', 'v3/keys/claim', ({ world, body }) => claimKeys(world, body)],
  ['POST', 'v3/keys/device_signing/upload', signingKeys],
  ['POST', 'v3/keys/signatures/upload', ({ world, body }) => uploadSignatures(world, body)],
  ['PUT', 'v3/sendToDevice/:x/:x', (asked) => sendOnce(asked)],
];

/** A repeat of a transaction does nothing. */
const sendOnce = (asked: Asked): Json => {
  const { world, device, user, body } = asked;
  const name = `to-device ${device.id} ${param(asked, 1)}`;
  if (world.sent.has(name)) return {};
  world.sent.set(name, '');
  return sendToDevice(world, user.id, param(asked, 0), body);
};

const compiled = [...accountRoutes, ...keyRoutes, ...roomRoutes].map(([method, pattern, answer]) => ({ method, answer, shape: new RegExp(`^/_matrix/client/(?:${pattern.replace(/^v3/, '(?:v3|r0|unstable)').replaceAll(':x', '([^/]*)')})$`) }));

/** Answers a call of a client that is logged in. Throws a `Refusal`. */
export const respond = (call: { world: World; device: Device; method: string; path: string; query: URLSearchParams; body: Json }): Json => {
  const { world, device, method, path, query, body } = call;
  const user = world.users.get(device.userId);
  if (user === undefined) throw new Refusal(401, 'M_UNKNOWN_TOKEN', 'Unknown access token');
  for (const route of compiled) {
    const match = route.method === method ? route.shape.exec(path) : null;
    if (match !== null) return route.answer({ world, user, device, query, body, params: match.slice(1).map((part) => decodeURIComponent(part)) });
  }
  throw new Refusal(404, 'M_UNRECOGNIZED', 'Unrecognized request');
};
