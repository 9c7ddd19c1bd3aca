import { z } from 'zod';
import { defineSection } from '../../../config/section.ts';

const seconds = z.number().min(1).max(86_400);

const isWebAddress = (value: string): boolean => {
  const url = URL.parse(value);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '' && url.password === '';
};

const toolOptions = z.strictObject({
  include: z.array(z.string().min(1)).optional().describe('Only these tools of the server, by its own names; `*` stands for any characters. Wins over `exclude`'),
  exclude: z.array(z.string().min(1)).default([]).describe('All tools but these'),
  resources: z.boolean().default(true).describe('Let the agent list and read the server’s resources, when it has any'),
  prompts: z.boolean().default(true).describe('Let the agent list and fetch the server’s prompts, when it has any'),
});

const oauthOptions = z.strictObject({
  client_id: z.string().min(1).optional().describe('For servers that want clients to be registered beforehand'),
  client_secret: z.string().min(1).optional().meta({ secret: true }).describe('Belongs to `client_id`'),
  private_key: z.string().min(1).optional().meta({ secret: true }).describe('PKCS#8 key in PEM form that signs for `client_id` instead of a secret; only with `auth: client_credentials`'),
  algorithm: z.string().min(1).default('ES256').describe('How `private_key` signs'),
  scope: z.string().min(1).optional().describe('Rights to ask for, separated by spaces, besides those the server asks for'),
  issuer: z.url().optional().describe('The login server that `client_id` belongs to; the secret is sent to no other. Without it, to whichever the MCP server names'),
  redirect_port: z.int().min(0).max(65_535).default(0).describe('Port on this machine to which the browser returns after the login; 0 takes a free one'),
  client_metadata_url: z.url({ protocol: /^https$/ }).optional().describe('Address of a client metadata document that names this gateway'),
});

const serverOptions = z
  .strictObject({
    enabled: z.boolean().default(true).describe('False keeps the entry and does not connect'),
    command: z.string().trim().min(1).optional().describe('Program to start; it is spoken to over its standard input and output'),
    args: z.array(z.string()).default([]).describe('Arguments of the program'),
    env: z.record(z.string(), z.string().meta({ secret: true })).default({}).describe('Variables of the program; of the gateway’s own it gets only harmless ones'),
    cwd: z.string().min(1).optional().describe('Folder in which the program runs'),
    url: z
      .string()
      .trim()
      .refine(isWebAddress, 'must be an http or https address without user name and password; credentials belong into headers or auth')
      .optional()
      .describe('Address of a server that speaks streamable HTTP'),
    headers: z.record(z.string(), z.string().meta({ secret: true })).default({}).describe('Sent with every request'),
    auth: z
      .enum(['none', 'oauth', 'client_credentials'])
      .default('none')
      .describe('`oauth`: a person logs in once with `hermes mcp login`; `client_credentials`: the gateway logs in by itself with `oauth.client_id`'),
    oauth: oauthOptions.prefault({}),
    timeout: seconds.default(120).describe('Seconds that a call may take without a sign of progress'),
    connect_timeout: seconds.default(60).describe('Seconds that connecting may take'),
    idle_timeout_seconds: seconds.optional().describe('Disconnect after so many seconds without a call; the next call connects again'),
    max_lifetime_seconds: seconds.optional().describe('Connect anew after so many seconds, between two calls'),
    supports_parallel_tool_calls: z.boolean().default(false).describe('Calls of one message may run beside each other'),
    tools: toolOptions.prefault({}),
  })
  .superRefine((server, context) => {
    const complain = (key: string, message: string): void => context.addIssue({ code: 'custom', path: [key], message });
    if (server.command === undefined && server.url === undefined) complain('command', 'say how the server is reached: `command` starts a program, `url` names an address');
    if (server.command !== undefined && server.url !== undefined) complain('url', 'a server has a `command` or a `url`, not both');
    if (server.auth !== 'none' && server.url === undefined) complain('auth', 'only servers with a `url` can be logged in to');
    const { client_id, client_secret, private_key } = server.oauth;
    const signs = client_id !== undefined && (client_secret !== undefined || private_key !== undefined);
    if (server.auth === 'client_credentials' && !signs) complain('oauth', 'auth client_credentials needs oauth.client_id and oauth.client_secret or oauth.private_key');
  });

/** The MCP servers whose tools the agents may use, by name. */
export const mcpSection = defineSection('mcp_servers', z.record(z.string().min(1).max(64), serverOptions).default({}), 'live');

export type McpServerOptions = z.output<typeof serverOptions>;
