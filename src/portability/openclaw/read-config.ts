import { parseDocument, stringify } from 'yaml';
import type { ImportReport } from '../import-report.ts';

type Plain = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Plain => typeof value === 'object' && value !== null && !Array.isArray(value);

const at = (root: unknown, ...path: readonly string[]): unknown => path.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), root);

const noise = /("(?:\\[^]|[^"\\])*"|'(?:\\[^]|[^'\\])*')|\/\/[^\n]*|\/\*[^]*?\*\/|\t/g;

/** JSON with comments, loose keys and commas at the end is YAML once the comments are gone. Undefined for what is neither. */
export const parseJson5 = (text: string): unknown => {
  const document = parseDocument(text.replace(/^\uFEFF/, '').replaceAll(noise, (_all, quoted: string | undefined) => quoted ?? ' '), { logLevel: 'error' });
  return document.errors.length > 0 ? undefined : (document.toJS() as unknown);
};

/** A channel's name there, the variable for each of its credentials here, and the prefixes that its ids may have. */
const channels: Readonly<Record<string, { readonly secrets: Readonly<Record<string, string>>; readonly prefix: RegExp }>> = {
  telegram: { secrets: { botToken: 'TELEGRAM_BOT_TOKEN' }, prefix: /^(?:tg|telegram):/i },
  discord: { secrets: { token: 'DISCORD_BOT_TOKEN' }, prefix: /^(?:discord|user):/i },
  slack: { secrets: { botToken: 'SLACK_BOT_TOKEN', appToken: 'SLACK_APP_TOKEN' }, prefix: /^(?:slack|user):/i },
  mattermost: { secrets: { botToken: 'MATTERMOST_TOKEN' }, prefix: /^(?:mattermost|user):/i },
  signal: { secrets: {}, prefix: /^signal:/i },
};

const providers = new Set(['anthropic', 'openai', 'openrouter', 'deepseek', 'gemini', 'groq', 'mistral', 'xai', 'moonshot', 'zai', 'ollama', 'lmstudio']);
const otherNames: Readonly<Record<string, string>> = { google: 'gemini', 'openai-codex': 'openai', 'z.ai': 'zai' };

export interface MappedConfig {
  /** As our own two files would say it. */
  readonly config: string;
  readonly env: string;
  readonly workspace: string | undefined;
}

interface Mapping {
  readonly settings: Record<string, unknown>;
  readonly variables: Map<string, string>;
  readonly report: ImportReport;
}

const leave = ({ report }: Mapping, what: string, why: string): void => report.add({ area: 'config', fate: 'left', what: `openclaw.json ${what}`.trim(), why });

const mapModel = (mapping: Mapping, root: unknown): void => {
  const model = at(root, 'agents', 'defaults', 'model');
  const name = typeof model === 'string' ? model : at(model, 'primary');
  if (typeof name !== 'string') return;
  const [maker = '', ...rest] = name.split('/');
  const provider = otherNames[maker] ?? maker;
  if (rest.length > 0 && providers.has(provider)) mapping.settings['model'] = { provider, default: rest.join('/') };
  else leave(mapping, 'agents.defaults.model', `this gateway has no provider ${JSON.stringify(maker)}; hermes setup chooses one`);
};

const mapPeople = (mapping: Mapping, channel: string, written: unknown): readonly string[] => {
  if (!Array.isArray(written)) return [];
  const ids = written.map((id) => String(id).trim().replace(channels[channel]?.prefix ?? '', '')).filter((id) => id !== '');
  if (ids.includes('*')) leave(mapping, `channels.${channel}.allowFrom: "*"`, `letting everybody in has a switch of its own here: platforms.${channel}.allow_all_users`);
  return ids.filter((id) => id !== '*');
};

const mapChannel = (mapping: Mapping, channel: string, options: Plain): void => {
  const known = channels[channel];
  if (known === undefined) return leave(mapping, `channels.${channel}`, 'set it up with hermes setup');
  for (const [key, variable] of Object.entries(known.secrets)) {
    const value = options[key];
    if (typeof value === 'string' && value !== '' && !value.startsWith('${')) mapping.variables.set(variable, value);
    else if (value !== undefined) leave(mapping, `channels.${channel}.${key}`, `the secret is kept elsewhere; put it into .env as ${variable}`);
  }
  const people = mapPeople(mapping, channel, options['allowFrom'] ?? at(options, 'dm', 'allowFrom'));
  const inGroups = mapPeople(mapping, channel, options['groupAllowFrom']);
  const settings = { ...(people.length > 0 && { allowed_users: people }), ...(inGroups.length > 0 && { group_allowed_users: inGroups }), ...(options['enabled'] === false && { enabled: false }) };
  if (Object.keys(settings).length > 0) mapping.settings['platforms'] = { ...(mapping.settings['platforms'] as Plain | undefined), [channel]: settings };
  const used = new Set([...Object.keys(known.secrets), 'allowFrom', 'groupAllowFrom', 'dm', 'enabled', 'dmPolicy']);
  const rest = Object.keys(options).filter((key) => !used.has(key));
  if (rest.length > 0) leave(mapping, `channels.${channel}: ${rest.join(', ')}`, 'these have no counterpart that could be chosen for you');
};

const mapEnvironment = (mapping: Mapping, env: unknown): void => {
  for (const block of [env, at(env, 'vars')]) if (isRecord(block)) for (const [name, value] of Object.entries(block)) if (/^[A-Z][A-Z0-9_]*$/.test(name) && typeof value === 'string') mapping.variables.set(name, value);
};

const quote = (value: string): string => (value.includes("'") ? JSON.stringify(value) : `'${value}'`);

/** What of OpenClaw's configuration has a clear counterpart here; everything else is named. */
export const mapOpenclawConfig = (text: string, report: ImportReport): MappedConfig => {
  const root = parseJson5(text);
  const mapping: Mapping = { settings: {}, variables: new Map(), report };
  if (text.trim() !== '' && !isRecord(root)) leave(mapping, '', 'it cannot be read');
  mapModel(mapping, root);
  const written = at(root, 'channels');
  if (isRecord(written)) for (const [channel, options] of Object.entries(written)) if (isRecord(options) && channel !== 'defaults') mapChannel(mapping, channel, options);
  mapEnvironment(mapping, at(root, 'env'));
  const rest = isRecord(root) ? Object.keys(root).filter((key) => !['channels', 'agents', 'env', 'meta', '$schema', 'wizard'].includes(key)) : [];
  if (rest.length > 0) leave(mapping, rest.join(', '), 'these have no counterpart that could be chosen for you');
  const workspace = at(root, 'agents', 'defaults', 'workspace');
  return {
    config: Object.keys(mapping.settings).length === 0 ? '' : stringify(mapping.settings),
    env: [...mapping.variables].map(([name, value]) => `${name}=${quote(value)}\n`).join(''),
    workspace: typeof workspace === 'string' ? workspace : undefined,
  };
};
