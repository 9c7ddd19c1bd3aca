import { z } from 'zod';

/** Ids as the platform writes them. `*` would open the account by a single character, so it is refused. */
const idList = (advice: string) =>
  z.array(
    z
      .string()
      .trim()
      .min(1)
      .refine((id) => id !== '*', `* is not accepted here; ${advice}`),
  );

const commandList = z.array(
  z
    .string()
    .trim()
    .regex(/^\/?[\w-]+$/, 'must be the name of a command, such as /status')
    .transform((name) => name.replace(/^\//, '').toLowerCase()),
);

const openUp = 'set allow_all_users: true if everybody may talk to the agent';
const nameEach = 'name each one';

const botWords = new Map<unknown, string>([
  [true, 'all'],
  [false, 'none'],
  ...['true', 'yes', 'on', '1'].map((word): [string, string] => [word, 'all']),
  ...['false', 'no', 'off', '0'].map((word): [string, string] => [word, 'none']),
]);

const homeChannel = z
  .object({
    chat_id: z.string().trim().min(1).describe('Id of the chat'),
    thread_id: z.string().trim().min(1).meta({ env: '<PLATFORM>_HOME_CHANNEL_THREAD_ID' }).describe('A thread inside that chat').optional(),
    name: z.string().meta({ env: '<PLATFORM>_HOME_CHANNEL_NAME' }).describe('What to call it').default('Home'),
  })
  .meta({ env: '<PLATFORM>_HOME_CHANNEL', shorthand: 'chat_id' })
  .describe('The chat that gets what nobody asked for: results of scheduled jobs, notices. A bare value is its id');

/**
 * The keys every account of every platform has beside the platform's own. Lists that are absent stay absent where
 * that differs from an empty one: without an admin list commands are not restricted.
 */
export const accountOptions = z.object({
  enabled: z.boolean().describe('Whether the account runs; `false` also wins over credentials in the environment').default(true),
  required: z.boolean().describe('Whether `/ready` says no while the account is away; `false` for one that the gateway can do without').default(true),
  allowed_users: idList(openUp)
    .meta({ env: '<PLATFORM>_ALLOWED_USERS', aliases: ['allow_from'] })
    .describe('Ids of the people who may talk to the agent')
    .default([]),
  allowed_roles: idList(openUp)
    .meta({ env: '<PLATFORM>_ALLOWED_ROLES' })
    .describe('Ids of roles, where the platform has them: whoever has one may talk to the agent in the workspace of that role')
    .default([]),
  allow_all_users: z.boolean().meta({ env: '<PLATFORM>_ALLOW_ALL_USERS' }).describe('Lets everybody who can reach the account talk to the agent').default(false),
  allow_bots: z
    .preprocess((value) => botWords.get(value) ?? value, z.enum(['none', 'mentions', 'all']))
    .meta({ env: '<PLATFORM>_ALLOW_BOTS' })
    .describe('Which other bots are heard')
    .default('none'),
  thread_context: z
    .enum(['allowed', 'everyone'])
    .meta({ env: '<PLATFORM>_THREAD_CONTEXT' })
    .describe('Whose earlier words the agent is told when it is called into a thread: of people who may talk to it, or of everybody there')
    .default('allowed'),
  group_allowed_chats: idList(nameEach).meta({ env: '<PLATFORM>_GROUP_ALLOWED_CHATS' }).describe('Ids of groups in which every member may talk to the agent').default([]),
  group_allowed_users: idList(openUp)
    .meta({ env: '<PLATFORM>_GROUP_ALLOWED_USERS', aliases: ['group_allow_from'] })
    .describe('Ids of people who may talk to the agent in groups only')
    .default([]),
  allow_admin_from: idList('leave the list out if commands need no admin').describe('Ids of admins in direct messages; once set, others may use only `user_allowed_commands`').optional(),
  group_allow_admin_from: idList('leave the list out if commands need no admin').describe('Ids of admins in groups; once set, others may use only `group_user_allowed_commands`').optional(),
  user_allowed_commands: commandList.describe('Commands for people who are not admins, in direct messages').optional(),
  group_user_allowed_commands: commandList.describe('Commands for people who are not admins, in groups').optional(),
  unauthorized_dm_behavior: z.enum(['pair', 'ignore']).describe('What a stranger in a direct message gets: a pairing code, or nothing').optional(),
  home_channel: homeChannel.optional(),
  busy_input_mode: z.enum(['interrupt', 'queue', 'steer']).describe('What a message does that arrives while the agent is working').optional(),
  streaming: z.boolean().describe('Whether an answer is shown while it is being written').optional(),
  reply_to_mode: z.enum(['off', 'first', 'all']).describe('Which parts of an answer are attached to the message they answer').default('first'),
  gateway_restart_notification: z.boolean().describe('Whether a chat is told when a shutdown interrupts what the agent does there').default(true),
  typing_indicator: z.boolean().describe('Whether the platform shows that the agent is typing').default(true),
});

export type AccountOptions = Readonly<z.output<typeof accountOptions>>;
