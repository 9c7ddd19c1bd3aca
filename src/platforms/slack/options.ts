import { z } from 'zod';

const compiles = (pattern: string): boolean => {
  try {
    return new RegExp(pattern, 'i') instanceof RegExp;
  } catch {
    return false;
  }
};

const ids = z.array(z.string().trim().min(1)).default([]);

const botTokens = /^xox[a-z]?[.-][\w.-]+(?:\s*,\s*xox[a-z]?[.-][\w.-]+)*$/;

/** Options of one Slack app, as they stand below `platforms.slack` in config.yaml. */
export const slackOptions = z
  .object({
    bot_token: z
      .string()
      .trim()
      .regex(botTokens, 'must look like xoxb-..., as OAuth & Permissions shows it')
      .meta({ secret: true, env: 'SLACK_BOT_TOKEN', description: 'Bot token (xoxb-...). An app that is installed in several workspaces has one of each, separated by commas' }),
    mode: z.enum(['socket', 'http']).default('socket').meta({ env: 'SLACK_MODE', description: 'How Slack reaches the gateway: by a socket that the gateway opens, or by calling its public address' }),
    app_token: z
      .string()
      .regex(/^xapp-[\w-]+$/, 'must look like xapp-..., as Basic Information, App-Level Tokens shows it')
      .optional()
      .meta({ secret: true, env: 'SLACK_APP_TOKEN', description: 'App-level token with connections:write; required for mode socket' }),
    signing_secret: z
      .string()
      .min(8)
      .optional()
      .meta({ secret: true, env: 'SLACK_SIGNING_SECRET', description: 'Proves that a call comes from Slack; required for mode http' }),
    base_url: z
      .url({ protocol: /^https?$/ })
      .default('https://slack.com/api')
      .meta({ description: 'Root of the Web API' }),
    require_mention: z.boolean().default(true).meta({ env: 'SLACK_REQUIRE_MENTION', description: 'In channels, answer only when mentioned, in threads the agent takes part in, or called by a pattern' }),
    free_response_channels: ids.meta({ env: 'SLACK_FREE_RESPONSE_CHANNELS', description: 'Channel ids where everything is answered although require_mention is set' }),
    require_mention_channels: ids.meta({ env: 'SLACK_REQUIRE_MENTION_CHANNELS', description: 'Channel ids where a mention is needed although require_mention is not set' }),
    thread_require_mention: z.boolean().default(false).meta({ env: 'SLACK_THREAD_REQUIRE_MENTION', description: 'Needs a mention also in threads the agent takes part in' }),
    mention_patterns: z
      .array(z.string().refine(compiles, 'is not a regular expression'))
      .default([])
      .meta({ description: 'Regular expressions (case-insensitive) that count as a mention' }),
    ignore_other_user_mentions: z.boolean().default(false).meta({ env: 'SLACK_IGNORE_OTHER_USER_MENTIONS', description: 'In channels, stay silent when a message begins with the name of somebody else' }),
    allowed_channels: ids.meta({ env: 'SLACK_ALLOWED_CHANNELS', description: 'If set, no other channel is read; direct messages are' }),
    ignored_channels: ids.meta({ env: 'SLACK_IGNORED_CHANNELS', description: 'Channel ids that are never read' }),
    reply_in_thread: z.boolean().default(true).meta({ description: 'In channels, answer a message in a thread below it; each is a conversation of its own' }),
    reply_broadcast: z.boolean().default(false).meta({ description: 'Show answers in threads in the channel, too' }),
    slash_command: z
      .string()
      .regex(/^\/[\w-]+$/, 'must be a slash and a name, such as /hermes')
      .default('/hermes')
      .meta({ description: 'The command behind which people write a command of the agent or a message' }),
    unfurl_links: z.boolean().default(false).meta({ description: 'Show previews of links' }),
    reactions: z.boolean().default(true).meta({ env: 'SLACK_REACTIONS', description: 'Let the gateway react to messages' }),
    assistant: z.boolean().default(false).meta({ description: 'The app has Agents & AI Apps switched on: a status is shown in threads while the agent works' }),
    typing_status_text: z.string().min(1).max(100).default('is thinking...').meta({ description: 'What that status says' }),
    request_timeout_seconds: z.int().min(1).max(300).default(20).meta({ description: 'How long a call may take' }),
  })
  .superRefine((options, context) => {
    const needed = options.mode === 'socket' ? 'app_token' : 'signing_secret';
    if (options[needed] === undefined) context.addIssue({ code: 'custom', path: [needed], message: `is required for mode ${options.mode}` });
  });

export type SlackOptions = z.output<typeof slackOptions>;

/** One token for each workspace that the app is installed in. */
export const tokensOf = ({ bot_token: tokens }: Pick<SlackOptions, 'bot_token'>): readonly string[] => [...new Set(tokens.split(',').map((token) => token.trim()))];
