import { Command } from 'commander';
import { readCommand } from '../commands/read-command.ts';
import { allCommands, resolveCommand } from '../commands/registry.ts';
import type { InboundEvent } from '../core/message.ts';
import { dueReset } from '../gateway/due-reset.ts';
import { localDay } from '../lib/local-day.ts';
import { printUsd } from '../lib/print-usd.ts';
import { placeOf } from '../routing/place.ts';
import { routedAgent } from '../routing/select-agent.ts';
import { turnsAtWork } from '../store/lanes/agent-lanes.ts';
import { spendOf } from '../store/agents/agent-spend.ts';
import type { Decision } from '../store/messages/inbox.ts';
import { countWaiting } from '../store/messages/inbox.ts';
import { laneFacts, turnLane } from '../store/lanes/lanes.ts';
import { boundSession } from '../store/sessions/sessions.ts';
import type { BoundSession } from '../store/sessions/sessions.ts';
import type { Store } from '../store/store.ts';
import { json, paint, table } from './environment.ts';
import type { Terminal } from './environment.ts';
import { accessOf, chatTypes, findAccount, imagine, judgeEvent } from './arguments/known-account.ts';
import type { ImaginedEvent, KnownAccount } from './arguments/known-account.ts';
import { lookIntoStore } from './home/open-home.ts';
import { requireConfig } from './configuration/settings.ts';

interface Flags extends ImaginedEvent {
  readonly json?: true;
}

const commandDecision = (known: KnownAccount, event: InboundEvent): Decision => {
  const commands = allCommands(known.config.sections);
  const parsed = readCommand(event, known.platform, () => commands);
  if (parsed === undefined) return { step: 'kind', verdict: 'conversation' };
  const resolved = resolveCommand(parsed.name, commands);
  if (resolved.type !== 'command') return { step: 'kind', verdict: `command /${parsed.name}, ${resolved.type}` };
  const { command } = resolved;
  return { step: 'kind', verdict: `command /${command.name}, ${accessOf(known, event).mayRun(command) ? 'allowed' : 'for admins only'}` };
};

/** What an agent with limits has used of them. */
const limitDecisions = async (store: Store, { agents }: KnownAccount['config']['sections'], agent: string): Promise<readonly Decision[]> => {
  const { max_concurrent_turns: turns, daily_spend_usd: usd } = agents[agent] ?? {};
  if (turns === undefined && usd === undefined) return [];
  const { atWork, spent } = await store.read(async (db) => ({ atWork: (await turnsAtWork(db)).get(agent) ?? 0, spent: (await spendOf(db, { agent, day: localDay(Date.now()) })).usd }));
  const words = [...(turns === undefined ? [] : [`${atWork} of ${turns} turns at work`]), ...(usd === undefined ? [] : [`${printUsd(spent)} of ${printUsd(usd)} spent today${spent >= usd ? ', so it waits for tomorrow' : ''}`])];
  return [{ step: 'limits', verdict: words.join(', ') }];
};

const sessionDecision = async (store: Store, { config }: KnownAccount, at: { readonly event: InboundEvent; readonly bound: BoundSession | undefined }): Promise<Decision> => {
  const { event, bound } = at;
  if (bound === undefined) return { step: 'session', verdict: 'a new one' };
  const reset = await store.read((db) => dueReset(config.sections, db, { event, bound }));
  return { step: 'session', verdict: reset === undefined ? `${bound.sessionId}, continued` : `a new one after ${reset} reset of ${bound.sessionId}` };
};

/** What would happen to a message, decision by decision, with nothing happening. */
const explain = async (store: Store, known: KnownAccount, event: InboundEvent): Promise<readonly Decision[]> => {
  const { allowed, decisions } = await judgeEvent(store, known, event);
  if (!allowed) return decisions;
  const { sections } = known.config;
  const agent = routedAgent(sections, event);
  const place = placeOf(event, known.platform, { agent: agent.id, groupSessionsPerUser: sections.group_sessions_per_user, threadSessionsPerUser: sections.thread_sessions_per_user });
  const bound = await store.read((db) => boundSession(db, place.sessionKey));
  const facts = bound === undefined ? undefined : await store.read(async (db) => ({ ...(await laneFacts(db, turnLane(bound.sessionId))), waiting: await countWaiting(db, turnLane(bound.sessionId)) }));
  return [
    ...decisions,
    { step: 'agent', verdict: `${agent.id}, ${agent.why}` },
    { step: 'session key', verdict: place.sessionKey },
    await sessionDecision(store, known, { event, bound }),
    commandDecision(known, event),
    ...(await limitDecisions(store, sections, agent.id)),
    { step: 'lane', verdict: facts === undefined ? 'free' : `${facts.running ? 'a turn is running' : 'free'}, ${facts.waiting} waiting` },
  ];
};

export const explainCommand = (terminal: Terminal): Command =>
  new Command('explain')
    .description('Say what would happen to a message from a given place and person, and why')
    .requiredOption('--platform <account>', 'the account, such as telegram or telegram@work')
    .requiredOption('--chat <id>', 'the chat')
    .requiredOption('--user <id>', 'the person')
    .option('--type <type>', `kind of chat: ${chatTypes.join(', ')}`, 'dm')
    .option('--thread <id>', 'the thread or topic')
    .option('--guild <id>', 'the server or workspace')
    .option('--parent <id>', 'the chat that a thread belongs to')
    .option('--role <id>', 'a role that the person has in that workspace')
    .option('--user-alt <id>', 'the more stable id of the person, where the platform has one')
    .option('--bot', 'it is written by a bot')
    .argument('[text]', 'what they write', 'hello')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  hermes explain --platform telegram --chat 42 --user 7 "hello"\n  hermes explain --platform telegram --chat -100123 --type group --user 7 /new')
    .action(async (text: string, flags: Flags) => {
      const known = findAccount(await requireConfig(terminal), flags.platform);
      const decisions = await lookIntoStore(terminal, (store) => explain(store, known, imagine(flags, text)));
      if (flags.json === true) terminal.write(json(decisions));
      else terminal.write(`${table(decisions.map(({ step, verdict }) => [step, paint(terminal, verdict === 'denied' ? 'red' : verdict === 'allowed' ? 'green' : 'reset', verdict)]))}\n`);
    });
