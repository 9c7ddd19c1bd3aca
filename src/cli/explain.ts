import { Command } from 'commander';
import { authorize } from '../access/authorize.ts';
import { commandAccess } from '../access/command-access.ts';
import { parseCommand } from '../commands/parse.ts';
import { resolveCommand } from '../commands/registry.ts';
import { ConfigError } from '../core/errors.ts';
import type { ChatType, InboundEvent } from '../core/message.ts';
import type { AccountConfig } from '../config/read-accounts.ts';
import { platforms } from '../platforms/registry.ts';
import type { Platform } from '../platforms/contract.ts';
import { placeOf } from '../routing/place.ts';
import type { Decision } from '../store/inbox.ts';
import { countWaiting } from '../store/inbox.ts';
import { laneFacts, turnLane } from '../store/lanes.ts';
import { isPaired } from '../store/pairing.ts';
import { boundSession } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';
import { json, paint, table } from './environment.ts';
import type { Terminal } from './environment.ts';
import { withStore } from './open-home.ts';
import { requireConfig } from './settings.ts';
import type { Config } from './settings.ts';

interface Flags {
  readonly platform: string;
  readonly chat: string;
  readonly user: string;
  readonly type: string;
  readonly thread?: string;
  readonly json?: true;
}

const chatTypes: readonly ChatType[] = ['dm', 'group', 'channel', 'thread'];

const eventOf = (flags: Flags, text: string): InboundEvent => {
  const type = chatTypes.find((known) => known === flags.type);
  if (type === undefined) throw new ConfigError(`--type is one of ${chatTypes.join(', ')}, not ${flags.type}`);
  return {
    account: flags.platform,
    kind: 'message',
    nativeId: 'explained',
    chat: { id: flags.chat, type, ...(flags.thread !== undefined && { threadId: flags.thread }) },
    sender: { id: flags.user, isBot: false },
    text,
    media: [],
    addressed: true,
    mentioned: false,
    sentAtMs: 0,
  };
};

interface Known {
  readonly config: Config;
  readonly account: AccountConfig;
  readonly platform: Platform;
}

const find = (config: Config, name: string): Known => {
  const disabled = config.disabled.find(({ account }) => account === name);
  if (disabled !== undefined) throw new ConfigError(`The account ${name} is disabled; hermes config check says why.`);
  const account = config.accounts.find((candidate) => candidate.account === name);
  const platform = platforms.find((candidate) => candidate.name === account?.platform);
  if (account === undefined || platform === undefined) throw new ConfigError(`There is no account ${name}. Configured: ${config.accounts.map((one) => one.account).join(', ')}`);
  return { config, account, platform };
};

const judge = async (store: Store, known: Known, event: InboundEvent): Promise<readonly Decision[]> => {
  const { access } = known.config.sections;
  const paired = await store.read((db) => isPaired(db, event.account, [event.sender.id]));
  return authorize(event, { account: known.account.common, authenticated: known.platform.authenticatesSenders, paired, allowedEverywhere: access.allowed_users, allowAllEverywhere: access.allow_all_users }).decisions;
};

const commandDecision = (known: Known, event: InboundEvent): Decision => {
  const parsed = parseCommand(event.text);
  if (parsed === undefined) return { step: 'kind', verdict: 'conversation' };
  const resolved = resolveCommand(parsed.name);
  if (resolved.type !== 'command') return { step: 'kind', verdict: `command /${parsed.name}, ${resolved.type}` };
  const { command } = resolved;
  const access = commandAccess({ rules: known.account.common, chatType: event.chat.type, userIds: [event.sender.id], authenticated: known.platform.authenticatesSenders });
  return { step: 'kind', verdict: `command /${command.name}, ${access.mayRun([command.name, ...command.aliases]) ? 'allowed' : 'for admins only'}` };
};

/** What would happen to a message, decision by decision, with nothing happening. */
const explain = async (store: Store, known: Known, event: InboundEvent): Promise<readonly Decision[]> => {
  const access = await judge(store, known, event);
  if (access.at(-1)?.verdict === 'denied') return access;
  const { sections } = known.config;
  const place = placeOf(event, known.platform, { groupSessionsPerUser: sections.group_sessions_per_user, threadSessionsPerUser: sections.thread_sessions_per_user });
  const bound = await store.read((db) => boundSession(db, place.sessionKey));
  const facts = bound === undefined ? undefined : await store.read(async (db) => ({ ...(await laneFacts(db, turnLane(bound.sessionId))), waiting: await countWaiting(db, turnLane(bound.sessionId)) }));
  return [
    ...access,
    { step: 'agent', verdict: place.agent },
    { step: 'session key', verdict: place.sessionKey },
    { step: 'session', verdict: bound === undefined ? 'a new one' : `${bound.sessionId}, continued` },
    commandDecision(known, event),
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
    .argument('[text]', 'what they write', 'hello')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  hermes explain --platform telegram --chat 42 --user 7 "hello"\n  hermes explain --platform telegram --chat -100123 --type group --user 7 /new')
    .action(async (text: string, flags: Flags) => {
      const known = find(await requireConfig(terminal), flags.platform);
      const decisions = await withStore(terminal, (store) => explain(store, known, eventOf(flags, text)));
      if (flags.json === true) terminal.write(json(decisions));
      else terminal.write(`${table(decisions.map(({ step, verdict }) => [step, paint(terminal, verdict === 'denied' ? 'red' : verdict === 'allowed' ? 'green' : 'reset', verdict)]))}\n`);
    });
