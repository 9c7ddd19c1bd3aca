import type { Target } from '../../src/core/message.ts';
import type { AccountData, Adapter } from '../../src/platforms/contract.ts';
import { telegram } from '../../src/platforms/telegram/index.ts';
import type { TelegramSimulator } from '../../src/platforms/telegram/simulator.ts';
import { openTestAccount } from './test-account.ts';
import type { TestAccount } from './test-account.ts';
import { testInbox } from './test-inbox.ts';
import type { TestInbox } from './test-inbox.ts';

/** The real adapter, connected to the simulator. */
export const openAccount = (simulator: TelegramSimulator, overrides: Readonly<Record<string, unknown>> = {}, data?: AccountData): Promise<TestAccount> =>
  openTestAccount(telegram, { ...simulator.options, ...overrides }, data);

export interface Running {
  readonly inbox: TestInbox;
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

/** Runs the account until `stop`; `ended` settles as `run` does. */
export const runAccount = async (adapter: Adapter, inbox = testInbox()): Promise<Running> => {
  const controller = new AbortController();
  const identity = await adapter.identify(controller.signal);
  const ended = adapter.run(inbox, identity, controller.signal);
  ended.catch(() => undefined);
  return {
    inbox,
    ended,
    async stop() {
      controller.abort();
      await ended;
    },
  };
};

export const toChat = (chatId: string, more: Partial<Target> = {}): Target => ({ account: 'telegram', chatId, chatType: chatId.startsWith('-') ? 'group' : 'dm', ...more });
