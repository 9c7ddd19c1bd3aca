import { systemClock } from '../../lib/clock.ts';
import { PlatformError } from '../../core/errors.ts';
import type { Adapter, AdapterContext, CommandMenu } from '../contract.ts';
import { newAddresses } from './address.ts';
import { openApi } from './api.ts';
import { newChoices, newDirectory, newReactions, newThreads, newTyping } from './capabilities.ts';
import { newEdits } from './edits.ts';
import { newEventsApi } from './events-api.ts';
import { newMedia } from './media.ts';
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

export const open = async ({ account, options, log, data }: AdapterContext<SlackOptions>): Promise<Adapter> => {
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
