import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SimulatedRequest } from '../../src/agent/models/chat-simulator.ts';
import { listSessions } from '../../src/store/sessions/sessions.ts';
import type { Store } from '../../src/store/store.ts';
import { until } from './whole.ts';
import type { World } from './whole.ts';

export const group = '-1005';
export const otherGroup = '-1006';

export type Json = Readonly<Record<string, unknown>>;

export const call = (id: string, name: string, args: Json) => ({ id, name, arguments: JSON.stringify(args) });

/** A telegram in which user 7 speaks in a direct chat and in a group. */
export const telegram = (world: World): Json => ({ ...world.telegram.options, allowed_users: ['7', '8'], group_allowed_chats: [group, otherGroup] });

export const inGroup = (world: World, text: string, chatId = group): Promise<string> => world.telegram.say({ chatId, chatType: 'group', senderId: '7', text, mention: true });

export const toSupport = { match: { platform: 'telegram', chat_id: group }, agent: 'support' };

export const put = async (path: string, text: string): Promise<void> => {
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, text, { mode: 0o600 });
};

export const asked = (world: World, model: string): readonly SimulatedRequest[] => world.model.requests.filter(({ body }) => body['model'] === model);

export const systemOf = ({ body }: SimulatedRequest): string => JSON.stringify(body.messages.filter(({ role }) => role === 'system'));

export const saidIn = ({ body }: SimulatedRequest): readonly string[] => body.messages.filter(({ role }) => role === 'user').map(({ content }) => String(content));

export const answerIn = (world: World, chatId: string, text: string): Promise<void> => until(() => world.shown(chatId).includes(text), `${JSON.stringify(text)} in ${chatId}`);

export const sessionOf = async (store: Store, agent: string): Promise<string> => (await store.read((db) => listSessions(db, { limit: 1, agent })))[0]?.id ?? assert.fail(`${agent} has no conversation`);
