import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { openStoredData } from '../../../test/support/stored-data.ts';
import type { InboundEvent, OutboundMessage } from '../../core/message.ts';
import { silentLogger } from '../../lib/logger.ts';
import type { Inbox } from '../contract.ts';
import { web } from './index.ts';
import { webOptions } from './options.ts';

const signal = new AbortController().signal;
const target = { account: 'web', chatId: '42', chatType: 'dm' } as const;

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await delay(2);
};

test('the simulator speaks, listens and presses as a tab of the page does', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-web-sim-'));
  t.after(() => rm(folder, { recursive: true }));
  const data = await openStoredData(folder);
  const simulator = await web.simulate();
  const adapter = await web.open({ account: 'web', options: webOptions.parse(simulator.options), log: silentLogger, data, home: folder, mediaFolder: folder });
  const events: InboundEvent[] = [];
  const inbox: Inbox = {
    accept: async (event) => (events.push(event), 'stored'),
    returned: async () => false,
    moved: async () => undefined,
    alive: () => undefined,
    cursor: { read: async () => undefined, write: async () => undefined },
  };
  const stopping = new AbortController();
  const running = adapter.run(inbox, await adapter.identify(signal), stopping.signal);
  const server = createServer(getRequestListener(adapter.webhook?.routes.fetch ?? assert.fail('no routes'), { overrideGlobalObjects: false }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  simulator.connect?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);

  const bytes = new Uint8Array([1, 2, 3]);
  const nativeId = await simulator.say({ chatId: '42', chatType: 'dm', senderId: 'owner', text: 'hello', media: { kind: 'document', bytes, name: 'a.bin', mime: 'application/x-thing' } });
  await simulator.redeliver(nativeId);
  await simulator.sendUnknownEvent();
  assert.deepEqual(events.map((event) => [event.nativeId, event.text, event.media[0]?.name]), [[nativeId, 'hello', 'a.bin'], [nativeId, 'hello', 'a.bin']]);
  assert.equal(simulator.acknowledged(), 2);

  await writeFile(join(folder, 'b.txt'), 'file');
  const message: OutboundMessage = { key: 'k', target: { ...target, replyTo: nativeId }, text: 'Is **this** [right](https://example.com)?', choices: [[{ label: 'Yes', data: 'y' }]], media: [{ kind: 'document', path: join(folder, 'b.txt'), mime: 'text/plain', name: 'b.txt' }] };
  const { messageIds } = await adapter.send(message, signal);
  const id = messageIds[0] ?? assert.fail('no id');
  await adapter.typing?.show(target, signal);
  await adapter.reactions?.set(target, id, '👍', signal);
  await until(() => simulator.visible('42')[0]?.reactions.length === 1 && simulator.typing().length === 1);
  assert.deepEqual(simulator.visible('42'), [
    { id, chatId: '42', replyTo: nativeId, text: 'Is this right?', media: [{ kind: 'document', name: 'b.txt', bytes: new TextEncoder().encode('file') }], choices: [{ label: 'Yes', data: 'y' }], reactions: ['👍'], edited: 0 },
  ]);
  await simulator.press('42', id, 'y', 'owner');
  assert.deepEqual(events.at(-1)?.button, { data: 'y' });
  await adapter.edits?.edit(id, { ...message, text: 'Done', choices: [] }, true, signal);
  await until(() => simulator.visible('42')[0]?.edited === 1);
  assert.deepEqual([simulator.visible('42')[0]?.text, simulator.visible('42')[0]?.choices], ['Done', []]);
  await adapter.edits?.remove(target, id, signal);
  await until(() => simulator.visible('42').length === 0);

  await simulator[Symbol.asyncDispose]();
  stopping.abort();
  await running;
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
  await data[Symbol.asyncDispose]();
});
