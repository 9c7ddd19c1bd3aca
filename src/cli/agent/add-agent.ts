import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { resolveHome } from '../../config/home.ts';
import { formatProblem } from '../../config/problem.ts';
import { ConfigError } from '../../core/errors.ts';
import { newRedactor } from '../../lib/redact.ts';
import { homeOfAgent } from '../../routing/agent-home.ts';
import { agentId } from '../../routing/options.ts';
import { agentIds, isAgent } from '../../routing/select-agent.ts';
import type { Config } from '../configuration/settings.ts';
import { json } from '../environment.ts';
import type { Terminal } from '../environment.ts';
import { Draft, usableDraft } from '../setup/draft.ts';
import type { Change } from '../setup/draft.ts';
import { copyableParts, copyAgent, isInUse } from './copy-agent.ts';
import type { CopyablePart } from './copy-agent.ts';

export interface AddFlags {
  readonly description?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly apiKeyEnv?: string;
  readonly cloneFrom?: string;
  readonly copy?: string;
  readonly route: readonly string[];
  readonly json?: true;
}

const quoted = (text: string): string => (/^[A-Za-z][\w@-]*$/.test(text) && !/^(?:true|false|null|yes|no|on|off)$/i.test(text) ? text : JSON.stringify(text));

/** `platform=telegram,chat_id=-100123` as the value of a route. */
const routeValue = (id: string, text: string): string => {
  const pairs = text.split(',').map((pair): readonly [string, string] => {
    const at = pair.indexOf('=');
    if (at < 1) throw new ConfigError(`--route takes what has to be so, as in platform=telegram,chat_id=-100123, and not ${text}`);
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
  });
  return `{ match: { ${pairs.map(([key, value]) => `${key}: ${quoted(value)}`).join(', ')} }, agent: ${id} }`;
};

const routeChanges = (id: string, config: Config, routes: readonly string[]): readonly Change[] => {
  const known = config.sections.routes.length;
  const values = routes.map((text) => routeValue(id, text));
  if (known === 0 && values.length > 0) return [{ path: 'routes', value: values.map((value) => `- ${value}\n`).join('') }];
  return values.map((value, i) => ({ path: `routes.${known + i}`, value }));
};

/** Settings that a copy takes over. Its folder and its variables are its own. */
const inherited = ['provider', 'model', 'base_url', 'api_key_env', 'enabled_toolsets', 'disabled_toolsets', 'max_concurrent_turns', 'daily_spend_usd'] as const;

const settingChanges = (id: string, config: Config, flags: AddFlags): readonly Change[] => {
  const from = flags.cloneFrom === undefined ? undefined : config.sections.agents[flags.cloneFrom];
  const given: Readonly<Record<string, unknown>> = {
    ...Object.fromEntries(inherited.flatMap((key) => (from?.[key] === undefined ? [] : [[key, from[key]]]))),
    ...(flags.description !== undefined && { description: flags.description }),
    ...(flags.provider !== undefined && { provider: flags.provider }),
    ...(flags.model !== undefined && { model: flags.model }),
    ...(flags.baseUrl !== undefined && { base_url: flags.baseUrl }),
    ...(flags.apiKeyEnv !== undefined && { api_key_env: flags.apiKeyEnv }),
  };
  const entries = Object.entries(given);
  if (entries.length === 0) return [{ path: `agents.${id}`, value: '{}' }];
  return entries.map(([key, value]) => ({ path: `agents.${id}.${key}`, value: Array.isArray(value) ? `[${value.join(', ')}]` : String(value) }));
};

const partsOf = ({ cloneFrom, copy }: AddFlags): readonly CopyablePart[] => {
  if (cloneFrom === undefined && copy !== undefined) throw new ConfigError('--copy says what is copied; name the agent to copy from with --clone-from.');
  if (cloneFrom === undefined) return [];
  return (copy ?? 'soul,skills').split(',').map((word) => {
    const part = copyableParts.find((each) => each === word.trim());
    if (part === undefined) throw new ConfigError(`--copy takes some of ${copyableParts.join(', ')}, and not ${word.trim()}`);
    return part;
  });
};

