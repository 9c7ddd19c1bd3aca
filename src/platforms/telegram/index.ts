import type { ReactionType } from 'grammy/types';
import { PlatformError } from '../../core/errors.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Adapter, AdapterContext, Choices, Identity, Platform, Reactions, Typing } from '../contract.ts';
import { requireMessage, typingAddressOf } from './address.ts';
import { openApi } from './api.ts';
import type { TelegramApi } from './api.ts';
import { newEdits } from './edits.ts';
import { newMedia } from './files.ts';
import { measureTelegram } from './format.ts';
import { newMenu } from './menu.ts';
import { telegramOptions } from './options.ts';
import type { TelegramOptions } from './options.ts';
import { clientSplitsAt } from './parse-message.ts';
import { newParser } from './parse.ts';
import { newOwnThreads } from '../own-threads.ts';
import { forgetProgress } from '../progress.ts';
import { poll } from './receive.ts';
import { newSend } from './send.ts';
import { newNames, newThreads } from './topics.ts';
import { newWebhook } from './webhook.ts';
import { readUser } from './wire.ts';

const identify = async (api: TelegramApi, signal: AbortSignal): Promise<Identity> => {
  const me = readUser(await api.repeatable('account', signal, (raw, s) => raw.getMe(s)));
  if (me === undefined) throw new PlatformError('unavailable', 'getMe: the answer is not a user');
  return { id: String(me.id), name: me.name ?? String(me.id), ...(me.username !== undefined && { handle: me.username }) };
};

/** Telegram knows the red heart without the variation selector that keyboards add. */
const bareEmoji = (emoji: string): string => emoji.replaceAll('\uFE0F', '');

type ReactionEmoji = Extract<ReactionType, { type: 'emoji' }>['emoji'];

const newReactions = (api: TelegramApi): Reactions => ({
  async set(target, messageId, emoji, signal) {
    const message = { chat_id: target.chatId, message_id: requireMessage(messageId) };
    // Telegram itself decides which emoji may be reactions, and refuses the others as `unsupported`.
    const reaction = emoji === null ? [] : [{ type: 'emoji' as const, emoji: bareEmoji(emoji) as ReactionEmoji }];
    await api.repeatable('chat', signal, (raw, s) => raw.setMessageReaction({ ...message, reaction }, s));
  },
});

const maxAnswer = 200;

const newChoices = (api: TelegramApi): Choices => ({
  async answer(event, text, signal) {
    const shown = text === undefined ? {} : { text: text.slice(0, maxAnswer).toWellFormed() };
    await api.repeatable('account', signal, (raw, s) => raw.answerCallbackQuery({ callback_query_id: event.nativeId, ...shown }, s));
  },
});

const newTyping = (api: TelegramApi): Typing => ({
  everyMs: 4000,
  async show(target, signal) {
    await api.repeatable('chat', signal, (raw, s) => raw.sendChatAction({ ...typingAddressOf(target), action: 'typing' }, s));
  },
});

const open = async ({ account, options, log, data }: AdapterContext<TelegramOptions>): Promise<Adapter> => {
  const api = openApi(options);
  const clock = systemClock;
  const { webhook_url: url, webhook_secret: secret } = options;
  const ownThreads = newOwnThreads({ data, clock, log });
  const webhook = url === undefined || secret === undefined ? undefined : newWebhook({ url, secret });
  return {
    identify: (signal) => identify(api, signal),
    async run(inbox, identity, signal) {
      await Promise.all([forgetProgress(data, clock.now()), ownThreads.forgetOld()]);
      const receiving = { api, inbox, log, clock, ownThreads, parse: newParser({ account, identity, options }), pollTimeoutSeconds: options.poll_timeout_seconds };
      await (webhook === undefined ? poll(receiving, signal) : webhook.run(receiving, signal));
    },
    send: newSend({ api, options, data, clock }),
    edits: newEdits(api, options),
    typing: newTyping(api),
    choices: newChoices(api),
    media: newMedia(api),
    threads: newThreads({ api, log, ownThreads }),
    names: newNames(api, ownThreads),
    menu: newMenu(api, options.command_menu),
    ...(options.reactions && { reactions: newReactions(api) }),
    ...(webhook !== undefined && { webhook: webhook.webhook }),
  };
};

export const telegram: Platform<TelegramOptions> = {
  name: 'telegram',
  label: 'Telegram',
  options: telegramOptions,
  limits: { text: 4096, measure: measureTelegram, clientSplitsAt, editIntervalMs: 1000 },
  // People have positive ids, groups and channels negative ones.
  chatTypeOf: (chatId) => (chatId.startsWith('-') ? 'group' : 'dm'),
  display: { tier: 'high', quietTools: true },
  hints:
    'You are writing in Telegram. Bold, italic, strikethrough, spoilers, links, inline code, code blocks and quotes are shown; ' +
    'headings and tables are not, so write them as bold lines and short lists. Keep messages short: people read them on a phone.',
  // The longest poll is answered within 50 seconds, and a webhook is checked every minute.
  silenceMs: 130_000,
  asyncDelivery: true,
  authenticatesSenders: false,
  hidesIds: true,
  alwaysOn: false,
  credential: ({ token }) => token,
  open,
  simulate: async (variant) => (await import('./simulator.ts')).startTelegramSimulator({ mode: variant === 'webhook' ? 'webhook' : 'polling' }),
  variants: ['webhook'],
  exceptions: {},
};
