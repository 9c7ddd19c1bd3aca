import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { replyTarget } from '../src/core/message.ts';
import type { OutboundMedia } from '../src/core/message.ts';
import { oggOpus } from '../src/platforms/discord/ogg-opus.test-support.ts';
import { startDiscordSimulator } from '../src/platforms/discord/simulator.ts';
import type { DiscordSimulator } from '../src/platforms/discord/simulator.ts';
import { openAccount, runAccount, toChat } from '../src/platforms/discord/discord.test-support.ts';
import { message } from './support/test-account.ts';
import { until } from './support/until.ts';
import { never } from '../src/platforms/conformance-bench.ts';
import { specOf } from './support/json-schema.ts';

let simulator: DiscordSimulator;
let folder: string;

before(async () => {
  simulator = await startDiscordSimulator();
  folder = await mkdtemp(join(tmpdir(), 'hermes-discord-'));
});
after(async () => {
  await simulator[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** Which schema of Discord's own description each call has to fit. */
const schemas: readonly [string, RegExp, string][] = [
  ['POST', /^\/channels\/\d+\/messages$/, 'MessageCreateRequest'],
  ['PATCH', /^\/channels\/\d+\/messages\/\d+$/, 'MessageEditRequestPartial'],
  ['POST', /^\/channels\/\d+\/messages\/\d+\/threads$/, 'CreateTextThreadWithMessageRequest'],
  ['POST', /^\/channels\/1000000000000000012\/threads$/, 'CreateForumThreadRequest'],
  ['POST', /^\/channels\/\d+\/threads$/, 'CreateTextThreadWithoutMessageRequest'],
  ['PATCH', /^\/webhooks\/.*@original$/, 'IncomingWebhookUpdateRequestPartial'],
];

test('everything we send is what Discord describes', async () => {
  const { ids } = simulator;
  const fits = specOf('discord');
  const { adapter } = await openAccount(simulator, { auto_thread: true, suppress_embeds: true });
  const running = await runAccount(adapter);
  const file = async (name: string, content: Uint8Array | string, more: Partial<OutboundMedia>): Promise<OutboundMedia> => {
    await writeFile(join(folder, name), content);
    return { kind: 'document', mime: 'text/plain', name, path: join(folder, name), ...more };
  };
  const said = await simulator.say({ chatId: ids.text, chatType: 'group', senderId: ids.person, text: 'hello', mention: true });
  await until(() => running.inbox.events.some(({ nativeId }) => nativeId === said));
  const [event] = running.inbox.events;
  assert.ok(event !== undefined);
  const media = [await file('a.txt', 'a', {}), await file('v.ogg', oggOpus(1), { kind: 'voice', mime: 'audio/ogg' })];
  await adapter.send(message(replyTarget(event), 'in a thread'), never);
  const { messageIds } = await adapter.send(message(toChat(ids.text, { replyTo: said }), '# All of it', { media, quiet: true, choices: [[{ label: 'Yes', data: 'y' }]] }), never);
  await adapter.edits?.edit(messageIds[0] ?? '', message(toChat(ids.text), 'changed'), true, never);
  await adapter.send(message(toChat(ids.forum, { chatType: 'channel' }), 'a post', { media: media.slice(0, 1) }), never);
  for (const id of [ids.text, ids.announcements, ids.forum]) await adapter.threads?.open(toChat(id, { chatType: 'channel' }), 'Handoff', never);
  const asked = await simulator.command({ chatId: ids.text, senderId: ids.person, name: 'status' });
  await until(() => running.inbox.events.some(({ nativeId }) => nativeId === asked));
  const command = running.inbox.events.find(({ nativeId }) => nativeId === asked) ?? assert.fail();
  await adapter.send(message(replyTarget(command), 'answered', { media: media.slice(0, 1), choices: [[{ label: 'Yes', data: 'y' }]] }), never);
  await adapter.menu?.publish([{ name: 'status', description: 'Says how it is' }], never);
  const checked = simulator.log.flatMap(({ method, path, body }) => {
    const schema = schemas.find(([verb, where]) => verb === method && where.test(path))?.[2];
    if (schema !== undefined) fits(schema, body);
    return schema === undefined ? [] : [schema];
  });
  assert.deepEqual([...new Set(checked)].toSorted(), schemas.map(([, , name]) => name).toSorted());
  for (const each of simulator.commands()) {
    const { id: _id, application_id: _application, version: _version, ...sent } = each as Record<string, unknown>;
    fits('ApplicationCommandUpdateRequest', sent);
  }
  for (const { body } of simulator.log.filter(({ path }) => path.endsWith('/callback'))) fits('CreateMessageInteractionCallbackRequest', body);
  assert.deepEqual(simulator.violations(), []);
  await running.stop();
});
