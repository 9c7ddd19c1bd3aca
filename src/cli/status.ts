import { Command, Option } from 'commander';
import { resolveHome } from '../config/home.ts';
import { ConfigError, StoreError } from '../core/errors.ts';
import { platformOf } from '../core/ids.ts';
import { accountReport, isoTime } from '../http/account-report.ts';
import { accountStates, allStatus, listDenials } from '../store/accounts/accounts.ts';
import type { AccountStatus } from '../store/accounts/accounts.ts';
import { slept, systemClock } from '../lib/clock.ts';
import { cutOffMessages } from '../store/messages/backlog.ts';
import { deadTargets } from '../store/messages/gates.ts';
import { inboxCounts, oldestOpenMs } from '../store/messages/inbox.ts';
import { failedDeliveries, outboxCounts } from '../store/messages/outbox.ts';
import type { Store } from '../store/store.ts';
import { accountFix } from './checks/account-fix.ts';
import { configTrouble, runningTrouble } from './configuration/config-trouble.ts';
import type { ConfigTrouble } from './configuration/config-trouble.ts';
import { Exit, json, paint, span, table } from './environment.ts';
import type { Terminal } from './environment.ts';
import { askReady } from './gateway/ask-ready.ts';
import type { SaidReady } from './gateway/ask-ready.ts';
import { serviceState } from './gateway/installed-service.ts';
import type { ServiceState } from './gateway/installed-service.ts';
import { knownHomes } from './gateway/known-homes.ts';
import { holderOf, outsideText, startingText } from './gateway/process.ts';
import type { HomeHolder } from './gateway/process.ts';
import { silenceFix, silenceOf, silenceText } from './gateway/silence.ts';
import type { Evidence, Silence } from './gateway/silence.ts';
import { lookIntoStore } from './home/open-home.ts';
import { readAlone } from './configuration/settings.ts';

const collect = (store: Store) =>
  store.read(async (db) => ({
    accounts: await allStatus(db),
    inbox: await inboxCounts(db),
    oldestOpenMs: (await oldestOpenMs(db)) ?? null,
    outbox: await outboxCounts(db),
    failed: await failedDeliveries(db, 5),
    deadTargets: await deadTargets(db),
    cutOff: await cutOffMessages(db, 5),
    denials: await listDenials(db, 5),
  }));

type Facts = Awaited<ReturnType<typeof collect>>;

const evidence = (status: AccountStatus, nowMs: number): string => {
  const ago = (at: number | null): string => (at === null ? '—' : `${span(nowMs - at)} ago`);
  return `event ${ago(status.lastEventAtMs)}, sign of life ${ago(status.lastAliveAtMs)}, call ${ago(status.lastCallAtMs)}`;
};

/** One that another gateway holds is that one's to speak of. */
const withSaid = (stored: AccountStatus, said: SaidReady | undefined): AccountStatus => {
  const now = said?.accounts.find(({ account }) => account === stored.account);
  const state = accountStates.find((known) => known === now?.state);
  if (now === undefined || state === undefined || now.code === 'held') return stored;
  return { ...stored, state, error: now.detail ?? null, errorCode: now.code ?? null };
};

const isRunning = (holder: HomeHolder): boolean => holder.type !== 'nobody' && startingText(holder) === undefined;

/** `unknown`: whoever holds the account does not answer, so that what is stored about it is old. */
type ShownState = AccountStatus['state'] | 'unknown';

const stateOf = (status: AccountStatus, { holder, silence }: Pick<Outer, 'holder' | 'silence'>): ShownState => {
  if (!isRunning(holder)) return 'stopped';
  return silence?.accounts.includes(status.account) === true ? 'unknown' : status.state;
};

/** What troubled one that runs no longer has ended with it. */
const withoutPast = (status: AccountStatus, { holder }: Pick<Outer, 'holder'>): AccountStatus => (isRunning(holder) ? status : { ...status, error: null, errorCode: null, nextTryAtMs: null });

const accountRow = (terminal: Terminal, status: AccountStatus, outer: Outer): readonly string[] => {
  const state = stateOf(status, outer);
  const color = state === 'connected' ? 'green' : state === 'stopped' ? 'dim' : 'red';
  return [status.account, paint(terminal, color, state), status.name ?? '', status.error === null ? evidence(status, Date.now()) : `${status.error}${nextTry(status, state)}`];
};

const nextTry = ({ nextTryAtMs }: AccountStatus, state: ShownState): string => {
  const leftMs = (nextTryAtMs ?? 0) - Date.now();
  return leftMs <= 0 || state === 'stopped' || state === 'unknown' ? '' : `; tried again in ${span(leftMs)}`;
};

/** What a person can do about accounts that do not work. */
const accountFixes = (accounts: readonly AccountStatus[], outer: Outer): readonly string[] => {
  const isInTrouble = (status: AccountStatus): boolean => ['waiting', 'conflict', 'refused', 'degraded'].includes(stateOf(status, outer)) && status.errorCode !== 'held';
  const rows = accounts.flatMap((status) => (isInTrouble(status) && status.errorCode !== null ? [[status.account, accountFix(status.errorCode, platformOf(status.account))]] : []));
  return rows.length === 0 ? [] : ['', 'What to do', table(rows)];
};

