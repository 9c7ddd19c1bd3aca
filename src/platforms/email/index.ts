import { chatsLike } from '../../core/target.ts';
import type { ReadChat } from '../../core/target.ts';
import type { Platform } from '../contract.ts';
import { addressShape, canonicalAddress } from './addresses.ts';
import { emailOptions, serversOf } from './options.ts';
import type { EmailOptions } from './options.ts';

const readAddress = chatsLike(addressShape);

const readChat: ReadChat = (ref) => {
  const chat = readAddress(ref);
  return chat && { ...chat, chatId: canonicalAddress(chat.chatId) };
};

export const email: Platform<EmailOptions> = {
  name: 'email',
  label: 'E-mail',
  options: emailOptions,
  limits: { text: 50_000, measure: (markdown) => markdown.length, mostParts: 2, editIntervalMs: 60_000 },
  chatTypeOf: () => 'dm',
  readChat,
  canonicalId: canonicalAddress,
  display: { tier: 'minimal' },
  hints:
    'You are writing e-mails. Write one whole answer, as in a letter: with a short greeting where it fits, in full sentences, without asking whether to go on. ' +
    'Headings, lists, tables, links, bold, italic and code are shown. Subject, recipient and quoted history are added for you: do not write them.',
  // Every look into the mailbox is a sign of life, and there are at most fifteen minutes between two.
  silenceMs: 1_000_000,
  asyncDelivery: true,
  authenticatesSenders: false,
  hidesIds: true,
  answersStrangers: false,
  alwaysOn: false,
  // Two accounts on one mailbox would answer everything twice, whatever they log in with.
  credential: (options) => `${options.address} at ${serversOf(options).imap.host.toLowerCase()}:${serversOf(options).imap.port}`,
  async open(context) {
    // What an account that is not configured would not need is loaded here.
    const { open } = await import('./adapter.ts');
    return open(context);
  },
  simulate: async (variant) => (await import('./simulator.ts')).startEmailSimulator({ idle: variant !== 'polling', oauth: variant === 'oauth' }),
  variants: ['polling', 'oauth'],
  exceptions: {},
};
