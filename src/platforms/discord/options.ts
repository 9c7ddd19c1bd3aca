import { z } from 'zod';

const ids = z.array(z.string().trim().min(1)).default([]);

/** Options of one Discord account, as they stand below `platforms.discord` in config.yaml. */
export const discordOptions = z.object({
  token: z
    .string()
    .trim()
    .regex(/^[\w-]+\.[\w-]+\.[\w-]+$/, 'must look like MTA....Gx....abc, as the developer portal shows it below Bot')
    .meta({ secret: true, env: 'DISCORD_BOT_TOKEN', description: "The bot's token, from the developer portal" }),
  base_url: z
    .url({ protocol: /^https?$/ })
    .default('https://discord.com/api')
    .meta({ description: "Root of Discord's API" }),
  proxy_url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .meta({ env: 'DISCORD_PROXY', description: 'HTTP proxy through which Discord is reached' }),
  require_mention: z.boolean().default(true).meta({ env: 'DISCORD_REQUIRE_MENTION', description: 'In channels, answer only when mentioned or replied to, and in threads where the bot takes part' }),
  free_response_channels: ids.meta({ env: 'DISCORD_FREE_RESPONSE_CHANNELS', description: 'Ids of channels where everything is answered although require_mention is set' }),
  ignore_no_mention: z.boolean().default(true).meta({ env: 'DISCORD_IGNORE_NO_MENTION', description: 'Stay silent when a message mentions others and not the bot, outside free channels' }),
  allowed_channels: ids.meta({ env: 'DISCORD_ALLOWED_CHANNELS', description: 'When not empty, only these channels of servers (and their threads) are read' }),
  ignored_channels: ids.meta({ env: 'DISCORD_IGNORED_CHANNELS', description: 'Channels (and their threads) that are never read' }),
  auto_thread: z.boolean().default(false).meta({ env: 'DISCORD_AUTO_THREAD', description: 'Answer a message in a channel in a new thread below it' }),
  no_thread_channels: ids.meta({ env: 'DISCORD_NO_THREAD_CHANNELS', description: 'Channels in which auto_thread opens none' }),
  reactions: z.boolean().default(true).meta({ env: 'DISCORD_REACTIONS', description: 'Let the gateway react to messages' }),
  slash_commands: z.boolean().default(true).meta({ description: 'Register the commands with Discord, so that its menu offers them' }),
  allow_mention_everyone: z.boolean().default(false).meta({ env: 'DISCORD_ALLOW_MENTION_EVERYONE', description: 'Let the agent ping everybody with @everyone and @here' }),
  allow_mention_roles: z.boolean().default(false).meta({ env: 'DISCORD_ALLOW_MENTION_ROLES', description: 'Let the agent ping roles' }),
  allow_mention_users: z.boolean().default(true).meta({ env: 'DISCORD_ALLOW_MENTION_USERS', description: 'Let the agent ping people it names by <@id>' }),
  allow_mention_replied_user: z.boolean().default(true).meta({ env: 'DISCORD_ALLOW_MENTION_REPLIED_USER', description: 'Ping whom an answer is attached to' }),
  suppress_embeds: z.boolean().default(false).meta({ description: 'Send links without a preview' }),
  max_upload_mb: z.int().min(1).max(500).default(10).meta({ description: 'Largest file to send; Discord allows more on boosted servers' }),
  catch_up_hours: z.number().min(0).max(336).default(24).meta({ description: 'How far back messages are fetched that were written while the gateway was away' }),
  probe_seconds: z.number().min(0.1).max(86_400).default(300).meta({ description: 'After this long without an event, ask Discord whether the connection still delivers' }),
  shards: z.int().min(1).max(1000).optional().meta({ description: 'How many connections to open, instead of as many as Discord recommends' }),
  request_timeout_seconds: z.int().min(1).max(300).default(20).meta({ description: 'How long a call may stay silent' }),
});

export type DiscordOptions = z.output<typeof discordOptions>;

const apiVersion = 'v10';

/** The API's address with its version, whether or not the owner wrote one. */
export const apiRoot = ({ base_url: url }: Pick<DiscordOptions, 'base_url'>): string => `${url.replace(/\/+$/, '').replace(/\/v\d+$/, '')}/${apiVersion}`;
