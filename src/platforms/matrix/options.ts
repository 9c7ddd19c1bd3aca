import { z } from 'zod';

const compiles = (pattern: string): boolean => {
  try {
    return new RegExp(pattern, 'i') instanceof RegExp;
  } catch {
    return false;
  }
};

const rooms = z.array(z.string().trim().min(1)).default([]);
const patterns = z.array(z.string().refine(compiles, 'is not a regular expression')).default([]);

/** Options of one Matrix account, as they stand below `platforms.matrix` in config.yaml. */
export const matrixOptions = z
  .object({
    homeserver: z
      .url({ protocol: /^https?$/ })
      .meta({ env: 'MATRIX_HOMESERVER', aliases: ['base_url'], description: 'Address of the homeserver, such as https://matrix.example.org' }),
    access_token: z.string().trim().min(1).optional().meta({ secret: true, env: 'MATRIX_ACCESS_TOKEN', description: 'Token of a device of the account; or set user_id and password' }),
    user_id: z
      .string()
      .regex(/^@[^\s:]+:\S+$/, 'must look like @name:server')
      .optional()
      .meta({ env: 'MATRIX_USER_ID', description: 'The account, to log in with a password' }),
    password: z.string().min(1).optional().meta({ secret: true, env: 'MATRIX_PASSWORD', description: 'Password of user_id; the gateway logs in once and keeps its device' }),
    device_name: z.string().trim().min(1).default('Hermes gateway').meta({ description: 'What people see as the name of the device after a login with a password' }),
    encryption: z
      .enum(['off', 'optional', 'required'])
      .default('optional')
      .meta({ env: 'MATRIX_E2EE_MODE', description: '`optional`: encrypted rooms are read and written encrypted, others in the clear. `required`: other rooms are refused. `off`: encrypted rooms are refused' }),
    share_keys_with: z
      .enum(['all_devices', 'verified_devices'])
      .default('all_devices')
      .meta({ description: 'Whose devices can read what is written into an encrypted room: all of its members, or only those that were verified' }),
    auto_join: z
      .enum(['known', 'direct', 'all', 'none'])
      .default('known')
      .meta({ description: 'Which invitations are followed: those of people who may talk to the agent; also those of strangers into a direct chat, where they get a pairing code; all; none' }),
    require_mention: z.boolean().default(true).meta({ env: 'MATRIX_REQUIRE_MENTION', description: 'In rooms, answer only when mentioned, replied to, in a thread with the agent, or called by a pattern' }),
    mention_patterns: patterns.meta({ description: 'Regular expressions (case-insensitive) that count as a mention' }),
    free_response_rooms: rooms.meta({ env: 'MATRIX_FREE_RESPONSE_ROOMS', description: 'Ids of rooms where everything is answered although require_mention is set' }),
    allowed_rooms: rooms.meta({ env: 'MATRIX_ALLOWED_ROOMS', description: 'Ids of the only rooms that are listened to; direct chats always are' }),
    ignore_user_patterns: patterns.meta({ env: 'MATRIX_IGNORE_USER_PATTERNS', description: 'Regular expressions for ids of people who are never heard, such as those of a bridge' }),
    process_notices: z.boolean().default(false).meta({ env: 'MATRIX_PROCESS_NOTICES', description: 'Whether notices are heard, which is how bots write' }),
    auto_thread: z.boolean().default(true).meta({ env: 'MATRIX_AUTO_THREAD', description: 'In rooms, answer a message in a thread below it; each thread is a conversation' }),
    dm_auto_thread: z.boolean().default(false).meta({ env: 'MATRIX_DM_AUTO_THREAD', description: 'The same in direct chats' }),
    allow_room_mentions: z.boolean().default(false).meta({ env: 'MATRIX_ALLOW_ROOM_MENTIONS', description: 'Whether `@room` in an answer notifies everybody' }),
    reactions: z.boolean().default(true).meta({ env: 'MATRIX_REACTIONS', description: 'Let the gateway react to messages' }),
    read_receipts: z.boolean().default(true).meta({ description: 'Show people how far the agent has read' }),
    max_media_bytes: z
      .int()
      .min(1)
      .default(50 * 1024 * 1024)
      .meta({ env: 'MATRIX_MAX_MEDIA_BYTES', description: 'Largest file that is fetched or sent' }),
    sync_timeout_seconds: z.int().min(1).max(120).default(30).meta({ description: 'How long the homeserver may hold an empty answer' }),
    request_timeout_seconds: z.int().min(1).max(300).default(20).meta({ description: 'How long any other call may take, and how much longer an answer than it was held' }),
  })
  .refine(({ access_token: token, user_id: user }) => token !== undefined || user !== undefined, { path: ['access_token'], error: 'is required, unless user_id and password are set' })
  .refine(({ access_token: token, user_id: user, password }) => token !== undefined || user === undefined || password !== undefined, { path: ['password'], error: 'is required with user_id when there is no access_token' });

export type MatrixOptions = z.output<typeof matrixOptions>;
