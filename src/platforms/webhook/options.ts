import { z } from 'zod';

/** In place of a secret: calls are not signed. Such a route answers only programs on this machine. */
export const noAuthentication = 'INSECURE_NO_AUTH';

/** How a call proves who sent it. `auto` goes by the headers of the call; `hmac` and `bearer` have to be chosen. */
export const schemes = ['auto', 'github', 'gitlab', 'standard', 'svix', 'stripe', 'slack', 'v2', 'v1', 'hmac', 'bearer'] as const;

export type Scheme = (typeof schemes)[number];

const compiles = (pattern: string): boolean => {
  try {
    return new RegExp(pattern, 'u') instanceof RegExp;
  } catch {
    return false;
  }
};

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const comparison = z.object({
  path: z.string().trim().min(1).describe('Where the value stands in the payload, such as `pull_request.user.login` or `commits.0.id`').optional(),
  exists: z.boolean().describe('Whether there has to be a value').optional(),
  equals: scalar.describe('It is this').optional(),
  not_equals: scalar.describe('It is anything but this').optional(),
  contains: z.string().describe('A text that has this in it, or a list with this item').optional(),
  in: z.array(scalar).describe('It is one of these').optional(),
  regex: z.string().refine(compiles, 'is not a regular expression').describe('The text matches; only its first 1,000 characters are looked at').optional(),
});

export type Comparison = z.output<typeof comparison>;

const saysSomething = ({ path, ...rest }: Comparison & Partial<Record<'all' | 'any' | 'not', unknown>>): boolean => {
  const { all, any, not, ...tests } = rest;
  const isTest = Object.values(tests).some((test) => test !== undefined);
  return (path !== undefined && isTest) || (path === undefined && !isTest && [all, any, not].some((group) => group !== undefined));
};

const single = comparison.refine(saysSomething, 'needs a `path` and at least one test, such as `equals`');

const condition = comparison
  .extend({
    all: z.array(single).min(1).describe('All of these hold').optional(),
    any: z.array(single).min(1).describe('At least one of these holds').optional(),
    not: single.describe('This does not hold').optional(),
  })
  .refine(saysSomething, 'needs a `path` and at least one test such as `equals`, or one of `all`, `any` and `not`');

export type Condition = z.output<typeof condition>;

const headerName = z.string().trim().regex(/^[A-Za-z0-9-]+$/, 'must be the name of a header');

const hmac = z.object({
  header: headerName.describe('The header with the signature'),
  algorithm: z.enum(['sha256', 'sha1', 'sha512']).describe('The hash').default('sha256'),
  encoding: z.enum(['hex', 'base64']).describe('How the signature is written').default('hex'),
  prefix: z.string().describe('What stands before the signature, such as `sha256=`').default(''),
  format: z.enum(['plain', 't,v1']).describe('`t,v1` for a header like Stripe’s, `t=<time>,v1=<signature>`: then `<time>.<body>` is signed with SHA-256 in hex, and nothing else here counts').default('plain'),
  timestamp_header: headerName.describe('The header with the time of the call in seconds; what is signed is then `<time>.<body>`, and old calls are refused').optional(),
});

export type HmacOptions = z.output<typeof hmac>;

const secret = z.string().min(8, 'must have at least 8 characters');

