import { allStatus } from '../store/accounts/accounts.ts';
import { inboxCounts, oldestOpenMs } from '../store/messages/inbox.ts';
import { failedDeliveries, outboxCounts } from '../store/messages/outbox.ts';
import { failedTurns, runningTurns } from '../store/sessions/turns.ts';
import type { Command } from './contract.ts';

const mostErrors = 5;

const counts = (values: Readonly<Record<string, number>>): string => {
  const parts = Object.entries(values).map(([state, count]) => `${count} ${state}`);
  return parts.length === 0 ? 'nothing open' : parts.join(', ');
};

const at = (ms: number): string => new Date(ms).toISOString().replace('T', ' ').slice(0, 16);

export const debug: Command = {
  name: 'debug',
  aliases: [],
  category: 'Info',
  description: 'Show a short report about the gateway',
  role: 'admin',
  whileRunning: 'allowed',
  async run(tx, call) {
    const oldestMs = await oldestOpenMs(tx);
    const turns = (await failedTurns(tx, mostErrors)).map((turn) => `- ${at(turn.endedAtMs)} turn ${turn.id} of \`${turn.sessionId}\`, ${turn.reason}${turn.error === null ? '' : `: ${turn.error}`}`);
    const deliveries = (await failedDeliveries(tx, mostErrors)).map((item) => `- ${at(item.updatedAtMs)} out_${item.id} to ${item.account}:${item.chatId}${item.error === null ? '' : `: ${item.error}`}`);
    const report = [
      `**Hermes gateway** ${call.version}, Node ${process.versions.node}, ${process.platform} ${process.arch}, ${tx.engine}`,
      `**Up** ${Math.round(process.uptime() / 60)} min, ${Math.round(process.memoryUsage.rss() / 1024 / 1024)} MB`,
      `**Inbox** ${counts(await inboxCounts(tx))}${oldestMs === undefined ? '' : `, oldest ${Math.round(oldestMs / 1000)} s`}`,
      `**Outbox** ${counts(await outboxCounts(tx))}`,
      `**Turns** ${await runningTurns(tx)} running`,
      '**Accounts**',
      ...(await allStatus(tx)).map((status) => `- ${status.account} ${status.state}${status.error === null ? '' : `: ${status.error}`}`),
      ...(turns.length === 0 ? [] : ['**Turns that failed**', ...turns]),
      ...(deliveries.length === 0 ? [] : ['**Deliveries that failed**', ...deliveries]),
      `This message is in_${call.inboxId}; \`hermes trace\` tells more about each number.`,
    ];
    return call.reach.redact(report.join('\n'));
  },
};
