import { join } from 'node:path';
import type { ServerResponse } from 'node:http';
import { chunkOf, usageChunk } from '../../src/agent/models/chat-simulator.ts';
import type { Answer } from '../../src/agent/models/chat-simulator.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { TelegramSimulator } from '../../src/platforms/telegram/simulator.ts';
import { SqliteStore } from '../../src/store/engines/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { echo } from './whole.ts';
import type { World } from './whole.ts';

export interface HeldAnswer {
  /** Holds every call until `open`, then answers as told. */
  readonly answer: Answer;
  open(): void;
  /** Calls that are being held. */
  held(): number;
}

export const heldAnswer = (then: Answer = echo): HeldAnswer => {
  const opened = Promise.withResolvers<void>();
  let held = 0;
  return {
    async answer(response, request) {
      held += 1;
      response.once('close', () => (held -= 1));
      await opened.promise;
      await then(response, request);
    },
    open: () => opened.resolve(),
    held: () => held,
  };
};

export interface StreamedAnswer {
  readonly answer: Answer;
  /** Whether the model has been asked. */
  begun(): boolean;
  write(text: string): void;
  end(): void;
}

/** An answer that grows when the test says so. A call that is broken off is followed by the next one from the start. */
export const streamedAnswer = (): StreamedAnswer => {
  let response: ServerResponse | undefined;
  const send = (chunk: unknown): void => void response?.write(`data: ${JSON.stringify(chunk)}\n\n`);
  return {
    answer(opened) {
      response = opened;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      send(chunkOf({ role: 'assistant', content: '' }));
    },
    begun: () => response !== undefined,
    write: (text) => send(chunkOf({ content: text })),
    end() {
      send(chunkOf({}, 'stop'));
      send(usageChunk);
      response?.end('data: [DONE]\n\n');
    },
  };
};

/** Looks into the home of a gateway that runs in another process, or has ended. */
export const peek = async <T>(world: World, look: (store: Store) => Promise<T>): Promise<T> => {
  const store = new SqliteStore({ path: join(world.home, 'gateway.db'), clock: systemClock, checkIntegrity: false });
  try {
    return await look(store);
  } finally {
    await store.close();
  }
};

/** Everything ever said in all conversations, in order; `undone` rows are those the model no longer sees. */
export const transcript = (store: Store): Promise<readonly { readonly role: string; readonly content: string; readonly active: number }[]> =>
  store.read((db) => db.q.selectFrom('messages').select(['role', 'content', 'active']).orderBy('id').execute());

export const saidBy = async (store: Store, role: 'user' | 'assistant' | 'tool'): Promise<readonly string[]> => (await transcript(store)).filter((row) => row.role === role).map((row) => row.content);

export const inboxRows = (store: Store) =>
  store.read((db) => db.q.selectFrom('inbox').select(['id', 'account', 'chat_id', 'kind', 'class', 'state', 'reason', 'event', 'turn_id', 'session_id']).orderBy('id').execute());

export const outboxRows = (store: Store) =>
  store.read((db) => db.q.selectFrom('outbox').select(['id', 'key', 'account', 'chat_id', 'state', 'attempts', 'repeated', 'error', 'payload', 'message_ids', 'log']).orderBy('id').execute());

export const turnRows = (store: Store) => store.read((db) => db.q.selectFrom('turns').select(['id', 'state', 'attempts', 'exit_reason', 'error', 'preview', 'target']).orderBy('id').execute());

/** Calls about one chat, in order, of the given methods or of all that people could notice. */
export const callsTo = (telegram: TelegramSimulator, chatId: string, methods: readonly string[] = ['sendMessage', 'editMessageText', 'sendChatAction']) =>
  telegram.log.filter((call) => methods.includes(call.method) && String(call.params['chat_id']) === chatId);

export const numbered = (count: number): string[] => Array.from({ length: count }, (_, i) => `message ${i + 1}`);