const counts = (values: Readonly<Record<string, number>>): string => {
  const parts = Object.entries(values).map(([state, count]) => `${count} ${state}`);
  return parts.length === 0 ? 'nothing open' : parts.join(', ');
};

const gatewayLine = (terminal: Terminal, { holder, silence }: Pick<Outer, 'holder' | 'silence'>): string => {
  if (holder.type === 'nobody') return paint(terminal, 'red', 'not running');
  const starting = startingText(holder);
  if (starting !== undefined) return paint(terminal, 'yellow', starting);
  if (holder.type === 'gateway' && silence !== undefined) return `${paint(terminal, 'red', silenceText(holder.pid, silence))} (${silenceFix})`;
  const where = holder.type === 'gateway' ? `, process ${holder.pid}, for ${span(Date.now() - holder.sinceMs)}` : holder.type === 'outside' ? `, ${outsideText}` : ', hosted by a terminal chat';
  return `${paint(terminal, 'green', 'running')}${where}`;
};

const serviceLine = ({ manager, name, of, state, isRunner }: ServiceState): string =>
  `Service  ${name}${state === null ? '' : `, ${state}`} (${manager}, of ${of === 'user' ? 'this user' : 'the machine'})${isRunner === false ? '; the gateway that runs was started without it' : ''}`;

interface Outer {
  readonly holder: HomeHolder;
  readonly silence: Silence | undefined;
  /** What the gateway says when it is asked. */
  readonly said: SaidReady | undefined;
  readonly service: ServiceState | undefined;
  readonly trouble: ConfigTrouble | undefined;
}

const print = (terminal: Terminal, { facts, outer }: Seen): string => {
  const { service, trouble } = outer;
  return [
    `Gateway  ${gatewayLine(terminal, outer)}`,
    ...(service === undefined ? [] : [serviceLine(service)]),
    ...(trouble === undefined ? [] : [`Config   ${paint(terminal, 'red', trouble.text)} (${trouble.fix})`]),
    `Inbox    ${counts(facts.inbox)}${facts.oldestOpenMs === null ? '' : `, oldest ${span(facts.oldestOpenMs)}`}`,
    `Outbox   ${counts(facts.outbox)}`,
    '',
    facts.accounts.length === 0 ? 'No account has been started yet.' : table(facts.accounts.map((status) => accountRow(terminal, status, outer))),
    ...accountFixes(facts.accounts, outer),
    ...(facts.failed.length === 0 ? [] : ['', 'Failed deliveries', table(facts.failed.map((item) => [`out_${item.id}`, `${item.account}:${item.chatId}`, item.error ?? '']))]),
    ...(facts.cutOff.length === 0 ? [] : ['', 'Cut off and not gone on with', table(facts.cutOff.map((item) => [`in_${item.id}`, `${item.account}:${item.chatId}`, item.reason ?? '']))]),
    ...(facts.deadTargets.length === 0 ? [] : ['', 'Unreachable chats', table(facts.deadTargets.map((target) => [`${target.account}:${target.chatId}`, target.reason]))]),
    ...(facts.denials.length === 0 ? [] : ['', 'Not let in', table(facts.denials.map((denial) => [`${denial.account} user ${denial.userId}`, `${denial.count}×`, denial.reason]))]),
    '',
  ].join('\n');
};

const everyMs = 2000;

/** On a terminal each picture takes the place of the one before; elsewhere they follow each other. */
const watch = async (terminal: Terminal, pictures: { readonly first: string; again(): Promise<string> }, flags: Pick<Flags, 'json'>): Promise<void> => {
  const end = new AbortController();
  process.once('SIGINT', () => end.abort());
  const show = (text: string): void => terminal.write(terminal.stream?.isTTY === true && flags.json !== true ? `\u001b[H\u001b[2J${text}` : text);
  show(pictures.first);
  while (await slept(systemClock, everyMs, end.signal)) show(await pictures.again());
};

interface Flags {
  readonly all?: true;
  readonly json?: true;
  readonly watch?: true;
}

const outerFacts = async (terminal: Terminal, store: Store, given: { readonly http: Evidence['http']; readonly trouble: ConfigTrouble | undefined }): Promise<Outer> => {
  const home = resolveHome(terminal.env);
  const holder = holderOf(home);
  const pid = holder.type === 'gateway' ? holder.pid : undefined;
  const silence = pid === undefined || !isRunning(holder) ? undefined : await silenceOf(pid, { http: given.http, read: (work) => store.read(work) });
  const answer = pid === undefined || !isRunning(holder) || silence !== undefined || given.http === undefined ? undefined : await askReady(given.http);
  const said = answer?.pid === pid ? answer : undefined;
  return { holder, silence, said, service: serviceState(terminal.env, home, pid), trouble: given.trouble };
};

