import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStoredData } from '../../../test/support/stored-data.ts';
import type { OutboundMessage } from '../../core/message.ts';
import { silentLogger } from '../../lib/logger.ts';
import { eventually, newInbox } from '../conformance-bench.ts';
import type { BenchInbox } from '../conformance-bench.ts';
import type { Adapter } from '../contract.ts';
import { attach } from './client.ts';
import type { Attachment, ServerFrame } from './client.ts';
import { local } from './index.ts';
import { localOptions } from './options.ts';

/** A terminal that keeps every frame it gets. */
export interface TestTerminal extends Disposable {
  readonly frames: readonly ServerFrame[];
  readonly attachment: Attachment;
  /** Texts of what was stored and told. */
  texts(): readonly string[];
  find<T extends ServerFrame['type']>(type: T): Promise<Extract<ServerFrame, { type: T }>>;
}

export const openTerminal = async (path: string, chat = 'chat-one', after?: number): Promise<TestTerminal> => {
  const frames: ServerFrame[] = [];
  const attachment = await attach({ path, chat, after, onFrame: (frame) => frames.push(frame) });
  return {
    frames,
    attachment,
    texts: () => frames.flatMap((frame) => (frame.type === 'entry' && 'text' in frame.entry ? [frame.entry.text] : [])),
    find: <T extends ServerFrame['type']>(type: T) => eventually(() => frames.find((frame): frame is Extract<ServerFrame, { type: T }> => frame.type === type), `a ${type} frame came`),
    [Symbol.dispose]: () => attachment[Symbol.dispose](),
  };
};

export interface TestGateway extends AsyncDisposable {
  readonly folder: string;
  readonly path: string;
  readonly adapter: Adapter;
  readonly inbox: BenchInbox;
  /** The error that serving ended with, once it has. */
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

/** The adapter at work in a folder, as in a gateway. */
export const serve = async (folder: string, home = folder): Promise<TestGateway> => {
  const data = await openStoredData(folder);
  const adapter = await local.open({ account: 'local', options: localOptions.parse({}), log: silentLogger, data, home, mediaFolder: folder });
  const inbox = newInbox();
  const stopping = new AbortController();
  const signal = stopping.signal;
  const ended = adapter.run(inbox, await adapter.identify(signal), signal).then(
    () => undefined,
    (error: unknown) => error,
  );
  const stop = async (): Promise<void> => {
    stopping.abort();
    await ended;
  };
  return {
    folder,
    path: join(home, 'gateway.sock'),
    adapter,
    inbox,
    ended,
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      await data[Symbol.asyncDispose]();
    },
  };
};

export const withFolder = async (work: (folder: string) => Promise<void>): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-term-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
};

export const outbound = (key: string, text: string, more: Partial<OutboundMessage> = {}): OutboundMessage => ({ key, text, target: { account: 'local', chatId: 'chat-one', chatType: 'dm' }, ...more });
