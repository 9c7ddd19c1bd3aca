import { deadTargets } from '../../store/messages/gates.ts';
import { readBacklog } from '../../store/messages/backlog.ts';
import { span } from '../environment.ts';
import { askable } from './examination.ts';
import type { Examination } from './examination.ts';
import { broken, counted, ok, skipped, warning } from './finding.ts';
import type { Finding } from './finding.ts';

const lateMs = 600_000;
const mostShown = 5;

/** Turns, deliveries and chats that are stuck or were given up. */
export const checkWork = async (examined: Examination): Promise<readonly Finding[]> => {
  const database = askable(examined);
  if (database === undefined || examined.config === undefined) return [skipped('There is no database to ask')];
  const { isRunning, config } = examined;
  const backlog = await database.read(readBacklog);
  const dead = await database.read(deadTargets);
  const findings: Finding[] = [];
  const say = (isTrue: boolean, finding: () => Finding): void => void (isTrue && findings.push(finding()));
  say(isRunning && backlog.longestTurnMs > config.sections.agent.turn_timeout * 1000, () => broken(`A turn has been running for ${span(backlog.longestTurnMs)}, longer than agent.turn_timeout allows`, '/stop in its chat, or restart the gateway'));
  say(!isRunning && backlog.runningTurns > 0, () => warning(`${counted(backlog.runningTurns, 'unfinished turn waits', 'unfinished turns wait')} for the gateway`, 'hermes gateway run takes them up again'));
  say(isRunning && backlog.oldestDeliveryMs > lateMs, () => broken(`${counted(backlog.openDeliveries, 'delivery waits', 'deliveries wait')}, the oldest for ${span(backlog.oldestDeliveryMs)}`, 'hermes status says what the accounts are doing'));
  say(!isRunning && backlog.openDeliveries > 0, () => warning(`${counted(backlog.openDeliveries, 'delivery waits', 'deliveries wait')} for the gateway`, 'hermes gateway run delivers them'));
  say(backlog.failedToday > 0, () => warning(`${counted(backlog.failedToday, 'delivery was', 'deliveries were')} given up within a day`, 'hermes status lists them, hermes trace says why'));
  say(backlog.setAside > 0, () => warning(`${counted(backlog.setAside, 'message was', 'messages were')} set aside, because answering ended the process again and again`, 'The log says how it ended; send them again'));
  for (const target of dead.slice(0, mostShown)) findings.push(warning(`${target.account}:${target.chatId} cannot be reached: ${target.reason}`, 'Whoever blocked the bot or removed it has to let it in again; a message from there clears this'));
  if (dead.length > mostShown) findings.push(warning(`${dead.length - mostShown} more chats cannot be reached`, 'hermes status lists them'));
  return findings.length === 0 ? [ok('Nothing is stuck')] : findings;
};
