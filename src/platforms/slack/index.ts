import { systemClock } from '../../lib/clock.ts';
import { PlatformError } from '../../core/errors.ts';
import type { Adapter, AdapterContext, CommandMenu, Platform } from '../contract.ts';
import { newAddresses, readSlackChat } from './address.ts';
import { openApi } from './api.ts';
import { newChoices, newDirectory, newReactions, newThreads, newTyping } from './capabilities.ts';
import { newEdits } from './edits.ts';
import { newEventsApi } from './events-api.ts';
import { measureSlack } from './format.ts';
import { newMedia } from './media.ts';
import { slackOptions } from './options.ts';
import type { SlackOptions } from './options.ts';
import { receive } from './receive.ts';
import type { Receiving, Way } from './receive.ts';
import { newReply } from './reply.ts';
import { newSend } from './send.ts';
import { receiveBySocket } from './socket-mode.ts';
import { identityOf, newWorkspaces } from './workspaces.ts';
import type { Workspaces } from './workspaces.ts';

/** Slack shows no menu that could be filled, but the names tell a command behind `/hermes` from a sentence. */
const newMenu = (names: Set<string>): CommandMenu => ({
  async publish(commands) {
    names.clear();
    for (const { name } of commands) names.add(name);
  },
});

/** `ws` is loaded here and not before, so that a gateway without Slack does not pay for it. */
const socketWay = async (options: SlackOptions, { inbox, log, clock }: Pick<Receiving, 'inbox' | 'log' | 'clock'>): Promise<Way> => {
  const { WebSocket } = await import('ws');
  const app = openApi(options, options.app_token ?? '');
  const open = (url: string): InstanceType<typeof WebSocket> => new WebSocket(url, { handshakeTimeout: options.request_timeout_seconds * 1000, maxPayload: 8 * 1024 * 1024, perMessageDeflate: false });
  return (taker, onOpen, signal) => receiveBySocket({ app, open, clock, log, inbox, taker, onOpen }, signal);
};

interface Ways {
  readonly webhook: ReturnType<typeof newEventsApi> | undefined;
  of(receiving: Pick<Receiving, 'inbox' | 'log' | 'clock'>): Promise<Way>;
}

const waysOf = (options: SlackOptions, workspaces: Workspaces): Ways => {
  if (options.mode === 'socket') return { webhook: undefined, of: (receiving) => socketWay(options, receiving) };
  if (options.signing_secret === undefined) throw new PlatformError('bad_credential', 'signing_secret is required for mode http');
  const api = newEventsApi({ secret: options.signing_secret, workspaces, clock: systemClock });
  return {
    webhook: api,
    of: async ({ inbox, log }) => (taker, onOpen, signal) => {
      onOpen();
      return api.run({ inbox, taker, log }, signal);
    },
  };
};

const open = async ({ account, options, log, data }: AdapterContext<SlackOptions>): Promise<Adapter> => {
  const clock = systemClock;
  const workspaces = newWorkspaces(options);
  const addressOf = newAddresses(workspaces);
  const ways = waysOf(options, workspaces);
  const commands = new Set<string>();
  return {
    identify: async (signal) => identityOf(await workspaces.check(signal)),
    async run(inbox, _identity, signal) {
      const receiving: Receiving = { account, options, workspaces, data, inbox, log, clock, isCommand: (word) => commands.has(word) };
      await receive(receiving, await ways.of(receiving), signal);
    },
    send: newSend({ addressOf, options, data, clock, reply: newReply(options) }),
    repeatsAreSafe: true,
    edits: newEdits(addressOf),
    choices: newChoices(addressOf),
    media: newMedia(workspaces),
    threads: newThreads(addressOf, data),
    directory: newDirectory(workspaces),
    menu: newMenu(commands),
    ...(options.reactions && { reactions: newReactions(addressOf) }),
    ...(options.assistant && { typing: newTyping(addressOf, options.typing_status_text) }),
    ...(ways.webhook !== undefined && { webhook: ways.webhook.webhook }),
  };
};

export const slack: Platform<SlackOptions> = {
  name: 'slack',
  label: 'Slack',
  options: slackOptions,
  // Slack posts up to 40,000 characters, but changes no text of more than 4,000, and a live preview ends with a change.
  limits: { text: 4000, measure: measureSlack, editIntervalMs: 1200 },
  chatTypeOf: (chatId) => (/^(?:D|U|W|user)/.test(chatId) ? 'dm' : 'group'),
  readChat: readSlackChat,
  display: { tier: 'medium', quietTools: true },
  hints:
    'You are writing in Slack. Bold, italic, strikethrough, links, inline code, code blocks and quotes are shown; tables are shown as code. ' +
    'People are called by <@USERID>. Answers in channels go into a thread. Keep messages short.',
  // Slack and we ping each other every few seconds; calls are checked every minute.
  silenceMs: 150_000,
  scopeInKey: true,
  asyncDelivery: true,
  authenticatesSenders: false,
  commandMark: '!',
  alwaysOn: false,
  credential: ({ mode, app_token: app, bot_token: bot }) => (mode === 'socket' ? app : bot),
  open,
  simulate: async (variant) => (await import('./simulator.ts')).startSlackSimulator({ mode: variant === 'events_api' ? 'http' : 'socket' }),
  variants: ['events_api'],
  exceptions: {
    'an answer is attached to the message it answers':
      'Slack attaches answers by threads only, and a thread is a conversation of its own. In channels answers go into the thread below the message; in direct messages they simply follow.',
  },
};
