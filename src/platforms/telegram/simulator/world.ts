import type { Clock } from '../../../lib/clock.ts';
import type { MediaKind } from '../../../core/message.ts';
import type { Chats, StoredFile } from './chats.ts';
import { newChats } from './chats.ts';
import { UpdateQueue } from './updates.ts';
import { WebhookDelivery } from './webhook-delivery.ts';

interface Bot {
  readonly [field: string]: unknown;
  readonly id: number;
  readonly is_bot: true;
  readonly first_name: string;
  readonly username: string;
}

interface Files {
  add(file: Omit<StoredFile, 'fileId'>): StoredFile;
  get(fileId: string): StoredFile | undefined;
}

/** Everything that Telegram knows about one bot. */
export interface World {
  readonly bot: Bot;
  readonly clock: Clock;
  readonly chats: Chats;
  readonly files: Files;
  readonly updates: UpdateQueue;
  readonly webhook: WebhookDelivery;
  readonly typing: string[];
  /** Whether people may have topics in their direct chat with the bot. */
  readonly privateTopics: boolean;
  readonly callbackQueries: Set<string>;
  readonly callbackAnswers: { readonly id: string; readonly text: string | undefined }[];
  commands: readonly unknown[];
}

const newFiles = (): Files => {
  const files = new Map<string, StoredFile>();
  return {
    add(file: { kind: MediaKind; name: string; bytes: Uint8Array }) {
      const stored: StoredFile = { ...file, fileId: `file_${files.size + 1}` };
      files.set(stored.fileId, stored);
      return stored;
    },
    get: (fileId) => files.get(fileId),
  };
};

export const newWorld = (token: string, clock: Clock, privateTopics: boolean): World => {
  const updates = new UpdateQueue(clock);
  return {
    bot: { id: Number(token.split(':', 1)[0]), is_bot: true, first_name: 'Hermes', username: 'hermes_test_bot' },
    clock,
    chats: newChats(),
    files: newFiles(),
    updates,
    webhook: new WebhookDelivery(updates, clock),
    typing: [],
    privateTopics,
    callbackQueries: new Set(),
    callbackAnswers: [],
    commands: [],
  };
};

export const nowSeconds = ({ clock }: World): number => Math.floor(clock.now() / 1000);
