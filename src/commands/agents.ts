import type { HelperView } from '../agent/tools/delegation/helpers.ts';
import { delegationsOf, requestDelegationStop } from '../store/agents/delegations.ts';
import type { Delegation } from '../store/agents/delegations.ts';
import { turnLane } from '../store/lanes/lanes.ts';
import { withdrawWaiting } from '../store/messages/inbox.ts';
import type { Writing } from '../store/store.ts';
import { isAtWork } from './background.ts';
import type { Command, CommandCall } from './contract.ts';
import { stopTurn } from './stop-turn.ts';

const mostStored = 15;
const mostChars = 80;

const short = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').replaceAll('`', '').trim();
  return line.length > mostChars ? `${line.slice(0, mostChars).toWellFormed()}…` : line;
};

const span = (ms: number): string => (ms < 90_000 ? `${Math.max(0, Math.round(ms / 1000))} s` : `${Math.round(ms / 60_000)} min`);

const helperLine = ({ id, goal, startedAtMs, calls, doing, end }: HelperView, nowMs: number): string => {
  if (end !== undefined) return `${end.status === 'completed' ? '✅' : '⚠️'} \`${id}\` ${short(goal)} — ${end.status} after ${span(end.atMs - startedAtMs)}`;
  return `⏳ \`${id}\` ${short(goal)} — ${span(nowMs - startedAtMs)}, ${calls} model ${calls === 1 ? 'call' : 'calls'}${doing === undefined ? '' : `, ${short(doing)}`}`;
};

const goalsOf = ({ request }: Delegation): string => {
  const { prompt, tasks = [] } = request as { readonly prompt?: string; readonly tasks?: readonly { readonly goal: string }[] };
  return prompt ?? tasks.map(({ goal }) => goal).join(' · ');
};

const marks = { running: '⏳', done: '✅', lost: '❓', apart: '⏳' } as const;

const storedLine = async (tx: Writing, work: Delegation): Promise<string> => {
  const isDone = work.state === 'apart' && !(await isAtWork(tx, work.id));
  const state = work.state === 'apart' ? (isDone ? 'done' : 'running') : work.state;
  return `${marks[state]} \`${work.id}\` ${short(goalsOf(work))} — ${state}`;
};

const processLines = (call: CommandCall): readonly string[] =>
  (call.reach.processes?.of(call.sessionId) ?? []).map(({ id, command, startedAtMs, end }) => {
    const how = end === undefined ? `runs for ${span(call.nowMs - startedAtMs)}` : `ended${end.exitCode === null ? '' : ` with ${end.exitCode}`}`;
    return `${end === undefined ? '⏳' : '✅'} \`${id}\` ${short(call.reach.redact(command))} — ${how}`;
  });

const section = (title: string, lines: readonly string[]): readonly string[] => (lines.length === 0 ? [] : [`**${title}**`, ...lines]);

const list = async (tx: Writing, call: CommandCall): Promise<string> => {
  const helpers = call.reach.helpers?.(call.sessionId) ?? [];
  // What this gateway knows of its helpers says more than what is stored.
  const stored = (await delegationsOf(tx, call.sessionId, mostStored)).filter(({ id }) => !helpers.some((helper) => helper.id.startsWith(`${id}_`)));
  const beside: string[] = [];
  for (const work of stored) beside.push(await storedLine(tx, work));
  const lines = [
    ...section('Helpers', helpers.map((helper) => helperLine(helper, call.nowMs))),
    ...section('Beside this conversation', beside),
    ...section('Programs', processLines(call)),
  ];
  return lines.length === 0 ? 'Nothing is under way beside this conversation.' : [...lines, '', '`/agents stop <id>` ends one of them.'].join('\n');
};

/** What nobody has begun with is taken back, what is under way is stopped. */
const endApart = async (tx: Writing, sessionId: string): Promise<boolean> => {
  if (!(await isAtWork(tx, sessionId))) return false;
  await withdrawWaiting(tx, turnLane(sessionId), 'stopped');
  await stopTurn(tx, turnLane(sessionId));
  return true;
};

/** Only what belongs to this conversation can be ended from it. */
const stopOne = async (tx: Writing, call: CommandCall, name: string): Promise<string> => {
  const work = (await delegationsOf(tx, call.sessionId, mostStored)).find(({ id }) => name === id || name.startsWith(`${id}_`));
  if (work === undefined) return `Nothing of this conversation that runs in the background is called ${short(name)}. /agents lists what there is, and /stop ends what I am doing.`;
  const ended = work.state === 'apart' ? await endApart(tx, work.id) : await requestDelegationStop(tx, work.id);
  return ended ? `⏹ \`${work.id}\` is ended.` : `\`${work.id}\` has ended already.`;
};

export const agents: Command = {
  name: 'agents',
  aliases: ['tasks'],
  category: 'Session',
  description: 'Show helpers, background work and programs of this conversation',
  args: '[stop <id>]',
  whileRunning: 'allowed',
  run(tx, call) {
    const [verb = '', name = ''] = call.args.split(/\s+/);
    if (verb.toLowerCase() === 'stop' && name !== '') return stopOne(tx, call, name);
    return call.args === '' ? list(tx, call) : Promise.resolve('Usage: /agents, or /agents stop <id>');
  },
};
