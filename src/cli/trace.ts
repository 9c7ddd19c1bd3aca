import { Command } from 'commander';
import { ConfigError } from '../core/errors.ts';
import { eventTraceIdOf, traceIdOf } from '../core/trace-id.ts';
import type { Target } from '../core/message.ts';
import { printable } from '../lib/printable.ts';
import { traceMessage } from '../store/messages/trace.ts';
import type { TracedArrival, TracedDelivery, TracedMessage, TracedTurn } from '../store/messages/trace.ts';
import { json, paint } from './environment.ts';
import type { Terminal } from './environment.ts';
import { lookIntoStore } from './home/open-home.ts';

const time = (ms: number): string => new Date(ms).toISOString().replace('T', ' ').slice(0, 23);

const place = (target: Pick<Target, 'account' | 'chatId' | 'threadId'>): string => `${target.account}:${target.chatId}${target.threadId === undefined ? '' : `:${target.threadId}`}`;

const line = (atMs: number | undefined, what: string, detail: string): string => `  ${atMs === undefined ? ' '.repeat(23) : time(atMs)}  ${what.padEnd(10)} ${detail}`;

const arrivalLines = ({ event, ...arrival }: TracedArrival): string[] => [
  line(arrival.receivedAtMs, 'received', `${event.kind} ${event.nativeId} from ${event.sender.name ?? 'somebody'} (${event.sender.id}) in ${place({ account: event.account, chatId: event.chat.id, ...(event.chat.threadId !== undefined && { threadId: event.chat.threadId }) })}`),
  ...arrival.decisions.map(({ step, verdict }) => line(undefined, 'decided', `${step}: ${verdict}`)),
];

const outcomeLines = (message: TracedMessage, arrival: TracedArrival): string[] => {
  const traceId = message.turn === null ? traceIdOfMessage(message) : null;
  return [...(traceId === null ? [] : [line(undefined, 'trace', traceId)]), line(arrival.doneAtMs ?? undefined, arrival.state, arrival.reason ?? '')];
};

const turnLines = (turn: TracedTurn): string[] => {
  const tried = turn.attempts === 1 ? '' : `, ${turn.attempts} attempts`;
  const end = turn.endedAtMs === null ? [] : [line(turn.endedAtMs, 'turn ended', `${turn.exitReason ?? turn.state} after ${turn.endedAtMs - turn.startedAtMs} ms, ${turn.inputTokens} tokens in, ${turn.outputTokens} out${turn.model === null ? '' : `, ${turn.model}`}${turn.error === null ? '' : `: ${turn.error}`}`)];
  return [line(turn.startedAtMs, 'turn', `${turn.id} in session ${turn.sessionId}${tried}, trace ${traceIdOf({ sessionId: turn.sessionId, turnId: turn.id })}`), ...end];
};

/** As traces have it, for whoever looks one up. What was neither taken up by a turn nor answered has none. */
const traceIdOfMessage = ({ arrival, turn, deliveries }: TracedMessage): string | null => {
  if (turn !== null) return traceIdOf({ sessionId: turn.sessionId, turnId: turn.id });
  if (arrival === null || deliveries.length === 0) return null;
  const { account, chat, nativeId, kind } = arrival.event;
  return eventTraceIdOf({ account, chatId: chat.id, nativeId, kind });
};

const withTraceId = (message: TracedMessage) => ({ ...message, traceId: traceIdOfMessage(message) });

const deliveryLines = (delivery: TracedDelivery): string[] => [
  line(delivery.createdAtMs, 'delivery', `out_${delivery.id} to ${place(delivery.target)} (${delivery.key})`),
  ...delivery.log.map((attempt) => line(attempt.atMs, 'attempt', `${attempt.outcome}${attempt.detail === undefined ? '' : `: ${attempt.detail}`}`)),
  line(delivery.updatedAtMs, delivery.state, `${delivery.messageIds.length === 0 ? '' : `as ${delivery.messageIds.join(', ')}`}${delivery.repeated ? ' (repeated once, marked)' : ''}${delivery.error === null ? '' : ` ${delivery.error}`}`),
];

const story = (terminal: Terminal, message: TracedMessage): string => {
  const title = message.arrival === null ? 'A message of ours' : `Message in_${message.arrival.id}`;
  const lines = [
    ...(message.arrival === null ? [] : arrivalLines(message.arrival)),
    ...(message.turn === null ? [] : turnLines(message.turn)),
    ...(message.arrival === null ? [] : outcomeLines(message, message.arrival)),
    ...message.deliveries.flatMap(deliveryLines),
  ];
  return [paint(terminal, 'bold', title), ...lines.map((text) => printable(text).trimEnd()), ''].join('\n');
};

export const traceCommand = (terminal: Terminal): Command =>
  new Command('trace')
    .description('Print the life of a message: received, decided, answered, delivered')
    .argument('<id>', 'our number (in_42 or 42), or the id that the platform gave to the message or to its answer')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  hermes trace in_42\n  hermes trace 42 --json')
    .action(async (id: string, flags: { json?: true }) => {
      const found = await lookIntoStore(terminal, (store) => store.read((db) => traceMessage(db, id)));
      if (found.length === 0) throw new ConfigError(`Nothing is known of a message ${id}. Messages are traceable for store.inbox_days days.`);
      terminal.write(flags.json === true ? json(found.map(withTraceId)) : `${found.map((message) => story(terminal, message)).join('\n')}\n`);
    });
