import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { resolveHome } from '../../config/home.ts';
import { ConfigError } from '../../core/errors.ts';
import { newRedactor } from '../../lib/redact.ts';
import { liesIn } from '../../routing/agent-home.ts';
import { mainAgent, routeWords } from '../../routing/select-agent.ts';
import { requireConfig } from '../configuration/settings.ts';
import { json } from '../environment.ts';
import type { Terminal } from '../environment.ts';
import { lookIntoStore } from '../home/open-home.ts';
import { Draft, usableDraft } from '../setup/draft.ts';
import { allAgentFacts } from './agent-facts.ts';
import type { AgentFacts } from './agent-facts.ts';

export interface RemoveFlags {
  readonly yes?: true;
  readonly deleteFiles?: true;
  readonly json?: true;
}

/** What goes and what stays, in words for whoever decides. */
const consequences = (facts: AgentFacts, flags: RemoveFlags): readonly string[] => [
  ...facts.routes.map((route) => `${routeWords({ route: { match: route.match, agent: facts.id }, index: route.index })} is removed; its messages are answered by whatever fits next.`),
  ...(facts.isDefault ? [`default_agent was ${facts.id}; what no route fits is answered by ${mainAgent} again.`] : []),
  ...(facts.jobs > 0 ? [`${facts.jobs} scheduled ${facts.jobs === 1 ? 'job' : 'jobs'} of it will not run any more; hermes cron list shows them.`] : []),
  ...(facts.conversations > 0 ? [`${facts.conversations} ${facts.conversations === 1 ? 'conversation' : 'conversations'} with it stay in the database; hermes sessions list --agent ${facts.id} shows them.`] : []),
  flags.deleteFiles === true ? `${facts.home} is deleted with its memory, skills and secrets.` : `${facts.home} stays with its memory, skills and secrets.`,
];

const confirmed = async (terminal: Terminal, id: string): Promise<boolean> => {
  if (terminal.stream?.isTTY !== true || !process.stdin.isTTY) throw new ConfigError(`Nobody can be asked here. hermes agent remove ${id} --yes does it.`);
  const { clackPrompts } = await import('../setup/clack-prompts.ts');
  return clackPrompts().confirm(`Remove the agent ${id}?`, false);
};

/** From the files as they are now: they may have changed since somebody was asked. */
const takeOut = (draft: Draft, id: string): readonly string[] => {
  const { routes, default_agent } = usableDraft(draft).sections;
  const leading = routes.flatMap(({ agent }, index) => (agent === id ? [`routes.${index}`] : []));
  const paths = [...leading.toReversed(), ...(default_agent === id ? ['default_agent'] : []), `tools.agents.${id}`, `agents.${id}`];
  const problem = draft.set(paths.map((path) => ({ path, value: undefined, inConfigOnly: true })));
  if (problem !== undefined) throw new ConfigError(`${problem}\nNothing was changed.`);
  return paths;
};

/** `hermes agent remove`: the agent and all that points to it go from the configuration at once. */
export const removeAgent = async (terminal: Terminal, id: string, flags: RemoveFlags): Promise<void> => {
  const home = resolveHome(terminal.env);
  const config = await requireConfig(terminal);
  if (id === mainAgent) throw new ConfigError('The main agent is always there. Its own settings go with: hermes config set --unset agents.main');
  const all = await lookIntoStore(terminal, (store) => allAgentFacts(terminal, config, { home, store }));
  const facts = all.find((each) => each.id === id);
  if (facts === undefined) throw new ConfigError(`There is no agent called ${id}; there are: ${all.map((each) => each.id).join(', ')}`);
  if (flags.deleteFiles === true && !liesIn(join(home, 'profiles'), facts.home)) throw new ConfigError(`${facts.home} lies outside ${join(home, 'profiles')}, so it is not deleted from here. Leave --delete-files out and delete it yourself.`);
  const told = consequences(facts, flags);
  if (flags.json !== true) terminal.write(`${told.map((line) => `- ${line}`).join('\n')}\n`);
  if (flags.yes !== true && !(await confirmed(terminal, id))) {
    terminal.write('Nothing was changed.\n');
    return;
  }
  const { paths, files, backups } = await Draft.edit({ home, env: terminal.env, redactor: newRedactor(), commands: terminal.commands, now: new Date() }, async (draft) => ({ paths: takeOut(draft, id) }));
  if (flags.deleteFiles === true) await rm(facts.home, { recursive: true, force: true });
  if (flags.json === true) terminal.write(json({ id, removed: paths, told, files, backups, deletedFolder: flags.deleteFiles === true ? facts.home : null }));
  else terminal.write(`The agent ${id} is removed. ${backups.length === 0 ? '' : `The old configuration is ${backups.join(', ')}. `}A running gateway takes it over by itself; what it is answering is finished.\n`);
};
