import { join } from 'node:path';
import { costOf } from '../../agent/models/facts/prices.ts';
import { defaultModel } from '../../agent/models/options.ts';
import { factsOf } from '../../agent/models/endpoints/providers.ts';
import { OwnVariables } from '../../config/secrets/own-variables.ts';
import { noUsage } from '../../core/transcript.ts';
import { settingsOfAgent } from '../../gateway/agents/settings-of-agent.ts';
import { newRedactor } from '../../lib/redact.ts';
import { homeOfAgent, missingGround } from '../../routing/agent-home.ts';
import { agentIds } from '../../routing/select-agent.ts';
import { exposedFile } from './check-home.ts';
import type { Config } from '../configuration/settings.ts';
import type { Examination } from './examination.ts';
import { broken, ok, skipped, warning } from './finding.ts';
import type { Finding } from './finding.ts';

/** A limit can only be kept for calls whose price somebody knows. */
const spendFindings = ({ sections }: Config, id: string): readonly Finding[] => {
  if (sections.agents[id]?.daily_spend_usd === undefined) return [];
  const { model } = settingsOfAgent(sections, id, () => undefined);
  const name = defaultModel(model);
  if (model.provider === 'demo' || model.provider === 'openrouter') return [];
  const local = factsOf(model.provider).local === true;
  if (costOf({ ...noUsage, inputTokens: 1000 }, name, { local, prices: model.prices }).status !== 'unknown') return [];
  return [warning(`${id} has a limit of what it may spend, but nobody knows what ${name} costs: its calls count as nothing unless the endpoint says more`, `Set model.prices.${name} to {input, output} in US dollars per million tokens`)];
};

const secretFindings = async (examined: Examination, config: Config, id: string): Promise<readonly Finding[]> => {
  const own = config.sections.agents[id];
  const home = homeOfAgent(examined.home, id, own);
  const missing = missingGround(examined.home, home);
  if (missing !== undefined) return [broken(`${id} cannot work: the folder ${missing}, in which its own lies, is not there`, `Mount its disk, make the folder, or change agents.${id}.home_dir`)];
  const path = join(home, '.env');
  const variables = new OwnVariables(path, newRedactor());
  const problems = await variables.refresh();
  const key = own?.api_key_env;
  const isMissing = key !== undefined && (variables.get(key) ?? examined.terminal.env[key] ?? '') === '';
  return [
    ...problems.map((problem) => warning(`The secrets of ${id} cannot all be used: ${problem}`, `Correct ${path}`)),
    ...(isMissing ? [warning(`${id} has no key: ${key} is not set`, `Write ${key}=… into ${path}`)] : []),
    ...(home === examined.home ? [] : [...(await exposedFile({ path: home, mode: 0o700, holdsSecrets: false })), ...(await exposedFile({ path, mode: 0o600, holdsSecrets: true }))]),
  ];
};

/** Whether each agent has what it needs, and nobody else can read it. */
export const checkAgents = async (examined: Examination): Promise<readonly Finding[]> => {
  const { config } = examined;
  if (config === undefined) return [skipped('The configuration cannot be used')];
  const ids = agentIds(config.sections);
  const found = (await Promise.all(ids.map(async (id) => [...(await secretFindings(examined, config, id)), ...spendFindings(config, id)]))).flat();
  return found.length === 0 ? [ok(ids.length === 1 ? 'There is one agent' : `${ids.join(', ')} have what they need`)] : found;
};
