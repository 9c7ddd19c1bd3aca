import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { evaluate } from './evaluate.ts';
import type { LoadedConfig, ValidConfig } from './evaluate.ts';
import { formatProblem } from './problem.ts';
import type { PlatformFacts } from './read-accounts.ts';
import { defineSection } from './section.ts';
import type { Environment } from './variables.ts';

/** Sections and platforms of every kind the loader has to deal with, for tests. */
export const sampleSections = [
  defineSection(
    'model',
    z
      .object({
        provider: z.enum(['demo', 'openai', 'anthropic']).describe('Who answers').default('demo'),
        default: z.string().describe('The model').optional(),
        base_url: z.url().optional(),
        api_key: z.string().min(8).meta({ secret: true, env: 'MODEL_API_KEY' }).describe('Its key').optional(),
        fallback_keys: z.array(z.string().meta({ secret: true })).default([]),
      })
      .meta({ shorthand: 'default' }),
    'live',
  ),
  defineSection(
    'http',
    z.object({
      host: z.string().default('127.0.0.1').meta({ env: 'HERMES_HTTP_HOST' }),
      port: z.int().min(0).max(65535).meta({ env: 'HERMES_HTTP_PORT' }).default(8642),
      trusted: z.boolean().meta({ env: 'HERMES_HTTP_TRUSTED' }).default(false),
      origins: z.array(z.url()).meta({ env: 'HERMES_HTTP_ORIGINS' }).default([]),
      limits: z.object({ body_bytes: z.int().min(1).default(1024) }).prefault({}),
    }),
    'restart',
  ),
  defineSection('agents', z.record(z.string(), z.object({ model: z.string(), key: z.string().meta({ secret: true }).optional() })).default({}), 'restart'),
  defineSection('routes', z.array(z.object({ match: z.record(z.string(), z.string()), agent: z.string() })).default([]), 'restart'),
  defineSection('default_agent', z.string().meta({ env: 'HERMES_DEFAULT_AGENT' }).default('main'), 'live'),
  defineSection('gateway', z.object({ allow_all_users: z.boolean().meta({ env: 'GATEWAY_ALLOW_ALL_USERS' }).default(false) }), 'live'),
] as const;

const telegramOptions = z.object({
  token: z.string().min(1).meta({ secret: true, env: 'TELEGRAM_BOT_TOKEN' }).describe("The bot's token"),
  base_url: z.url().describe('Where the Bot API is').default('https://api.telegram.org'),
});

const emailOptions = z.object({
  address: z.email().meta({ env: 'EMAIL_ADDRESS' }),
  password: z.string().min(4, 'is too short for a password').meta({ secret: true, env: 'EMAIL_PASSWORD' }),
});

export const samplePlatforms: readonly PlatformFacts[] = [
  { name: 'telegram', options: telegramOptions, alwaysOn: false, credential: (options) => telegramOptions.parse(options).token },
  { name: 'email', options: emailOptions, alwaysOn: false, credential: () => undefined },
  { name: 'web', options: z.object({ title: z.string().default('Hermes') }), alwaysOn: true, credential: () => undefined },
];

export type SampleConfig = LoadedConfig<typeof sampleSections>;

export const evaluateSample = (config: string, sources: { readonly env?: Environment; readonly envFile?: string } = {}): SampleConfig =>
  evaluate({ env: sources.env ?? {}, sections: sampleSections, platforms: samplePlatforms }, { config, env: sources.envFile }).config;

/** The configuration, or a failure of the test that shows the problems. */
export const validSample = (config: string, sources: Parameters<typeof evaluateSample>[1] = {}): ValidConfig<typeof sampleSections> => {
  const loaded = evaluateSample(config, sources);
  if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join('\n'));
  return loaded;
};

/** Everything that is wrong, fatal or not, as it would be printed. */
export const complaints = (config: LoadedConfig): readonly string[] => (config.ok ? config.disabled.flatMap(({ problems }) => problems) : config.problems).map(formatProblem);

export interface TemporaryHome extends AsyncDisposable {
  readonly path: string;
  /** In one step, as editors do. */
  write(name: string, text: string | Uint8Array): Promise<void>;
}

export const temporaryHome = async (): Promise<TemporaryHome> => {
  const path = await mkdtemp(join(tmpdir(), 'hermes-config-'));
  return {
    path,
    async write(name, text) {
      await writeFile(join(path, `${name}.new`), text, { mode: 0o600 });
      await rename(join(path, `${name}.new`), join(path, name));
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
};
