import { z } from 'zod';

const compiles = (pattern: string): boolean => {
  try {
    return new RegExp(pattern, 'i') instanceof RegExp;
  } catch {
    return false;
  }
};

const ids = z.array(z.string().trim().min(1)).default([]);

/** Options of one Telegram account, as they stand below `platforms.telegram` in config.yaml. */
export const telegramOptions = z
  .object({
    token: z
      .string()
      .regex(/^\d+:[\w-]+$/, 'must look like 123456:ABC..., as @BotFather gives it')
      .meta({ secret: true, env: 'TELEGRAM_BOT_TOKEN', description: 'Bot token from @BotFather' }),
    base_url: z
      .url({ protocol: /^https?$/ })
      .default('https://api.telegram.org')
      .meta({ description: 'Root of the Bot API, for a server of your own' }),
    proxy_url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .meta({ env: 'TELEGRAM_PROXY', description: 'HTTP proxy through which Telegram is reached' }),
    webhook_url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .meta({ env: 'TELEGRAM_WEBHOOK_URL', description: 'Public address of /webhooks/<account>; set it to receive by webhook instead of long polling' }),
    webhook_secret: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,256}$/, 'may only have letters, digits, _ and -, at most 256')
      .optional()
      .meta({ secret: true, env: 'TELEGRAM_WEBHOOK_SECRET', description: 'Proves that a webhook call comes from Telegram; required with webhook_url' }),
    require_mention: z.boolean().default(false).meta({ description: 'In groups, answer only when mentioned, replied to, or called by a pattern' }),
    mention_patterns: z
      .array(z.string().refine(compiles, 'is not a regular expression'))
      .default([])
      .meta({ description: 'Regular expressions (case-insensitive) that count as a mention' }),
    free_response_chats: ids.meta({ description: 'Chat ids where everything is answered although require_mention is set' }),
    ignored_threads: ids.meta({ description: 'Topic ids, or <chat id>:<topic id>, that are never read' }),
    exclusive_bot_mentions: z.boolean().default(true).meta({ description: 'Stay silent in a group when other bots are named and this one is not' }),
    disable_link_previews: z.boolean().default(false).meta({ description: 'Send links without a preview' }),
    reactions: z.boolean().default(false).meta({ env: 'TELEGRAM_REACTIONS', description: 'Let the gateway react to messages' }),
    command_menu: z
      .object({
        max_commands: z.int().min(1).max(100).default(60).meta({ description: 'How many commands the menu shows' }),
        priority_mode: z.enum(['prepend', 'append', 'replace']).default('prepend').meta({ description: 'Where the commands named in `priority` stand: first, last, or alone' }),
        priority: z.array(z.string().trim().min(1)).default([]).meta({ description: 'Commands to move in the menu' }),
      })
      .prefault({})
      .meta({ description: 'The menu of commands beside the text field' }),
    poll_timeout_seconds: z.number().int().min(1).max(50).default(30).meta({ description: 'How long Telegram may hold an empty poll' }),
    request_timeout_seconds: z.number().int().min(1).max(300).default(20).meta({ description: 'How long a call may stay silent' }),
  })
  .refine((options) => options.webhook_url === undefined || options.webhook_secret !== undefined, {
    path: ['webhook_secret'],
    error: 'is required when webhook_url is set',
  });

export type TelegramOptions = z.output<typeof telegramOptions>;

/** The Bot API root without a trailing `/` or the `/bot` that other clients want there. */
export const apiRoot = (options: Pick<TelegramOptions, 'base_url'>): string => options.base_url.replace(/\/+$/, '').replace(/\/bot$/, '');
