import { z } from 'hermes-gateway/platform';

const word = z.string().regex(/^[^\s:,]+$/, 'must be one word');

/** Options of one IRC account, as they stand below `platforms.irc` in config.yaml. */
export const ircOptions = z.object({
  server: z.string().min(1).meta({ env: 'IRC_SERVER', description: 'Host name of the server' }),
  port: z.coerce.number().int().min(1).max(65_535).default(6697).meta({ env: 'IRC_PORT', description: 'Its port' }),
  tls: z.boolean().default(true).meta({ env: 'IRC_USE_TLS', description: 'Whether the connection is encrypted' }),
  ca_file: z.string().optional().meta({ description: 'Certificates to trust instead of the usual ones, for a server of your own' }),
  nick: word.max(30).default('hermes').meta({ env: 'IRC_NICKNAME', description: 'Our name; when it is taken, underscores are put behind it' }),
  channels: z.array(z.string().regex(/^[#&+!][^\s:,]+$/, 'must be the name of a channel, such as #hermes')).default([]).meta({ env: 'IRC_CHANNEL', description: 'Channels to enter' }),
  password: z.string().regex(/^[^\r\n]+$/).optional().meta({ secret: true, env: 'IRC_SERVER_PASSWORD', description: 'Password of the server, where it has one' }),
  sasl_user: z.string().regex(/^[^\r\n\0]+$/).optional().meta({ description: 'Account at the network’s services; the nick when it is not set' }),
  sasl_password: z.string().regex(/^[^\r\n\0]+$/).optional().meta({ secret: true, env: 'IRC_NICKSERV_PASSWORD', description: 'Password of that account; with it we log in by SASL PLAIN' }),
  trust_nicks: z.boolean().default(false).meta({ description: 'People are known by their nick: only on a server of your own, where nobody can take somebody else’s' }),
  burst: z.coerce.number().int().min(1).max(100).default(5).meta({ description: 'How many lines may be sent at once before the server takes it for a flood' }),
  line_seconds: z.coerce.number().min(0).max(60).default(1).meta({ description: 'How long it takes until one more line may be sent' }),
});

export type IrcOptions = z.output<typeof ircOptions>;
