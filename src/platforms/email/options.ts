import { isIP } from 'node:net';
import { z } from 'zod';
import { providers } from './providers.ts';
import type { Provider, ProviderName } from './providers.ts';

const address = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[^\s@<>,;:"]+@[^\s@<>,;:"]+$/, 'must be an address such as agent@example.org');
const host = z.string().trim().min(1).optional();
const port = z.int().min(1).max(65_535).optional();
const security = z.enum(['tls', 'starttls', 'none']).optional();
const providerNames = [...(Object.keys(providers) as ProviderName[]), 'other'] as const;

const oauthProviders = ['google', 'microsoft'] as const;

/** Whatever of it is missing is said with the whole, so that nobody is asked for it who logs in with a password. */
const oauth = z
  .object({
    provider: z.enum(oauthProviders).optional().meta({ env: 'EMAIL_OAUTH_PROVIDER', description: 'Whose tokens they are; known for provider gmail and outlook' }),
    client_id: z.string().trim().min(1).optional().meta({ env: 'EMAIL_OAUTH_CLIENT_ID', description: 'Id of the application that the mailbox was opened to; required for oauth' }),
    client_secret: z.string().trim().min(1).optional().meta({ secret: true, env: 'EMAIL_OAUTH_CLIENT_SECRET', description: 'Its secret, where it has one' }),
    refresh_token: z.string().trim().min(1).optional().meta({ secret: true, env: 'EMAIL_OAUTH_REFRESH_TOKEN', description: 'What access tokens are got with; required for oauth' }),
    token_url: z.url({ protocol: /^https?$/ }).optional().meta({ env: 'EMAIL_OAUTH_TOKEN_URL', description: 'Where access tokens are got; known for google and microsoft' }),
  })
  .meta({ description: 'Log in with OAuth 2 instead of a password' });

const fields = z.object({
  address: address.meta({ env: 'EMAIL_ADDRESS', description: 'Address of the mailbox; the agent writes from it' }),
  password: z.string().min(1).optional().meta({ secret: true, env: 'EMAIL_PASSWORD', description: 'Password of the mailbox; an app password where the provider has them. Required unless there is oauth' }),
  oauth: oauth.optional(),
  username: z.string().trim().min(1).optional().meta({ env: 'EMAIL_USERNAME', description: 'Login name, where it is not the address' }),
  from_name: z.string().trim().min(1).max(100).default('Hermes').meta({ env: 'EMAIL_FROM_NAME', description: 'Name that people see beside the address' }),
  aliases: z.array(address).default([]).meta({ description: 'Further addresses that arrive in this mailbox; mail from them is our own' }),
  provider: z.enum(providerNames).optional().meta({ env: 'EMAIL_PROVIDER', description: 'Fills in servers, ports and authserv_ids; other when they are named one by one' }),
  imap_host: host.meta({ env: 'EMAIL_IMAP_HOST', description: 'Server that mail is read from; required unless the provider is known' }),
  imap_port: port.meta({ env: 'EMAIL_IMAP_PORT', description: 'Its port; 993 unless said otherwise' }),
  imap_security: security.meta({ description: 'tls from the first byte, starttls, or none; by default tls on port 993 and starttls elsewhere' }),
  smtp_host: host.meta({ env: 'EMAIL_SMTP_HOST', description: 'Server that mail is sent through; required unless the provider is known' }),
  smtp_port: port.meta({ env: 'EMAIL_SMTP_PORT', description: 'Its port; 587 unless said otherwise' }),
  smtp_security: security.meta({ description: 'tls from the first byte, starttls, or none; by default tls on port 465 and starttls elsewhere' }),
  allow_plaintext: z.boolean().default(false).meta({ description: 'Lets security: none send the password in the clear beyond this machine' }),
  tls_ca_file: z.string().trim().min(1).optional().meta({ description: 'File with the certificate of your own authority (PEM)' }),
  folders: z.array(z.string().trim().min(1)).min(1).max(5).default(['INBOX']).meta({ description: 'Folders that are watched, each by a connection of its own' }),
  mark_seen: z.boolean().default(true).meta({ description: 'Mark mail as read once it is stored; what was not let in stays unread' }),
  poll_interval_seconds: z.number().min(0.1).max(900).default(15).meta({ env: 'EMAIL_POLL_INTERVAL', description: 'How often to look where the server cannot tell us (no IDLE)' }),
  idle_check_seconds: z.number().min(0.1).max(900).default(240).meta({ description: 'How often to look although the server would tell us (IDLE)' }),
  conversations: z.enum(['thread', 'person']).default('thread').meta({ description: 'Whether each thread of a correspondent is a conversation, or all their mail is one' }),
  verify_senders: z.boolean().default(true).meta({ description: 'Believe a From address only when your mail server vouches for it (SPF, DKIM, DMARC); switch it off only where no foreign mail can arrive' }),
  authserv_ids: z
    .array(z.string().trim().toLowerCase().min(1))
    .default([])
    .meta({ description: 'Names under which your mail server writes Authentication-Results; without them only a header above the first Received counts' }),
  save_sent: z
    .union([z.literal('auto'), z.boolean()])
    .default('auto')
    .meta({ description: 'Put a copy of what the agent sends into the folder for sent mail; auto: unless the provider does it by itself (Gmail, Microsoft)' }),
  skip_attachments: z.boolean().default(false).meta({ description: 'Read only the words of a mail' }),
  max_message_mb: z.number().min(0.1).max(100).default(25).meta({ description: 'Of a larger mail only the beginning is read, without its files' }),
});