const route = z
  .object({
    secret: secret.meta({ secret: true }).describe(`What calls are signed with. \`${noAuthentication}\` lets in unsigned calls, but only from programs on this machine`),
    previous_secret: secret.meta({ secret: true }).describe('The secret before this one: calls signed with it are still taken').optional(),
    scheme: z.enum(schemes).describe('How calls are signed; `auto` goes by the headers of each call').default('auto'),
    hmac: hmac.describe('For `scheme: hmac`').optional(),
    events: z.array(z.string().trim().min(1)).describe('Kinds of events that are taken; all, when empty').default([]),
    filters: z.array(condition).describe('Calls are taken only if all of these hold for their payload').default([]),
    prompt: z.string().describe('What the agent is asked; `{a.b}` puts in a value of the payload, `{__raw__}` all of it, `{event_type}` the kind of event').default(''),
    trusted: z.boolean().describe('The payload is the owner’s own words: it goes into the prompt without a mark that others wrote it').default(false),
    conversation: z.enum(['delivery', 'route']).describe('Whether each call is a conversation of its own, or all calls of the route are one').default('delivery'),
    agent: z.string().trim().min(1).describe('Who answers, instead of whom `routes` name').optional(),
    skills: z.array(z.string().trim().min(1)).describe('Skills whose instructions the agent is given with each call').default([]),
    deliver: z.string().trim().min(1).describe('Places that get the answer, such as `telegram` or `telegram:-100123`, several with commas; `github_comment` for a comment on the issue or pull request that the call is about; `log` for none').default('log'),
    deliver_extra: z
      .object({
        repo: z.string().trim().min(1).describe('The repository; may hold values of the payload').default('{repository.full_name}'),
        pr_number: z.string().trim().min(1).describe('The number of the issue or pull request; by default that of the payload').optional(),
      })
      .describe('What gets the comment of `deliver: github_comment`')
      .prefault({}),
    deliver_only: z.boolean().describe('No agent is asked: the filled-in prompt itself is delivered').default(false),
    coalesce: z
      .object({
        key: z.string().trim().min(1).describe('Calls in which this comes out the same belong together, such as `{pull_request.number}`'),
        window_seconds: z.number().positive().max(3600).describe('How long after each call to wait for more').default(30),
        max_wait_seconds: z.number().positive().max(86_400).describe('How long after the first call at most').default(300),
      })
      .describe('Calls that belong together and come shortly after one another are answered together, once')
      .optional(),
    wait_seconds: z.number().min(0).max(600).describe('How long a call waits for the answer before it gets 202; 0 does not wait').default(0),
    rate_limit: z.int().min(1).max(10_000).describe('Calls per minute').default(30),
    id: z.string().trim().min(1).describe('Where the payload has an id of its own, by which a repeated call is known').optional(),
    repeats: z.boolean().describe('The same unchanged body is something new each time, also where the signature has no time in it').default(false),
  })
  .refine(({ scheme, hmac: how }) => (scheme === 'hmac') === (how !== undefined), { path: ['hmac'], error: 'goes together with `scheme: hmac`' })
  .refine(({ deliver_only: only, deliver }) => !only || !isNowhere(deliver), { path: ['deliver'], error: 'has to name a place when deliver_only is set' })
  .refine(({ coalesce, deliver_only: only }) => coalesce === undefined || !only, { path: ['coalesce'], error: 'does not go together with deliver_only' })
  .refine(({ coalesce, wait_seconds: seconds }) => coalesce === undefined || seconds === 0, { path: ['wait_seconds'], error: 'does not go together with coalesce' })
  .refine(({ coalesce, conversation }) => coalesce === undefined || conversation === 'delivery', { path: ['conversation'], error: 'is one for each key of coalesce: leave it out' })
  .refine(({ deliver_only: only, wait_seconds: seconds }) => !only || seconds === 0, { path: ['wait_seconds'], error: 'has nothing to wait for when deliver_only is set' });

export type Route = z.output<typeof route>;

/** Whether the answer is only kept with its call. */
export const isNowhere = (deliver: string): boolean => ['log', 'local', 'none', 'origin'].includes(deliver.toLowerCase());

/** In `deliver`: the answer becomes a comment on GitHub. */
export const commentPlace = 'github_comment';

/** The places that `deliver` names. */
export const namedIn = (deliver: string): readonly string[] => deliver.split(',').map((part) => part.trim());

export const routeName = /^[A-Za-z0-9][\w-]{0,63}$/;

const fields = z.object({
  routes: z
    .record(z.string().regex(routeName, 'must be named with letters, digits, - and _ (at most 64)'), route)
    .describe('Who may call, and what comes of it; the name is part of the address')
    .default({}),
  github: z
    .object({
      token: z.string().trim().min(1).meta({ secret: true, env: 'WEBHOOK_GITHUB_TOKEN' }).describe('Token that may write comments (issues and pull requests: write); required for `deliver: github_comment`').optional(),
      api_url: z.url({ protocol: /^https?$/ }).describe('Address of the API, for GitHub Enterprise').default('https://api.github.com'),
    })
    .describe('For comments on GitHub')
    .prefault({}),
  max_body_bytes: z.int().min(1024).max(8 * 1024 * 1024).describe('Largest body that is taken').default(1024 * 1024),
  tolerance_seconds: z.int().min(10).max(3600).describe('How far the time in a signature may be from ours').default(300),
  replay_days: z.int().min(1).max(3650).describe('How long bodies that are signed without a time are remembered, so that nobody can play them again').default(180),
});

/** Options of one webhook account, as they stand below `platforms.webhook` in config.yaml. */
export const webhookOptions = fields.superRefine(({ routes, github }, context) => {
  for (const [name, { deliver }] of Object.entries(routes)) {
    if (namedIn(deliver).includes(commentPlace) && github.token === undefined) context.addIssue({ code: 'custom', path: ['routes', name, 'deliver'], message: `${commentPlace} needs a token: set platforms.webhook.github.token` });
  }
});

export type WebhookOptions = z.output<typeof webhookOptions>;
