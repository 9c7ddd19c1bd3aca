import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { addUsage, noUsage } from '../../../core/transcript.ts';
import { slept } from '../../../lib/clock.ts';
import { boundResult } from '../bound-result.ts';
import { ToolError } from '../contract.ts';
import type { Tool, ToolContext } from '../contract.ts';
import { defineTool } from '../define-tool.ts';
import type { ToolGroup } from '../toolsets.ts';
import { childToolsets } from './child-runner.ts';
import type { ChildOutcome, ChildRunner, ChildTask } from './contract.ts';
import type { Delegations, Job } from './delegations.ts';
import type { DelegationOptions } from './options.ts';

export interface DelegateDeps {
  readonly delegations: Pick<Delegations, 'perform' | 'detach' | 'depthOf'>;
  readonly run: ChildRunner;
  /** What the agent has at the place of a turn. */
  groups(context: ToolContext): readonly ToolGroup[];
  settings(): DelegationOptions;
}

const maxGoalChars = 20_000;
const maxContextChars = 50_000;
const mostTasks = 32;
/** A turn that waits for helpers is alive: how long they may be silent is their own limit. */
const aliveEveryMs = 20_000;
const roomChars = 80_000;

const fields = {
  context: z.string().max(maxContextChars).optional().describe('Everything the helper has to know: it sees nothing of this conversation. Paths, facts, what to avoid, the language of the answer.'),
  toolsets: z.array(z.string().trim().min(1)).max(20).optional().describe('Only these of your toolsets, for example ["web"] or ["terminal", "file"]. All of yours when left out.'),
  role: z.enum(['leaf', 'orchestrator']).default('leaf').describe('orchestrator: may have helpers of its own, where the limits allow it.'),
};

const goal = z.string().trim().min(1).max(maxGoalChars);

const task = z.object({ goal: goal.describe('What this helper has to achieve, so that it can be told when it is done.'), ...fields });

/** Some models write the list as text. */
const readList = (value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return value;
    throw error;
  }
};

const args = z
  .object({
    goal: goal.optional().describe('What one helper has to achieve, so that it can be told when it is done.'),
    ...fields,
    tasks: z.preprocess(readList, z.array(task).min(1).max(mostTasks)).optional().describe('Instead of one goal: several pieces of work that do not depend on each other, done side by side.'),
    background: z.boolean().default(false).describe('Go on without waiting; you are told in a new turn when it is done.'),
  })
  .refine((given) => (given.goal === undefined) !== (given.tasks === undefined), 'Give either goal or tasks.');

type Args = z.output<typeof args>;

const describe = ({ max_concurrent_children: most, max_async_children: inBackground, max_spawn_depth: depth }: DelegationOptions): string =>
  [
    'Hands work to helpers: fresh agents with your tools that know only what you write here and answer with a summary. Use it for work that is long, needs much reading, or falls into independent parts; not for what you can do in a few steps yourself.',
    `At most ${most} ${most === 1 ? 'task' : 'tasks'} in one call; all of them run side by side.`,
    inBackground === 0 ? 'Nothing can run in the background.' : `With background the call returns at once; at most ${inBackground} such calls may be open in one conversation.`,
    depth > 1 ? 'A helper with role orchestrator may hand parts of its work on.' : 'Helpers cannot hand work on.',
    'Helpers cannot ask the person, use memory, send messages or plan jobs, and nobody approves dangerous commands for them. Check what they claim before you rely on it.',
  ].join(' ');

/** What is said beside the list holds for each of its tasks that does not say it itself. */
const tasksOf = ({ goal: only = '', tasks, context, toolsets, role }: Args): readonly ChildTask[] =>
  (tasks ?? [{ goal: only, role, context, toolsets }]).map((given) => {
    const each = { ...given, context: given.context ?? context, toolsets: given.toolsets ?? toolsets };
    return { goal: each.goal, role: each.role, ...(each.context !== undefined && { context: each.context }), ...(each.toolsets !== undefined && { toolsets: each.toolsets }) };
  });

/** Tools that were asked for and are not there are named; a helper that would have none of them is not sent off. */
const missingToolsets = (groups: readonly ToolGroup[], tasks: readonly ChildTask[]): readonly string[] => {
  const possible = childToolsets(groups, 'leaf').map(({ toolset }) => toolset);
  const isThere = (name: string): boolean => possible.includes(name) || (name === 'mcp' && possible.some((toolset) => toolset.startsWith('mcp-')));
  for (const { toolsets = [] } of tasks) {
    if (toolsets.length > 0 && !toolsets.some(isThere)) throw new ToolError('bad_arguments', `None of the toolsets ${toolsets.join(', ')} can be given to a helper here. There are ${possible.join(', ') || 'none'}.`);
  }
  return [...new Set(tasks.flatMap(({ toolsets = [] }) => toolsets))].filter((name) => !isThere(name));
};

