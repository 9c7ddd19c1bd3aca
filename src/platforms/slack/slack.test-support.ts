import { tmpdir } from 'node:os';
import { openAccountData } from '../../../test/support/account-data.ts';
import type { OutboundMessage, Target } from '../../core/message.ts';
import { capturingLogger } from '../../lib/logger.ts';
import { newInbox } from '../conformance-bench.ts';
import type { BenchInbox } from '../conformance-bench.ts';
import type { AccountData, Adapter } from '../contract.ts';
import { slack } from './index.ts';
import { slackOptions } from './options.ts';
import type { SlackSimulator } from './simulator.ts';

export const dm = { chatId: 'D0PERSON01', chatType: 'dm' as const, senderId: 'U0PERSON01' };
export const channel = { chatId: 'C0GENERAL1', chatType: 'group' as const, senderId: 'U0PERSON01' };
export const secondTeam = { id: 'T00FAKE00BB', name: 'Beta', token: 'xoxb-simulated-bot-token-EEEEEEEEEEEE', botUserId: 'U00FAKEBOT02', botId: 'B00FAKEBOT02' };

export interface TestAccount {
  readonly adapter: Adapter;
  readonly data: AccountData;
  readonly lines: readonly string[];
}

/** The real adapter, connected to the simulator. */
export const openAccount = async (simulator: SlackSimulator, overrides: Readonly<Record<string, unknown>> = {}, data: AccountData = openAccountData(':memory:')): Promise<TestAccount> => {
  const { log, lines } = capturingLogger();
  const options = slackOptions.parse({ ...simulator.options, ...overrides });
  return { adapter: await slack.open({ account: 'slack', options, log, data, home: tmpdir(), mediaFolder: tmpdir() }), data, lines };
};

export interface Run extends AsyncDisposable {
  readonly inbox: BenchInbox;
  /** What `run` ended with; never rejects. */
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

/** Receives until it is stopped. */
export const runAccount = async (adapter: Adapter, inbox = newInbox()): Promise<Run> => {
  const stopping = new AbortController();
  const identity = await adapter.identify(stopping.signal);
  const ended = adapter.run(inbox, identity, stopping.signal).then(
    () => undefined,
    (error: unknown) => error,
  );
  const stop = async (): Promise<void> => {
    stopping.abort();
    await ended;
  };
  return { inbox, ended, stop, [Symbol.asyncDispose]: stop };
};

export const target = (place: { readonly chatId: string; readonly chatType: Target['chatType'] }, more: Partial<Target> = {}): Target => ({ account: 'slack', chatId: place.chatId, chatType: place.chatType, ...more });

export const message = (to: Target, text: string, more: Partial<OutboundMessage> = {}): OutboundMessage => ({ key: `key:${text.slice(0, 20)}`, target: to, text, ...more });
