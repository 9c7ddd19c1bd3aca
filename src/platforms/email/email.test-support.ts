import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStoredData } from '../../../test/support/stored-data.ts';
import type { OutboundMessage } from '../../core/message.ts';
import { capturingLogger } from '../../lib/logger.ts';
import { newInbox, runAdapter } from '../conformance-bench.ts';
import type { BenchInbox, Running } from '../conformance-bench.ts';
import type { AccountData, Adapter } from '../contract.ts';
import { email } from './index.ts';
import { emailOptions } from './options.ts';
import type { EmailOptions } from './options.ts';
import { startEmailSimulator } from './simulator.ts';
import type { EmailSimulator, EmailSimulatorOptions } from './simulator.ts';

/** A provider, and a mailbox of ours on it. */
export interface Mailbox extends AsyncDisposable {
  readonly provider: EmailSimulator;
  readonly adapter: Adapter;
  readonly lines: readonly string[];
  readonly folder: string;
  readonly data: AccountData;
  /** A further adapter of the same account, as after a restart. */
  open(changes?: Partial<EmailOptions>): Promise<Adapter>;
  receive(inbox?: BenchInbox, adapter?: Adapter): Promise<Running>;
  /** Alice writes. */
  say(text: string, more?: Partial<Parameters<EmailSimulator['say']>[0]>): Promise<string>;
}

export const alice = 'alice@example.org';

export const messageTo = (key: string, text: string, more: Partial<OutboundMessage> & { readonly replyTo?: string; readonly threadId?: string } = {}): OutboundMessage => {
  const { replyTo, threadId, ...rest } = more;
  return { key, text, target: { account: 'email', chatId: alice, chatType: 'dm', ...(replyTo !== undefined && { replyTo }), ...(threadId !== undefined && { threadId }) }, ...rest };
};

export const openMailbox = async (wanted: { readonly provider?: EmailSimulatorOptions; readonly options?: Partial<EmailOptions> } = {}): Promise<Mailbox> => {
  const provider = await startEmailSimulator(wanted.provider);
  const folder = await mkdtemp(join(tmpdir(), 'hermes-email-'));
  const data = await openStoredData(folder);
  const { log, lines } = capturingLogger();
  const open: Mailbox['open'] = (changes = {}) =>
    email.open({ account: 'email', options: emailOptions.parse({ ...provider.options, ...wanted.options, ...changes }), log, data, home: folder, mediaFolder: folder });
  const adapter = await open();
  const all: Running[] = [];
  return {
    provider,
    adapter,
    lines,
    folder,
    data,
    open,
    async receive(inbox = newInbox(), by = adapter) {
      const receiving = await runAdapter(by, inbox);
      all.push(receiving);
      return receiving;
    },
    say: (text, more = {}) => provider.say({ chatId: alice, chatType: 'dm', senderId: alice, text, ...more }),
    async [Symbol.asyncDispose]() {
      for (const receiving of all) await receiving.stop();
      await provider[Symbol.asyncDispose]();
      await data[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
};