/** What a program reads of it: accounts as `/ready` shows them, and everything else in the same way. */
const dataOf = ({ facts, outer }: Seen) => {
  const { holder, silence, said, service, trouble } = outer;
  const isOptional = (account: string): boolean => said?.accounts.find((each) => each.account === account)?.required === false;
  return {
    running: isRunning(holder),
    starting: holder.type === 'gateway' ? (holder.doing ?? null) : null,
    pid: holder.type === 'gateway' ? holder.pid : null,
    silent_ms: silence?.forMs ?? null,
    ready: said?.ready ?? null,
    service: service === undefined ? null : { manager: service.manager, name: service.name, of: service.of, state: service.state, is_runner: service.isRunner },
    config_trouble: trouble?.text ?? null,
    accounts: facts.accounts.map((status) => accountReport(status, { state: stateOf(status, outer), isOptional: isOptional(status.account) })),
    inbox: facts.inbox,
    oldest_open_ms: facts.oldestOpenMs,
    outbox: facts.outbox,
    failed: facts.failed.map(({ id, account, chatId, error, attempts, updatedAtMs }) => ({ id, account, chat_id: chatId, error, attempts, failed_at: isoTime(updatedAtMs) })),
    cut_off: facts.cutOff.map(({ id, account, chatId, reason }) => ({ id, account, chat_id: chatId, reason })),
    dead_targets: facts.deadTargets.map(({ account, chatId, reason, sinceMs }) => ({ account, chat_id: chatId, reason, since: isoTime(sinceMs) })),
    denials: facts.denials.map(({ account, userId, chatId, kind, reason, count, lastAtMs }) => ({ account, user_id: userId, chat_id: chatId, kind, reason, count, last_at: isoTime(lastAtMs) })),
  };
};

interface Seen {
  readonly facts: Facts;
  readonly outer: Outer;
}

/** One look, which keeps nothing open: whoever watches also sees a database that appears or is replaced meanwhile. */
const look = async (terminal: Terminal): Promise<Seen> => {
  const started = holderOf(resolveHome(terminal.env));
  const trouble = started.type === 'gateway' ? await runningTrouble(terminal, started.pid) : await configTrouble(terminal);
  const { http } = await readAlone(terminal);
  return lookIntoStore(terminal, async (store) => {
    const outer = await outerFacts(terminal, store, { http, trouble });
    const stored = await collect(store);
    return { facts: { ...stored, accounts: stored.accounts.map((status) => withoutPast(withSaid(status, outer.said), outer)) }, outer };
  });
};

type SeenHome = { readonly home: string } & ({ readonly seen: Seen } | { readonly error: string });

/** One home that cannot be looked at is no reason to say nothing of the others, or of itself a moment later. */
const lookInto = async (terminal: Terminal, home: string): Promise<SeenHome> => {
  try {
    return { home, seen: await look({ ...terminal, env: { ...terminal.env, HERMES_HOME: home } }) };
  } catch (error) {
    if (error instanceof ConfigError || error instanceof StoreError) return { home, error: error.message };
    throw error;
  }
};

const showStatus = async (terminal: Terminal, flags: Flags): Promise<void> => {
  // One after the other, programs read them line by line.
  const textOf = (seen: Seen): string => (flags.json === true ? `${JSON.stringify(dataOf(seen), null, flags.watch === true ? 0 : 2)}\n` : print(terminal, seen));
  const seen = await look(terminal);
  const again = async (): Promise<string> => {
    const now = await lookInto(terminal, resolveHome(terminal.env));
    return 'seen' in now ? textOf(now.seen) : flags.json === true ? `${JSON.stringify({ error: now.error })}\n` : `${paint(terminal, 'red', now.error)}\n`;
  };
  if (flags.watch === true) return watch(terminal, { first: textOf(seen), again }, flags);
  terminal.write(textOf(seen));
  if (seen.outer.silence !== undefined) throw new Exit(1);
};

const showAll = async (terminal: Terminal, { json: isJson }: Flags): Promise<void> => {
  const homes: SeenHome[] = [];
  for (const home of knownHomes(terminal.env)) homes.push(await lookInto(terminal, home));
  const data = (): string => json(homes.map((each) => ('seen' in each ? { home: each.home, ...dataOf(each.seen) } : each)));
  const text = (): string => homes.map((each) => `${paint(terminal, 'bold', each.home)}\n${'seen' in each ? print(terminal, each.seen) : `${paint(terminal, 'red', each.error)}\n`}`).join('\n');
  terminal.write(isJson === true ? data() : homes.length === 0 ? 'This user has run no gateway yet.\n' : text());
  if (homes.some((each) => 'error' in each || each.seen.outer.silence !== undefined)) throw new Exit(1);
};

export const statusCommand = (terminal: Terminal): Command =>
  new Command('status')
    .description('Show what the gateway and its accounts are doing')
    .addOption(new Option('--all', 'in every home in which this user has run a gateway').conflicts('watch'))
    .option('--watch', 'show it anew every two seconds, until Ctrl-C')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  hermes status\n  hermes status --watch\n  hermes status --all\n  hermes status --json')
    .action((flags: Flags) => (flags.all === true ? showAll(terminal, flags) : showStatus(terminal, flags)));