const entryOf = (outcome: ChildOutcome, index: number, maxChars: number): object => {
  const { status, summary, error, exitReason, apiCalls, usage, model, durationMs } = outcome;
  const isCut = summary.length > maxChars;
  return {
    task_index: index,
    status,
    summary: isCut ? boundResult(summary, maxChars) : summary,
    ...(error !== undefined && { error }),
    api_calls: apiCalls,
    duration_seconds: Math.round(durationMs / 100) / 10,
    exit_reason: exitReason,
    ...(isCut && { truncated: true }),
    ...(model !== undefined && { model }),
    tokens: { input: usage.inputTokens, output: usage.outputTokens },
  };
};

const waitFor = async (deps: DelegateDeps, job: Job, at: { readonly context: ToolContext; readonly signal: AbortSignal; readonly notes: readonly string[] }): Promise<string> => {
  const { context, signal, notes } = at;
  const done = new AbortController();
  const heartbeat = async (): Promise<void> => {
    while (await slept(context.clock, aliveEveryMs, done.signal)) context.alive();
  };
  const beating = heartbeat();
  const startedMs = context.clock.now();
  try {
    const outcomes = await deps.delegations.perform(job, { signal, onSpent: (usage, model) => context.spent?.(usage, model) });
    const maxChars = Math.floor(roomChars / outcomes.length);
    const total = outcomes.reduce((sum, { usage }) => addUsage(sum, usage), noUsage);
    return JSON.stringify({
      results: outcomes.map((outcome, index) => entryOf(outcome, index, maxChars)),
      total_duration_seconds: Math.round((context.clock.now() - startedMs) / 100) / 10,
      total_tokens: { input: total.inputTokens, output: total.outputTokens },
      ...(notes.length > 0 && { note: notes.join(' ') }),
    });
  } finally {
    done.abort();
    await beating;
  }
};

const dispatch = async (deps: DelegateDeps, job: Job, notes: readonly string[]): Promise<string> => {
  const most = deps.settings().max_async_children;
  if (!(await deps.delegations.detach(job))) throw new ToolError('unavailable', `This conversation has ${most} pieces of work in the background already, and no more may be added. Wait until one ends, or do this without background.`);
  const promise = 'You will be told in a new turn when it has ended. Do not wait for it and do not start it again.';
  return JSON.stringify({ status: 'dispatched', delegation_id: job.id, mode: 'background', tasks: job.tasks.length, note: [promise, ...notes].join(' ') });
};

const noLater = 'Nothing can be said here after this turn, so the work was done at once instead of in the background.';
const notFurther = 'Helpers cannot hand work on here (`delegation.max_spawn_depth`), so the role orchestrator was ignored.';

const run = async (deps: DelegateDeps, given: Args, at: { readonly context: ToolContext; readonly signal: AbortSignal }): Promise<string> => {
  const { context, signal } = at;
  const options = deps.settings();
  const wanted = tasksOf(given);
  if (wanted.length > options.max_concurrent_children) throw new ToolError('bad_arguments', `${wanted.length} tasks are too many for one call; ${options.max_concurrent_children} are the most (\`delegation.max_concurrent_children\`). Nothing was started.`);
  const depth = deps.delegations.depthOf(context.sessionId);
  if (depth >= options.max_spawn_depth) throw new ToolError('unavailable', 'You are a helper yourself and cannot hand work on. Do it with your own tools.');
  const isLast = depth + 1 >= options.max_spawn_depth;
  const tasks = isLast ? wanted.map((each): ChildTask => ({ ...each, role: 'leaf' })) : wanted;
  const missing = missingToolsets(deps.groups(context), tasks);
  const job: Job = { id: `deleg_${randomBytes(6).toString('hex')}`, sessionId: context.sessionId, place: context.place, tasks, run: deps.run };
  const notes = [
    ...(given.background && !context.asyncDelivery ? [noLater] : []),
    ...(isLast && wanted.some(({ role }) => role === 'orchestrator') ? [notFurther] : []),
    ...(missing.length > 0 ? [`Not available to helpers here: ${missing.join(', ')}.`] : []),
  ];
  return given.background && context.asyncDelivery ? dispatch(deps, job, notes) : waitFor(deps, job, { context, signal, notes });
};

/** Lets the agent hand work to helpers, and wait for them or go on. Its description names the limits that hold when it is asked for. */
export const delegateTaskTool = (deps: DelegateDeps): Tool => {
  const tool = defineTool({ name: 'delegate_task', description: '', args, run: (given, context, signal) => run(deps, given, { context, signal }) });
  return {
    ...tool,
    get definition() {
      return { ...tool.definition, description: describe(deps.settings()) };
    },
  };
};
