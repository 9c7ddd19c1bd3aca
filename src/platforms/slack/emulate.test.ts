import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createEmulator } from 'emulate';
import type { Emulator } from 'emulate';
import { openAccountData } from '../../../test/support/account-data.ts';
import { silentLogger } from '../../lib/logger.ts';
import { failure, never } from '../conformance-bench.ts';
import type { Adapter } from '../contract.ts';
import { slack } from './index.ts';
import { slackOptions } from './options.ts';
import { message } from '../../../test/support/test-account.ts';
import { wantedScopes } from './workspaces.ts';

const token = 'xoxb-emulated-token';
const to = { account: 'slack', chatId: 'C000000001', chatType: 'group' as const };

let emulator: Emulator;
let adapter: Adapter;
let folder: string;

const read = async (method: string, args: Record<string, string> = {}): Promise<{ messages?: readonly { ts: string; text: string; files?: readonly { id: string; name: string }[] }[] }> =>
  (await fetch(`${emulator.url}/api/${method}`, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: new URLSearchParams(args) })).json() as never;

const texts = async (): Promise<readonly string[]> => (await read('conversations.history', { channel: to.chatId })).messages?.map(({ text }) => text) ?? [];

/** Somebody else's Slack, with the rights of our manifest and no others. */
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hermes-slack-emulate-'));
  const people = [{ name: 'hermes', real_name: 'Hermes' }, { name: 'ada', real_name: 'Ada' }];
  emulator = await createEmulator({ service: 'slack', port: 0, seed: { slack: { team: { name: 'Acme', domain: 'acme' }, users: people, tokens: [{ token, user: 'hermes', scopes: wantedScopes }], strict_scopes: true } } });
  const options = slackOptions.parse({ bot_token: token, app_token: 'xapp-unused', base_url: `${emulator.url}/api` });
  adapter = await slack.open({ account: 'slack', options, log: silentLogger, data: openAccountData(':memory:'), home: folder, mediaFolder: folder });
});
after(async () => {
  await emulator.close();
  await rm(folder, { recursive: true });
});

describe("a Slack that is not ours, with the manifest's rights only", () => {
  it('tells who we are', async () => {
    assert.equal((await adapter.identify(never)).handle, 'hermes');
  });

  it('shows, changes and removes what is sent, and lets it be found again', async () => {
    const sent = message(to, '**hi**', { choices: [[{ label: 'Yes', data: 'y' }]] });
    const { messageIds } = await adapter.send(sent, never);
    const [id = ''] = messageIds;
    assert.deepEqual(await adapter.send({ ...sent, mayBeShown: true }, never), { messageIds });
    await adapter.edits?.edit(id, message(to, '_new_'), true, never);
    assert.deepEqual((await texts()).filter((text) => text === '_new_'), ['_new_']);
    await adapter.edits?.remove(to, id, never);
    await adapter.edits?.remove(to, id, never);
    await failure(adapter.edits?.edit(id, message(to, 'x'), true, never) ?? Promise.resolve(), 'not_found');
  });

  it('takes reactions and threads', async () => {
    const thread = await adapter.threads?.open(to, 'A topic', never);
    const inside = message({ ...to, threadId: thread?.threadId ?? '' }, 'inside');
    const { messageIds } = await adapter.send(inside, never);
    assert.deepEqual(await adapter.send({ ...inside, mayBeShown: true }, never), { messageIds });
    await adapter.reactions?.set(to, messageIds[0] ?? '', '👀', never);
    await adapter.reactions?.set(to, messageIds[0] ?? '', null, never);
  });

  it('takes files, and gives them back', async () => {
    const path = join(folder, 'notes.txt');
    await writeFile(path, 'the notes');
    await adapter.send(message(to, 'look', { media: [{ kind: 'document', path, mime: 'text/plain', name: 'notes.txt' }] }), never);
    const shared = (await read('conversations.history', { channel: to.chatId })).messages?.find(({ text }) => text === 'look');
    assert.deepEqual(shared?.files?.map(({ name }) => name), ['notes.txt']);
    const id = shared?.files?.[0]?.id ?? '';
    const stream = await adapter.media?.open({ kind: 'document', mime: 'text/plain', ref: { file: id, team: 'T000000001' } }, never);
    assert.equal(await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).text(), 'the notes');
  });

  it('reaches a person by name', async () => {
    const { messageIds } = await adapter.send(message({ ...to, chatId: 'user_name:ada', chatType: 'dm' }, 'hello Ada'), never);
    assert.equal(messageIds.length, 1);
  });
});
