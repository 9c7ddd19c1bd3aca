import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultModel } from '../../agent/models/options.ts';
import { loadSkills } from '../../agent/tools/skills/load-skills.ts';
import { OwnVariables } from '../../config/secrets/own-variables.ts';
import { settingsOfAgent } from '../../gateway/agents/settings-of-agent.ts';
import { localDay } from '../../lib/local-day.ts';
import { newRedactor } from '../../lib/redact.ts';
import { homeOfAgent } from '../../routing/agent-home.ts';
import type { RouteMatch } from '../../routing/options.ts';
import { agentIds, mainAgent } from '../../routing/select-agent.ts';
import { conversationsByAgent } from '../../store/agents/agent-counts.ts';
import { spendOfDay } from '../../store/agents/agent-spend.ts';
import { countJobs } from '../../store/cron/cron-jobs.ts';
import type { Store } from '../../store/store.ts';
import type { Config } from '../configuration/settings.ts';
import type { Terminal } from '../environment.ts';

/** What there is to know about an agent without looking into its secrets. */
export interface AgentFacts {
  readonly id: string;
  /** It answers what no route fits. */
  readonly isDefault: boolean;
  readonly description: string | null;
  readonly home: string;
  readonly kind: 'hermes' | 'acp';
  readonly provider: string;
  readonly model: string;
  /** The variable that its key is taken from, and whether it is there. */
  readonly key: { readonly variable: string; readonly isSet: boolean } | null;
  readonly enabledToolsets: readonly string[] | null;
  readonly disabledToolsets: readonly string[];
  readonly routes: readonly { readonly index: number; readonly match: RouteMatch }[];
  readonly limits: { readonly concurrentTurns: number | null; readonly dailySpendUsd: number | null };
  readonly today: { readonly usd: number; readonly unpricedCalls: number };
  readonly conversations: number;
  readonly jobs: number;
  /** The beginning of SOUL.md. */
  readonly soul: string | null;
  readonly skills: readonly string[];
  /** Of MEMORY.md, in characters. */
  readonly memoryChars: number;
}

const textOf = async (path: string): Promise<string> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return '';
  }
};

const maxSoulChars = 100;

/** The first line that is no heading. */
const soulOf = (text: string): string | null => {
  const lines = text.split('\n').map((line) => line.trim()).filter((line) => line !== '');
  const line = lines.find((each) => !each.startsWith('#')) ?? lines[0];
  return line === undefined ? null : line.length > maxSoulChars ? `${line.slice(0, maxSoulChars - 1).toWellFormed()}…` : line;
};

const keyOf = async (terminal: Terminal, home: string, variable: string | undefined): Promise<AgentFacts['key']> => {
  if (variable === undefined) return null;
  const own = new OwnVariables(join(home, '.env'), newRedactor());
  await own.refresh();
  return { variable, isSet: (own.get(variable) ?? terminal.env[variable] ?? '') !== '' };
};

interface Counts {
  readonly spend: Awaited<ReturnType<typeof spendOfDay>>;
  readonly conversations: ReadonlyMap<string, number>;
  readonly jobs: ReadonlyMap<string, number>;
}

const countAll = (store: Store, ids: readonly string[]): Promise<Counts> =>
  store.read(async (db) => {
    const jobs = new Map<string, number>();
    for (const id of ids) jobs.set(id, await countJobs(db, id));
    return { spend: await spendOfDay(db, localDay(Date.now())), conversations: await conversationsByAgent(db), jobs };
  });

const factsOf = async (terminal: Terminal, config: Config, at: { home: string; id: string; counts: Counts }): Promise<AgentFacts> => {
  const { id, counts } = at;
  const { sections } = config;
  const own = sections.agents[id];
  const home = homeOfAgent(at.home, id, own);
  const { model } = settingsOfAgent(sections, id, () => undefined);
  const kind = own?.kind === 'acp' || id !== mainAgent ? (own?.kind ?? 'hermes') : sections.agent.kind;
  const [soul, memory, { skills }] = await Promise.all([textOf(join(home, 'SOUL.md')), textOf(join(home, 'memories', 'MEMORY.md')), loadSkills([{ folder: join(home, 'skills'), writable: true }])]);
  return {
    id,
    isDefault: sections.default_agent === id,
    description: own?.description ?? null,
    home,
    kind,
    provider: model.provider,
    model: defaultModel(model),
    key: await keyOf(terminal, home, own?.api_key_env),
    enabledToolsets: own?.enabled_toolsets ?? null,
    disabledToolsets: own?.disabled_toolsets ?? [],
    routes: sections.routes.flatMap(({ agent, match }, index) => (agent === id ? [{ index, match }] : [])),
    limits: { concurrentTurns: own?.max_concurrent_turns ?? null, dailySpendUsd: own?.daily_spend_usd ?? null },
    today: { usd: counts.spend.get(id)?.usd ?? 0, unpricedCalls: counts.spend.get(id)?.unpriced ?? 0 },
    conversations: counts.conversations.get(id) ?? 0,
    jobs: counts.jobs.get(id) ?? 0,
    soul: soulOf(soul),
    skills: skills.map(({ name }) => name),
    memoryChars: memory.length,
  };
};

/** Every agent that there is, the main one first. */
export const allAgentFacts = async (terminal: Terminal, config: Config, at: { readonly home: string; readonly store: Store }): Promise<readonly AgentFacts[]> => {
  const ids = agentIds(config.sections);
  const counts = await countAll(at.store, ids);
  return Promise.all(ids.map((id) => factsOf(terminal, config, { home: at.home, id, counts })));
};