const presetOf = (name: z.output<typeof fields>['provider']): Provider | undefined => (name === undefined || name === 'other' ? undefined : providers[name]);

/** Options of one mailbox, as they stand below `platforms.email` in config.yaml. */
export const emailOptions = fields.superRefine((options, context) => {
  const complain = (key: keyof typeof options, message: string): void => context.addIssue({ code: 'custom', path: [key], message });
  if (options.oauth === undefined && options.password === undefined) complain('password', 'is required, unless oauth is set');
  if (options.oauth !== undefined && options.password !== undefined) complain('password', 'is not used beside oauth: take one of them out');
  for (const [key, problem] of options.oauth === undefined ? [] : oauthProblems(options.oauth, options.provider)) context.addIssue({ code: 'custom', path: ['oauth', key], message: problem });
  const isUnsaid = options.provider === undefined && options.imap_host === undefined && options.smtp_host === undefined;
  if (isUnsaid) complain('provider', `is required: ${providerNames.join(', ')}`);
  for (const kind of ['imap', 'smtp'] as const) {
    if (!isUnsaid && presetOf(options.provider) === undefined && options[`${kind}_host`] === undefined) complain(`${kind}_host`, 'is required unless the provider is known');
    const name = options[`${kind}_host`];
    if (options[`${kind}_security`] === 'none' && name !== undefined && !isLoopback(name) && !options.allow_plaintext) complain(`${kind}_security`, 'none would send the password in the clear; set allow_plaintext: true if that is meant');
  }
});

export type OAuthOptions = z.output<typeof oauth>;

/** What is wrong with a login by tokens, by the key it is about. */
const oauthProblems = (given: OAuthOptions, provider: string | undefined): readonly (readonly [keyof OAuthOptions, string])[] => {
  const { token_url: url } = given;
  const problems: [keyof OAuthOptions, string][] = [];
  for (const key of ['client_id', 'refresh_token'] as const) if (given[key] === undefined) problems.push([key, 'is required for oauth']);
  if (url === undefined && oauthProviderOf(given, provider) === undefined) problems.push(['provider', `is required, unless token_url is set: ${oauthProviders.join(', ')}`]);
  if (url !== undefined && !url.startsWith('https:') && !isLoopback(new URL(url).hostname)) problems.push(['token_url', 'must be an https address']);
  return problems;
};

/** Said, or known by where the mailbox is. */
export const oauthProviderOf = (given: OAuthOptions, provider: string | undefined): OAuthOptions['provider'] => given.provider ?? (provider === 'gmail' ? 'google' : provider === 'outlook' ? 'microsoft' : undefined);

export type EmailOptions = z.output<typeof fields>;

export const isLoopback = (name: string): boolean => name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));

export interface Server {
  readonly host: string;
  readonly port: number;
  readonly security: 'tls' | 'starttls' | 'none';
}

export interface Servers {
  readonly imap: Server;
  readonly smtp: Server;
  readonly authservIds: readonly string[];
}

const serverOf = (options: EmailOptions, kind: 'imap' | 'smtp', usual: { readonly host: string | undefined; readonly port: number; readonly tlsPort: number }): Server => {
  const name = options[`${kind}_host`] ?? usual.host ?? '';
  const number = options[`${kind}_port`] ?? usual.port;
  return { host: name, port: number, security: options[`${kind}_security`] ?? (number === usual.tlsPort ? 'tls' : 'starttls') };
};

/** Providers that keep a copy of whatever is sent through them. */
const savesByItself: ReadonlySet<string> = new Set([providers.gmail.smtpHost, providers.outlook.smtpHost]);

/** Whether a copy of what is sent is ours to keep. */
export const keepsCopies = (options: EmailOptions): boolean => (options.save_sent === 'auto' ? !savesByItself.has(serversOf(options).smtp.host) : options.save_sent);

/** Where the account's servers are, by its own settings first and its provider's otherwise. */
export const serversOf = (options: EmailOptions): Servers => {
  const preset = presetOf(options.provider);
  return {
    imap: serverOf(options, 'imap', { host: preset?.imapHost, port: preset?.imapPort ?? 993, tlsPort: 993 }),
    smtp: serverOf(options, 'smtp', { host: preset?.smtpHost, port: preset?.smtpPort ?? 587, tlsPort: 465 }),
    authservIds: options.authserv_ids.length > 0 ? options.authserv_ids : (preset?.authservIds ?? []),
  };
};
