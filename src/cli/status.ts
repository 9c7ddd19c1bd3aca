import { Command } from 'commander';
import { resolveHome } from '../config/home.ts';
import { platformOf } from '../core/ids.ts';
import { accountStates, allStatus, listDenials } from '../store/accounts.ts';
import type { AccountStatus } from '../store/accounts.ts';
import { slept, systemClock } from '../lib/clock.ts';
import { cutOffMessages } from '../store/backlog.ts';
import { deadTargets } from '../store/gates.ts';
import { inboxCounts, oldestOpenMs } from '../store/inbox.ts';
import { failedDeliveries, outboxCounts } from '../store/outbox.ts';
import type { Store } from '../store/store.ts';
import { accountFix } from './account-fix.ts';
import { configTrouble, runningTrouble } from './config-trouble.ts';
import { Exit, paint, span, table } from './environment.ts';
import type { Terminal } from './environment.ts';
import { askReady } from './gateway/ask-ready.ts';
import type { SaidReady } from './gateway/ask-ready.ts';
import { serviceState } from './gateway/installed-service.ts';
import type { ServiceState } from './gateway/installed-service.ts';
import { holderOf } from './gateway/process.ts';
import type { HomeHolder } from './gateway/process.ts';
import { silenceFix, silenceOf, silenceText } from './gateway/silence.ts';
import type { Evidence, Silence } from './gateway/silence.ts';
import { lookIntoStore } from './open-home.ts';
import { readAlone } from './settings.ts';

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

/** `unknown`: whoever holds the account does not answer, so that what is stored about it is old. */
type ShownState = AccountStatus['state'] | 'unknown';

const stateOf = (status: AccountStatus, { holder, silence }: Pick<Outer, 'holder' | 'silence'>): ShownState => {
  if (holder.type === 'nobody') return 'stopped';
  return silence?.accounts.includes(status.account) === true ? 'unknown' : status.state;
};

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
  if (holder.type === 'gateway' && silence !== undefined) return `${paint(terminal, 'red', silenceText(holder.pid, silence))} (${silenceFix})`;
  const where = holder.type === 'gateway' ? `, process ${holder.pid}, for ${span(Date.now() - holder.sinceMs)}` : ', hosted by a terminal chat';
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
  readonly trouble: string | undefined;
}

const print = (terminal: Terminal, facts: Facts, outer: Outer): string => {
  const { service, trouble } = outer;
  return [
    `Gateway  ${gatewayLine(terminal, outer)}`,
    ...(service === undefined ? [] : [serviceLine(service)]),
    ...(trouble === undefined ? [] : [`Config   ${paint(terminal, 'red', trouble)} (hermes config check)`]),
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
const watch = async (terminal: Terminal, look: () => Promise<string>, { json }: Pick<Flags, 'json'>): Promise<void> => {
  const end = new AbortController();
  process.once('SIGINT', () => end.abort());
  while (!end.signal.aborted) {
    const text = await look();
    terminal.write(terminal.stream?.isTTY === true && json !== true ? `\u001b[H\u001b[2J${text}` : text);
    await slept(systemClock, everyMs, end.signal);
  }
};

interface Flags {
  readonly json?: true;
  readonly watch?: true;
}

const outerFacts = async (terminal: Terminal, store: Store, given: { readonly http: Evidence['http']; readonly trouble: string | undefined }): Promise<Outer> => {
  const home = resolveHome(terminal.env);
  const holder = holderOf(home);
  const pid = holder.type === 'gateway' ? holder.pid : undefined;
  const silence = pid === undefined ? undefined : await silenceOf(pid, { http: given.http, read: (work) => store.read(work) });
  const said = pid === undefined || silence !== undefined || given.http === undefined ? undefined : await askReady(given.http);
  return { holder, silence, said, service: serviceState(terminal.env, home, pid), trouble: given.trouble };
};

const asJson = (facts: Facts, outer: Outer, indent: number): string => {
  const { holder, silence, said, service, trouble } = outer;
  const accounts = facts.accounts.map((status) => ({ ...status, state: stateOf(status, outer) }));
  const process = { running: holder.type !== 'nobody', pid: holder.type === 'gateway' ? holder.pid : null, silentMs: silence?.forMs ?? null, ready: said?.ready ?? null };
  return `${JSON.stringify({ ...process, service: service ?? null, configTrouble: trouble ?? null, ...facts, accounts }, null, indent)}\n`;
};

const showStatus = async (terminal: Terminal, flags: Flags): Promise<void> => {
  const started = holderOf(resolveHome(terminal.env));
  const trouble = started.type === 'gateway' ? await runningTrouble(terminal, started.pid) : await configTrouble(terminal);
  const { http } = await readAlone(terminal);
  await lookIntoStore(terminal, async (store) => {
    const look = async (): Promise<{ readonly text: string; readonly isSilent: boolean }> => {
      const outer = await outerFacts(terminal, store, { http, trouble });
      const stored = await collect(store);
      const facts = { ...stored, accounts: stored.accounts.map((status) => withSaid(status, outer.said)) };
      // One after the other, programs read them line by line.
      const text = flags.json === true ? asJson(facts, outer, flags.watch === true ? 0 : 2) : print(terminal, facts, outer);
      return { text, isSilent: outer.silence !== undefined };
    };
    if (flags.watch === true) return watch(terminal, async () => (await look()).text, flags);
    const { text, isSilent } = await look();
    terminal.write(text);
    if (isSilent) throw new Exit(1);
  });
};

export const statusCommand = (terminal: Terminal): Command =>
  new Command('status')
    .description('Show what the gateway and its accounts are doing')
    .option('--watch', 'show it anew every two seconds, until Ctrl-C')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  hermes status\n  hermes status --watch\n  hermes status --json')
    .action((flags: Flags) => showStatus(terminal, flags));
