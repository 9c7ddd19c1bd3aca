import { z } from 'zod';
import { slept } from '../../../lib/clock.ts';
import type { Clock } from '../../../lib/clock.ts';
import { ToolError } from '../contract.ts';
import type { Tool, ToolContext } from '../contract.ts';
import { defineTool } from '../define-tool.ts';
import { cleanText, shorten } from './clean-output.ts';
import { maxForegroundSeconds } from './options.ts';
import type { BackgroundProcess } from './process-entry.ts';
import type { Processes } from './processes.ts';

export interface ProcessToolDeps {
  readonly processes: Processes;
  redact(text: string): string;
}

const actions = ['list', 'poll', 'log', 'wait', 'kill', 'write', 'submit', 'close'] as const;

const args = z.object({
  action: z.enum(actions).describe('list: all of this conversation. poll: state and new output. log: lines of the output. wait: until it ends. kill. write: text to its input. submit: text and Enter. close: the end of its input.'),
  session_id: z.string().optional().describe('The id that terminal answered, or the beginning of it. Needed for all but list.'),
  data: z.string().max(100_000).optional().describe('For write and submit.'),
  timeout: z.number().positive().optional().describe(`For wait: seconds, at most ${maxForegroundSeconds}.`),
  offset: z.int().min(0).optional().describe('For log: the first line, counted from 0. Without it the last lines are shown.'),
  limit: z.int().min(1).max(2000).optional().describe('For log: how many lines; 200 without it.'),
});

type Args = z.output<typeof args>;
type Facts = Readonly<Record<string, unknown>>;

const defaultWaitSeconds = 180;
const defaultLines = 200;
const maxOutputChars = 40_000;
const maxNewBytes = 400_000;
const aliveEveryMs = 30_000;

const factsOf = (known: BackgroundProcess, clock: Clock): Facts => ({
  session_id: known.id,
  status: known.end === undefined ? 'running' : known.end.state === 'lost' ? 'lost' : 'exited',
  ...(known.end !== undefined && { exit_code: known.end.exitCode, ...(known.wasAway && { note: 'It ended while the gateway was away.' }) }),
  seconds: Math.round(((known.end?.atMs ?? clock.now()) - known.startedAtMs) / 1000),
});

const bounded = (text: string): string => shorten('', text, { maxChars: maxOutputChars, missing: 0 }).text;

interface Request {
  readonly deps: ProcessToolDeps;
  readonly known: BackgroundProcess;
  readonly input: Args;
  readonly context: ToolContext;
  readonly signal: AbortSignal;
}

/** What was written since the last look. */
const newOutput = async ({ known, deps }: Request): Promise<string> => {
  const end = await known.output.end();
  const { from, bytes } = await known.output.read(Math.max(known.polledBytes, end - maxNewBytes), maxNewBytes);
  known.polledBytes = from + bytes.length;
  return bounded(deps.redact(cleanText(bytes)));
};

const poll = async (request: Request): Promise<Facts> => {
  const { known, deps, context } = request;
  const facts = factsOf(known, context.clock);
  const output = await newOutput(request);
  if (facts['status'] !== 'running') await deps.processes.markSeen(known);
  return { ...facts, output };
};

const log = async ({ known, deps, input, context }: Request): Promise<Facts> => {
  const facts = factsOf(known, context.clock);
  const lines = deps.redact(await known.output.text()).split('\n');
  if (lines.at(-1) === '') lines.pop();
  const limit = input.limit ?? defaultLines;
  const from = input.offset ?? Math.max(0, lines.length - limit);
  if (facts['status'] !== 'running') await deps.processes.markSeen(known);
  return { ...facts, output: bounded(lines.slice(from, from + limit).join('\n')), first_line: from, total_lines: lines.length };
};

const wait = async (request: Request): Promise<Facts> => {
  const { known, input, context, signal } = request;
  const seconds = Math.min(input.timeout ?? defaultWaitSeconds, maxForegroundSeconds);
  const untilMs = context.clock.now() + seconds * 1000;
  const ended = new AbortController();
  {
    using waiting = known.awaitEnd();
    void waiting.done.then(() => ended.abort());
    const either = AbortSignal.any([signal, ended.signal]);
    while (known.end === undefined && !signal.aborted && context.clock.now() < untilMs) {
      await slept(context.clock, Math.min(aliveEveryMs, untilMs - context.clock.now()), either);
      context.alive();
    }
    signal.throwIfAborted();
    // Still counted as waiting: whoever would tell the end leaves it to us.
    if (known.end !== undefined) await request.deps.processes.markSeen(known);
  }
  const facts = await poll(request);
  return facts['status'] === 'running' ? { ...facts, note: `It still runs after ${seconds} seconds of waiting.` } : facts;
};

const kill = async ({ known, deps, context }: Request): Promise<Facts> => {
  if (known.end !== undefined) return { ...factsOf(known, context.clock), note: 'It had ended already.' };
  await deps.processes.kill(known);
  return { ...factsOf(known, context.clock), note: 'It was ended, with all that it had started.' };
};

const inputOf = (known: BackgroundProcess): NonNullable<BackgroundProcess['stdin']> => {
  if (known.end !== undefined) throw new ToolError('unavailable', 'It has ended.');
  if (known.stdin === undefined) throw new ToolError('unavailable', 'Its input went away when the gateway was restarted. End it and start it again if it needs input.');
  if (!known.stdin.writable) throw new ToolError('unavailable', 'Its input is closed.');
  return known.stdin;
};

const write = async ({ known, input, context }: Request, enter: boolean): Promise<Facts> => {
  if (input.data === undefined) throw new ToolError('bad_arguments', 'data is missing.');
  const stdin = inputOf(known);
  const { data } = input;
  await new Promise<void>((resolve, reject) => {
    stdin.write(enter ? `${data}\n` : data, (error) => (error ? reject(new ToolError('failed', 'It does not read its input any more.', { cause: error })) : resolve()));
  });
  return { ...factsOf(known, context.clock), written: data.length + (enter ? 1 : 0) };
};

const close = async ({ known, context }: Request): Promise<Facts> => {
  inputOf(known).end();
  return { ...factsOf(known, context.clock), note: 'Its input is at an end.' };
};

const perform = (request: Request, action: Exclude<Args['action'], 'list'>): Promise<Facts> => {
  switch (action) {
    case 'poll':
      return poll(request);
    case 'log':
      return log(request);
    case 'wait':
      return wait(request);
    case 'kill':
      return kill(request);
    case 'write':
      return write(request, false);
    case 'submit':
      return write(request, true);
    case 'close':
      return close(request);
    default:
      throw action satisfies never;
  }
};

const listed = (deps: ProcessToolDeps, context: ToolContext): Facts => ({
  processes: deps.processes.of(context.sessionId).map((known) => ({ ...factsOf(known, context.clock), command: deps.redact(known.command).slice(0, 200), pid: known.pid, cwd: known.cwd })),
});

/** Looks after what terminal has started in the background of the same conversation. */
export const processTool = (deps: ProcessToolDeps): Tool =>
  defineTool({
    name: 'process',
    description: 'Look after background processes of this conversation that terminal has started: list, poll, log, wait, kill, write, submit, close.',
    args,
    async run(input, context, signal) {
      const { action } = input;
      if (action === 'list') return JSON.stringify(listed(deps, context));
      if (input.session_id === undefined) throw new ToolError('bad_arguments', `session_id is missing; ${action} needs the id that terminal answered.`);
      const known = deps.processes.find(context.sessionId, input.session_id);
      return JSON.stringify(await perform({ deps, known, input, context, signal }, action));
    },
  });
