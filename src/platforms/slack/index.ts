import type { Platform } from '../contract.ts';
import { readSlackChat } from './address.ts';
import { measureSlack } from './format.ts';
import { slackOptions } from './options.ts';
import type { SlackOptions } from './options.ts';

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
  async open(context) {
    // What an account that is not configured would not need is loaded here.
    const { open } = await import('./adapter.ts');
    return open(context);
  },
  simulate: async (variant) => (await import('./simulator.ts')).startSlackSimulator({ mode: variant === 'events_api' ? 'http' : 'socket' }),
  variants: ['events_api'],
  exceptions: {
    'an answer is attached to the message it answers':
      'Slack attaches answers by threads only, and a thread is a conversation of its own. In channels answers go into the thread below the message; in direct messages they simply follow.',
  },
};
