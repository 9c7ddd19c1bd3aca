import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { openStoredData } from '../../../test/support/stored-data.ts';
import type { InboundEvent, OutboundMessage } from '../../core/message.ts';
import { silentLogger } from '../../lib/logger.ts';
import type { Accepted, Inbox } from '../contract.ts';
import { web } from './index.ts';
import { webOptions } from './options.ts';
import { readServerEvents } from './server-events.ts';
import type { JournalFrame, LiveFrame } from './wire.ts';

export const account = 'web';
export const signal = new AbortController().signal;

/** Drops what it has seen, as the gateway does. */
const newInbox = () => {
  const events: InboundEvent[] = [];
  let broken = false;
  const inbox: Inbox = {
    async accept(event): Promise<Accepted> {
      if (broken) throw new Error('the disk is full');
      if (events.some((known) => known.nativeId === event.nativeId && known.kind === event.kind)) return 'duplicate';
      events.push(event);
      return 'stored';
    },
    returned: async () => false,
    moved: async () => undefined,
    alive: () => undefined,
    cursor: { read: async () => undefined, write: async () => undefined },
  };
  return { inbox, events, break: (value: boolean) => (broken = value) };
};

export const start = async (folder: string) => {
  const data = await openStoredData(folder);
  const adapter = await web.open({ account, options: webOptions.parse({ title: 'Test' }), log: silentLogger, data, home: folder, mediaFolder: folder });
  const gateway = newInbox();
  const stopping = new AbortController();
  const { routes } = adapter.webhook ?? assert.fail('no routes');
  const server = createServer(getRequestListener(routes.fetch, { overrideGlobalObjects: false }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const run = () => adapter.run(gateway.inbox, { id: account, name: 'Test' }, stopping.signal);
  let running = run();
  return {
    adapter,
    data,
    gateway,
    url,
    async stop() {
      stopping.abort();
      await running;
      running = Promise.resolve();
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      await data[Symbol.asyncDispose]();
    },
  };
};

export const withFolder = async (work: (folder: string) => Promise<void>): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-web-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
};

export const outbound = (key: string, text: string, more: Partial<OutboundMessage> = {}): OutboundMessage => ({ key, text, target: { account, chatId: 'chat-one', chatType: 'dm' }, ...more });

export const post = (url: string, body: unknown) => fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

export type Frame = JournalFrame | LiveFrame;

/** Follows the stream until `enough` says so; it is asked with every frame. */
export const follow = async (url: string, enough: (frames: readonly Frame[]) => boolean, headers: Readonly<Record<string, string>> = {}): Promise<readonly Frame[]> => {
  const answer = await fetch(url, { headers });
  const frames: Frame[] = [];
  for await (const event of readServerEvents(answer.body ?? assert.fail('no stream'))) {
    frames.push(JSON.parse(event.data) as Frame);
    if (enough(frames)) break;
  }
  return frames;
};

export const isReady = (frames: readonly Frame[]): boolean => frames.some((frame) => 'type' in frame && frame.type === 'ready');
export const texts = (frames: readonly Frame[]): string[] => frames.flatMap((frame) => ('entry' in frame && 'text' in frame.entry ? [frame.entry.text] : []));