/** Where its key is to be written, if it has one; an `.env` that is there is left alone. */
const beginEnv = async (home: string, variable: string | undefined): Promise<void> => {
  if (variable === undefined) return;
  const text = `# Secrets of this agent. No other agent can read them. Nobody but you may read this file (mode 0600).\n${variable}=\n`;
  await writeFile(join(home, '.env'), text, { flag: 'wx', mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
};

const nextSteps = (id: string, added: { home: string; copied: readonly string[]; variable: string | undefined; hasRoutes: boolean }): readonly string[] => [
  ...(added.copied.includes('SOUL.md') ? [] : [`Say who it is in ${join(added.home, 'SOUL.md')}`]),
  ...(added.variable === undefined ? [] : [`Write its key as ${added.variable} into ${join(added.home, '.env')}`]),
  ...(added.hasRoutes ? [] : [`Say what it answers below routes in config.yaml, such as - { match: { chat_id: "-100123" }, agent: ${id} }`]),
];

/** The folder first, then the configuration, so that a running gateway finds all of it. */
const putIn = async (draft: Draft, id: string, flags: AddFlags) => {
  const { home } = draft;
  const config = usableDraft(draft);
  const named = agentId.safeParse(id);
  if (!named.success) throw new ConfigError(`${JSON.stringify(id)} ${named.error.issues[0]?.message ?? 'is no name for an agent'}`);
  if (isAgent(config.sections, id)) throw new ConfigError(`There is an agent called ${id} already. hermes agent show ${id} says more.`);
  if (flags.cloneFrom !== undefined && !isAgent(config.sections, flags.cloneFrom)) throw new ConfigError(`There is no agent called ${flags.cloneFrom} to copy from; there are: ${agentIds(config.sections).join(', ')}`);
  const parts = partsOf(flags);
  const problem = draft.set([...settingChanges(id, config, flags), ...routeChanges(id, config, flags.route)]);
  if (problem !== undefined) throw new ConfigError(`${problem}\nNothing was changed.`);
  const after = usableDraft(draft);
  const own = after.sections.agents[id];
  const folder = homeOfAgent(home, id, own);
  const wasInUse = await isInUse(folder);
  const source = flags.cloneFrom === undefined ? undefined : homeOfAgent(home, flags.cloneFrom, config.sections.agents[flags.cloneFrom]);
  const copied = await copyAgent(source ?? folder, folder, source === undefined ? [] : parts);
  await beginEnv(folder, own?.api_key_env);
  const fresh = after.warnings.map(formatProblem).filter((text) => !config.warnings.map(formatProblem).includes(text));
  const next = nextSteps(id, { home: folder, copied, variable: own?.api_key_env, hasRoutes: after.sections.routes.some(({ agent }) => agent === id) || after.sections.default_agent === id });
  return { folder, wasInUse, copied, fresh, next };
};

/** `hermes agent add`. */
export const addAgent = async (terminal: Terminal, id: string, flags: AddFlags): Promise<void> => {
  const { folder, wasInUse, copied, fresh, next, files } = await Draft.edit({ home: resolveHome(terminal.env), env: terminal.env, redactor: newRedactor(), commands: terminal.commands }, (draft) => putIn(draft, id, flags));
  if (flags.json === true) {
    terminal.write(json({ id, home: folder, copied, wasInUse, files, warnings: fresh, next }));
    return;
  }
  const lines = [
    `The agent ${id} is there. Its folder is ${folder}`,
    ...(wasInUse ? ['The folder was there already; what was in it is used again.'] : []),
    ...(flags.cloneFrom === undefined ? [] : [`Copied from ${flags.cloneFrom}: ${copied.join(', ') || 'nothing, for it has nothing of that kind'}. Not copied: its secrets, conversations and scheduled jobs.`]),
    ...fresh.map((text) => `Warning: ${text}`),
    ...next.map((text, i) => `${i === 0 ? 'Next:' : '     '} ${text}`),
    'A running gateway takes it over by itself.',
  ];
  terminal.write(`${lines.join('\n')}\n`);
};
