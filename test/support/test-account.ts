import { tmpdir } from 'node:os';
import type { OutboundMessage, Target } from '../../src/core/message.ts';
import { capturingLogger } from '../../src/lib/logger.ts';
import type { AccountData, Adapter, Platform } from '../../src/platforms/contract.ts';
import { openAccountData } from './account-data.ts';

export interface TestAccount {
  readonly adapter: Adapter;
  readonly data: AccountData;
  readonly lines: readonly string[];
}

/** The real adapter of a platform; with the data of an earlier one it is that after a restart. */
export const openTestAccount = async <Options>(platform: Platform<Options>, options: Readonly<Record<string, unknown>>, data: AccountData = openAccountData(':memory:')): Promise<TestAccount> => {
  const { log, lines } = capturingLogger();
  const adapter = await platform.open({ account: platform.name, options: platform.options.parse(options) as Options, log, data, home: tmpdir(), mediaFolder: tmpdir() });
  return { adapter, data, lines };
};

/** A message under a key of its own text: the same text again is the same message. */
export const message = (target: Target, text: string, more: Partial<OutboundMessage> = {}): OutboundMessage => ({ key: `key:${text.slice(0, 20)}`, target, text, ...more });
