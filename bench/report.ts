import type { ApiResult } from './api.ts';
import type { ContextResult } from './context.ts';
import type { IdleResult } from './idle.ts';
import type { LatencyResult } from './latency.ts';
import type { MemoryResult } from './memory.ts';
import type { PlatformsResult } from './platforms.ts';
import type { StartResult } from './start.ts';

/** What was measured; a part that was left out is absent. */
export interface Report {
  readonly node: string;
  readonly cores: number;
  readonly quick: boolean;
  readonly latency?: readonly LatencyResult[];
  readonly start?: readonly StartResult[];
  readonly memory?: readonly MemoryResult[];
  readonly idle?: IdleResult;
  readonly context?: readonly ContextResult[];
  readonly api?: readonly ApiResult[];
  readonly platforms?: PlatformsResult;
}

type Row = readonly string[];

/** Columns as wide as their widest cell; all but the first are numbers and stand to the right. */
export const table = (rows: readonly Row[]): string => {
  const widths = (rows[0] ?? []).map((_cell, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const line = (row: Row): string => row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  ');
  return rows.map((row) => `  ${line(row).trimEnd()}`).join('\n');
};

const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
const times = (value: number): string => `${value.toFixed(2)}x`;
const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;

const latencyRows = (results: readonly LatencyResult[]): readonly Row[] => [
  ['', 'messages/s', 'p50', 'p99'],
  ...results.flatMap(({ chats, gateway, bare, ratio }): readonly Row[] => [
    [`${chats} chat${chats === 1 ? '' : 's'}: gateway`, gateway.perSecond.toFixed(0), ms(gateway.p50Ms), ms(gateway.p99Ms)],
    ['  bare loop', bare.perSecond.toFixed(0), ms(bare.p50Ms), ms(bare.p99Ms)],
    ['  ratio', times(ratio.perSecond), times(ratio.p50Ms), times(ratio.p99Ms)],
  ]),
];

const startRows = (results: readonly StartResult[]): readonly Row[] => [
  ['', 'median', 'fastest', 'ratio'],
  ...results.map(({ by, medianMs, fastestMs, ratio }): Row => [by === 'npm' ? 'npm start' : by, ms(medianMs), ms(fastestMs), times(ratio)]),
];

const memoryRows = (results: readonly MemoryResult[]): readonly Row[] => [
  ['', 'at once', 'at rest', 'to the one above'],
  ...results.map(({ messages, busyBytes, restingBytes, ratio }): Row => [messages === 0 ? 'idle' : `after ${messages} messages`, megabytes(busyBytes), megabytes(restingBytes), times(ratio)]),
];

const idleRows = ({ seconds, cpuMs, percent }: IdleResult): readonly Row[] => [
  ['', 'processor time', 'of one core'],
  [`${seconds} s`, ms(cpuMs), `${percent.toFixed(2)} %`],
];

const contextRows = (results: readonly ContextResult[]): readonly Row[] => [
  ['', 'load', 'ratio'],
  ...results.map(({ messages, loadMs, ratio }): Row => [`${messages} messages`, ms(loadMs), times(ratio)]),
];

const apiRows = (results: readonly ApiResult[]): readonly Row[] => [
  ['', 'calls/s', 'p50', 'p99'],
  ...results.flatMap(({ connections, streamed, gateway, proxy, ratio }): readonly Row[] => [
    [`${connections} connection${connections === 1 ? '' : 's'}, ${streamed ? 'streamed' : 'whole'}: gateway`, gateway.perSecond.toFixed(0), ms(gateway.p50Ms), ms(gateway.p99Ms)],
    ['  bare proxy', proxy.perSecond.toFixed(0), ms(proxy.p50Ms), ms(proxy.p99Ms)],
    ['  ratio', times(ratio.perSecond), times(ratio.p50Ms), times(ratio.p99Ms)],
  ]),
];

const weightRows = ({ weight }: PlatformsResult): readonly Row[] => [
  ['', 'start', 'ratio', 'at rest', 'ratio'],
  ...weight.map(({ configured, startMs, restingBytes, ratio }): Row => [configured, ms(startMs), times(ratio.start), megabytes(restingBytes), times(ratio.memory)]),
];

const stormRows = ({ storm }: PlatformsResult): readonly Row[] => [
  ['', 'p50', 'p99'],
  ['alone', ms(storm.alone.p50Ms), ms(storm.alone.p99Ms)],
  [`beside ${storm.stormPerSecond.toFixed(0)} messages/s`, ms(storm.beside.p50Ms), ms(storm.beside.p99Ms)],
  ['ratio', times(storm.ratio.p50), times(storm.ratio.p99)],
];

/** The report as a person reads it. */
export const printed = (report: Report): string => {
  const part = (title: string, rows: readonly Row[] | undefined): readonly string[] => (rows === undefined ? [] : [`${title}\n${table(rows)}\n`]);
  return [
    `Node ${report.node}, ${report.cores} cores${report.quick ? ', quick: too short to mean much' : ''}\n`,
    ...part('Latency from an update to its answer, closed loop, instant model', report.latency && latencyRows(report.latency)),
    ...part('Start until /ready answers 200', report.start && startRows(report.start)),
    ...part('Resident memory of the gateway', report.memory && memoryRows(report.memory)),
    ...part('A gateway that waits', report.idle && idleRows(report.idle)),
    ...part('Loading the context of a turn', report.context && contextRows(report.context)),
    ...part('Start and memory without and with Discord, Slack, Matrix, e-mail and webhooks', report.platforms && weightRows(report.platforms)),
    ...part('Latency on one account while another is flooded and limited', report.platforms && stormRows(report.platforms)),
    ...part('Chat completions over the API, closed loop, instant model', report.api && apiRows(report.api)),
  ].join('\n');
};
