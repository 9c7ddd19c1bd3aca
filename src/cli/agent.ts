import { Command } from 'commander';
import { resolveHome } from '../config/home.ts';
import { ConfigError } from '../core/errors.ts';
import { printUsd } from '../lib/print-usd.ts';
import { routeWords } from '../routing/select-agent.ts';
import { addAgent } from './agent/add-agent.ts';
import type { AddFlags } from './agent/add-agent.ts';
import { allAgentFacts } from './agent/agent-facts.ts';
import type { AgentFacts } from './agent/agent-facts.ts';
import { removeAgent } from './agent/remove-agent.ts';
import type { RemoveFlags } from './agent/remove-agent.ts';
import { requireConfig } from './configuration/settings.ts';
import { json, paint, table } from './environment.ts';
import type { Terminal } from './environment.ts';
import { lookIntoStore } from './home/open-home.ts';

const load = async (terminal: Terminal): Promise<readonly AgentFacts[]> => {
  const config = await requireConfig(terminal);
  return lookIntoStore(terminal, (store) => allAgentFacts(terminal, config, { home: resolveHome(terminal.env), store }));
};

const spentToday = ({ today, limits }: AgentFacts): string => `${printUsd(today.usd)}${limits.dailySpendUsd === null ? '' : ` of ${printUsd(limits.dailySpendUsd)}`}${today.unpricedCalls > 0 ? '*' : ''}`;

const unpricedNote = '* Some calls have no known price and count as nothing; model.prices in config.yaml says what they cost.\n';

const list = async (terminal: Terminal, flags: { json?: true }): Promise<void> => {
  const all = await load(terminal);
  if (flags.json === true) {
    terminal.write(json(all));
    return;
  }
  const rows = all.map((facts) => [facts.isDefault ? `${facts.id} (default)` : facts.id, facts.kind === 'acp' ? 'another program' : facts.model, String(facts.routes.length), spentToday(facts), String(facts.conversations), facts.description ?? facts.soul ?? '']);
  terminal.write(`${table([['AGENT', 'MODEL', 'ROUTES', 'TODAY', 'CONVERSATIONS', 'ABOUT'], ...rows])}\n`);
  if (all.some(({ today }) => today.unpricedCalls > 0)) terminal.write(unpricedNote);
};

const keyLine = ({ key, home }: AgentFacts): string => {
  if (key === null) return 'the general one';
  return key.isSet ? `in ${key.variable}` : `missing: write ${key.variable}=… into ${home}/.env`;
};

const lines = (terminal: Terminal, facts: AgentFacts): readonly (readonly [string, string])[] => [
  ['Agent', `${facts.id}${facts.isDefault ? ' (answers what no route fits)' : ''}`],
  ...(facts.description === null ? [] : [['About', facts.description] as const]),
  ['Folder', facts.home],
  ['Identity', facts.soul ?? 'the usual one; SOUL.md in its folder says otherwise'],
  ['Model', facts.kind === 'acp' ? 'its program decides' : `${facts.model} (${facts.provider})`],
  ['Key', facts.key?.isSet === false ? paint(terminal, 'red', keyLine(facts)) : keyLine(facts)],
  ['Toolsets', [facts.enabledToolsets === null ? 'as the platform has them' : facts.enabledToolsets.join(', ') || 'none', ...(facts.disabledToolsets.length === 0 ? [] : [`without ${facts.disabledToolsets.join(', ')}`])].join(', ')],
  ['Skills', facts.skills.join(', ') || 'none of its own'],
  ['Memory', facts.memoryChars === 0 ? 'nothing yet' : `${facts.memoryChars} characters`],
  ['Turns at once', facts.limits.concurrentTurns === null ? 'no limit of its own' : String(facts.limits.concurrentTurns)],
  ['Spent today', `${spentToday(facts)}${facts.today.unpricedCalls > 0 ? ` (${facts.today.unpricedCalls} calls of unknown price count as nothing)` : ''}`],
  ['Conversations', String(facts.conversations)],
  ['Jobs', String(facts.jobs)],
  ...(facts.routes.length === 0 ? [['Routes', 'none'] as const] : facts.routes.map(({ index, match }, i) => [i === 0 ? 'Routes' : '', routeWords({ route: { match, agent: facts.id }, index })] as const)),
];

const show = async (terminal: Terminal, id: string, flags: { json?: true }): Promise<void> => {
  const all = await load(terminal);
  const facts = all.find((each) => each.id === id);
  if (facts === undefined) throw new ConfigError(`There is no agent called ${id}; there are: ${all.map((each) => each.id).join(', ')}`);
  terminal.write(flags.json === true ? json(facts) : `${table(lines(terminal, facts).map(([name, value]) => [paint(terminal, 'bold', name), value]))}\n`);
};

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

/** `hermes agent list|show|add|remove`. */
export const agentCommand = (terminal: Terminal): Command => {
  const command = new Command('agent')
    .description('The agents of this gateway, each with its own identity, memory, skills and secrets')
    .addHelpText('after', '\nExamples:\n  hermes agent list\n  hermes agent add support --clone-from main --route platform=telegram,chat_id=-100123\n  hermes agent show support\n  hermes agent remove support');
  command.command('list').description('All agents').option('--json', 'print JSON').action((flags: { json?: true }) => list(terminal, flags));
  command.command('show').description('One agent: its folder, model, limits and routes').argument('<agent>', 'its name').option('--json', 'print JSON').action((id: string, flags: { json?: true }) => show(terminal, id, flags));
  command
    .command('add')
    .description('A further agent, with a folder of its own')
    .argument('<agent>', 'its name: small letters, digits, _ and -')
    .option('--description <text>', 'what it is for')
    .option('--model <name>', 'its model, instead of the general one')
    .option('--provider <name>', 'who answers, instead of the general provider')
    .option('--base-url <address>', 'its endpoint')
    .option('--api-key-env <name>', 'the variable in its own .env that holds its key')
    .option('--clone-from <agent>', 'begin with the settings and files of another agent')
    .option('--copy <parts>', 'with --clone-from: some of soul, skills, memory; soul,skills when left out. Secrets and conversations are never copied')
    .option('--route <match>', 'what it answers, such as platform=telegram,chat_id=-100123; may be given several times', collect, [])
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  hermes agent add research --description "reads papers" --model gpt-5\n  hermes agent add support --clone-from main --copy soul,skills,memory --route chat_id=-100123\n  hermes agent add local --provider ollama --model qwen3 --route platform=local')
    .action((id: string, flags: AddFlags) => addAgent(terminal, id, flags));
  command
    .command('remove')
    .description('Remove an agent and the routes that lead to it; its folder and conversations stay')
    .argument('<agent>', 'its name')
    .option('--yes', 'do not ask')
    .option('--delete-files', 'delete its folder as well')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  hermes agent remove support\n  hermes agent remove support --yes --delete-files')
    .action((id: string, flags: RemoveFlags) => removeAgent(terminal, id, flags));
  return command;
};
