import { openTestAccount } from '../../../test/support/test-account.ts';
import type { TestAccount } from '../../../test/support/test-account.ts';
import type { Target } from '../../core/message.ts';
import { newInbox, runAdapter } from '../conformance-bench.ts';
import type { Running } from '../conformance-bench.ts';
import type { AccountData, Adapter } from '../contract.ts';
import { slack } from './index.ts';
import type { SlackSimulator } from './simulator.ts';

export const dm = { chatId: 'D0PERSON01', chatType: 'dm' as const, senderId: 'U0PERSON01' };
export const channel = { chatId: 'C0GENERAL1', chatType: 'group' as const, senderId: 'U0PERSON01' };
export const secondTeam = { id: 'T00FAKE00BB', name: 'Beta', token: 'xoxb-simulated-bot-token-EEEEEEEEEEEE', botUserId: 'U00FAKEBOT02', botId: 'B00FAKEBOT02' };

/** The real adapter, connected to the simulator. */
export const openAccount = (simulator: SlackSimulator, overrides: Readonly<Record<string, unknown>> = {}, data?: AccountData): Promise<TestAccount> => openTestAccount(slack, { ...simulator.options, ...overrides }, data);

/** Receives until it is stopped. */
export const runAccount = (adapter: Adapter, inbox = newInbox()): Promise<Running> => runAdapter(adapter, inbox);

export const target = (place: { readonly chatId: string; readonly chatType: Target['chatType'] }, more: Partial<Target> = {}): Target => ({ account: 'slack', chatId: place.chatId, chatType: place.chatType, ...more });
