import { Command } from 'commander';
import { resolveHome } from '../config/home.ts';
import { allStatus, listDenials } from '../store/accounts.ts';
import type { AccountStatus } from '../store/accounts.ts';
import { slept, systemClock } from '../lib/clock.ts';
import { deadTargets } from '../store/gates.ts';
import { inboxCounts, oldestOpenMs } from '../store/inbox.ts';
import { failedDeliveries, outboxCounts } from '../store/outbox.ts';
import type { Store } from '../store/store.ts';
import { configTrouble } from './config-trouble.ts';
import { json, paint, span, table } from './environment.ts';
import type { Terminal } from './environment.ts';
import { holderOf } from './gateway/process.ts';
import type { HomeHolder } from './gateway/process.ts';
import { withStore } from './open-home.ts';

const collect = (store: Store) =>
  store.read(async (db) => ({
    accounts: await allStatus(db),
    inbox: await inboxCounts(db),
    oldestOpenMs: (await oldestOpenMs(db)) ?? null,
    outbox: await outboxCounts(db),
    failed: await failedDeliveries(db, 5),
    deadTargets: await deadTargets(db),
    denials: await listDenials(db, 5),
  }));

type Facts = Awaited<ReturnType<typeof collect>>;

const evidence = (status: AccountStatus, nowMs: number): string => {
  const ago = (at: number | null): string => (at === null ? '—' : `${span(nowMs - at)} ago`);
  return `event ${ago(status.lastEventAtMs)}, sign of life ${ago(status.lastAliveAtMs)}, call ${ago(status.lastCallAtMs)}`;
};

const accountRow = (terminal: Terminal, status: AccountStatus, running: boolean): readonly string[] => {
  const state = running ? status.state : 'stopped';
  const color = state === 'connected' ? 'green' : state === 'stopped' ? 'dim' : 'red';
  return [status.account, paint(terminal, color, state), status.name ?? '', status.error ?? evidence(status, Date.now())];
};

const counts = (values: Readonly<Record<string, number>>): string => {
  const parts = Object.entries(values).map(([state, count]) => `${count} ${state}`);
  return parts.length === 0 ? 'nothing open' : parts.join(', ');
};

const gatewayLine = (terminal: Terminal, holder: HomeHolder): string => {
  if (holder.type === 'nobody') return paint(terminal, 'red', 'not running');
  const where = holder.type === 'gateway' ? `, process ${holder.pid}, for ${span(Date.now() - holder.sinceMs)}` : ', hosted by a terminal chat';
  return `${paint(terminal, 'green', 'running')}${where}`;
};

const print = (terminal: Terminal, facts: Facts, { holder, trouble }: { readonly holder: HomeHolder; readonly trouble: string | undefined }): string =>
  [
    `Gateway  ${gatewayLine(terminal, holder)}`,
    ...(trouble === undefined ? [] : [`Config   ${paint(terminal, 'red', trouble)} (hermes config check)`]),
    `Inbox    ${counts(facts.inbox)}${facts.oldestOpenMs === null ? '' : `, oldest ${span(facts.oldestOpenMs)}`}`,
    `Outbox   ${counts(facts.outbox)}`,
    '',
    facts.accounts.length === 0 ? 'No account has been started yet.' : table(facts.accounts.map((status) => accountRow(terminal, status, holder.type !== 'nobody'))),
    ...(facts.failed.length === 0 ? [] : ['', 'Failed deliveries', table(facts.failed.map((item) => [`out_${item.id}`, `${item.account}:${item.chatId}`, item.error ?? '']))]),
    ...(facts.deadTargets.length === 0 ? [] : ['', 'Unreachable chats', table(facts.deadTargets.map((target) => [`${target.account}:${target.chatId}`, target.reason]))]),
    ...(facts.denials.length === 0 ? [] : ['', 'Not let in', table(facts.denials.map((denial) => [`${denial.account} user ${denial.userId}`, `${denial.count}×`, denial.reason]))]),
    '',
  ].join('\n');

const everyMs = 2000;

/** On a terminal each picture takes the place of the one before; elsewhere they follow each other. */
const watch = async (terminal: Terminal, look: () => Promise<string>): Promise<void> => {
  const end = new AbortController();
  process.once('SIGINT', () => end.abort());
  while (!end.signal.aborted) {
    const text = await look();
    terminal.write(terminal.stream?.isTTY === true ? `\u001b[H\u001b[2J${text}` : text);
    await slept(systemClock, everyMs, end.signal);
  }
};

export const statusCommand = (terminal: Terminal): Command =>
  new Command('status')
    .description('Show what the gateway and its accounts are doing')
    .option('--watch', 'show it anew every two seconds, until Ctrl-C')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  hermes status\n  hermes status --watch\n  hermes status --json')
    .action(async (flags: { json?: true; watch?: true }) => {
      const trouble = await configTrouble(terminal);
      const look = async (store: Store): Promise<string> => {
        const holder = holderOf(resolveHome(terminal.env));
        const facts = await collect(store);
        return flags.json === true ? json({ running: holder.type !== 'nobody', pid: holder.type === 'gateway' ? holder.pid : null, configTrouble: trouble ?? null, ...facts }) : print(terminal, facts, { holder, trouble });
      };
      await withStore(terminal, async (store) => (flags.watch === true ? watch(terminal, () => look(store)) : terminal.write(await look(store))));
    });
