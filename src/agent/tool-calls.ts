import { newId } from '../core/ids.ts';
import type { ToolCall, TranscriptMessage } from '../core/transcript.ts';
import type { TurnEvent } from '../core/turn.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { toolResult } from './alternation.ts';
import type { TurnInput } from './contract.ts';
import { recordOf } from './models/wires/json-fields.ts';
import { repairToolName } from './repair-tool-name.ts';
import { boundResult } from './tools/bound-result.ts';
import { ToolError } from './tools/contract.ts';
import type { Tool, ToolContext, ToolSet } from './tools/contract.ts';
import { TurnEnded } from './turn-watch.ts';
import type { TurnWatch } from './turn-watch.ts';

type Args = Readonly<Record<string, unknown>>;

/** A result as it goes into the transcript: without secrets, and not too long. */
export type FinishResult = (text: string, call: { readonly sessionId: string; readonly callId: string }) => Promise<string>;

export interface ToolRound {
  readonly input: TurnInput;
  readonly tools: ToolSet;
  readonly clock: Clock;
  readonly log: Logger;
  readonly watch: TurnWatch;
  /** The output limit cut the message that holds the calls. */
  readonly cut: boolean;
  readonly finishResult?: FinishResult;
  /** Everything said so far, up to the message with the calls. */
  transcript(): readonly TranscriptMessage[];
}

/** The round while its calls run. */
interface RunningRound extends ToolRound {
  /** What helpers of the tools have cost, as long as nobody has been told. */
  readonly spent: TurnEvent[];
}

interface Runnable {
  readonly call: ToolCall;
  readonly tool: Tool;
  readonly args: Args;
}

/** Not to be run; the text tells the model why. */
interface Refused {
  readonly call: ToolCall;
  readonly refusal: string;
}

type Prepared = Runnable | Refused;

interface Outcome {
  readonly content: string;
  readonly ok: boolean;
  readonly durationMs: number;
}

const maxParallel = 8;

const parseArgs = (text: string): Args | undefined => {
  if (text.trim() === '') return {};
  try {
    return recordOf(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

const unknownTool = (name: string, tools: ToolSet): string => {
  if (name.trim() === '') return 'This call names no tool. It was not run.';
  const names = tools.definitions.slice(0, 100).map((definition) => definition.name);
  return `There is no tool named ${JSON.stringify(name.slice(0, 100))}. It was not run. Tools: ${names.join(', ') || 'none'}.`;
};

const prepare = (call: ToolCall, round: ToolRound, last: boolean): Prepared => {
  const known = round.tools.definitions.map((definition) => definition.name);
  const tool = round.tools.get(call.name) ?? round.tools.get(repairToolName(call.name, known) ?? '');
  if (tool === undefined) return { call, refusal: unknownTool(call.name, round.tools) };
  const truncated = round.cut && last && call.arguments.trim() === '';
  const args = truncated ? undefined : parseArgs(call.arguments);
  if (args !== undefined) return { call, tool, args };
  const why = round.cut ? 'The output limit cut this call off' : 'The arguments of this call are not a JSON object';
  return { call, refusal: `${why}. It was not run. Send it again, whole.` };
};

/** Neighbours that only read run beside each other; everything else runs alone, in order. */
const segments = (prepared: readonly Prepared[]): readonly (readonly Prepared[])[] => {
  const out: Prepared[][] = [];
  let open = false;
  for (const each of prepared) {
    const parallel = 'tool' in each && each.tool.parallelSafe === true;
    const current = out.at(-1);
    if (parallel && open && current !== undefined && current.length < maxParallel) current.push(each);
    else out.push([each]);
    open = parallel;
  }
  return out;
};

const preview = (args: Args): string => {
  const values = Object.values(args);
  const text = values.length === 1 && typeof values[0] === 'string' ? values[0] : values.length === 0 ? '' : JSON.stringify(args);
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return (line.length > 120 ? `${line.slice(0, 119)}…` : line).toWellFormed();
};

const failureText = (error: unknown, call: ToolCall, round: ToolRound): string => {
  if (error instanceof ToolError) return `Error (${error.code}): ${error.message}`;
  if (error instanceof TurnEnded) return `Error: ${error.message} before the tool was done.`;
  const errorId = newId('err', round.clock.now());
  round.log.error({ err: error, errorId, tool: call.name }, 'tool.crashed');
  return `Error: the tool failed in an unexpected way (${errorId}).`;
};

const contextFor = (call: ToolCall, round: RunningRound): ToolContext => {
  const { input, clock, watch } = round;
  const { sessionId, turnId, asyncDelivery, attended, place } = input;
  let asked = 0;
  const ask: ToolContext['ask'] = async (question, signal) => {
    watch.alive(question.timeoutMs);
    asked += 1;
    const answer = await input.ask(question, { callId: call.id, index: asked }, signal);
    watch.alive();
    return answer;
  };
  return { sessionId, turnId, callId: call.id, place, clock, asyncDelivery, ...(attended !== undefined && { attended }), transcript: round.transcript, alive: () => watch.alive(), spent: (usage, model) => void round.spent.push({ type: 'usage', usage, model, helper: true }), ask };
};

/** Never rejects: a tool that throws has a result like any other. */
const perform = async ({ call, tool, args }: Runnable, round: RunningRound): Promise<Outcome> => {
  const { clock, watch } = round;
  const startedMs = clock.now();
  const durationMs = (): number => clock.now() - startedMs;
  try {
    const text = await tool.run(args, contextFor(call, round), watch.signal);
    return { content: await finish(text, call, round), ok: true, durationMs: durationMs() };
  } catch (error) {
    return { content: await finish(failureText(error, call, round), call, round), ok: false, durationMs: durationMs() };
  }
};

const finish = async (text: string, call: ToolCall, { finishResult, input }: ToolRound): Promise<string> =>
  finishResult === undefined ? boundResult(text) : finishResult(text, { sessionId: input.sessionId, callId: call.id });

const finished = (call: ToolCall, ok: boolean, durationMs: number): TurnEvent => ({ type: 'tool_finished', callId: call.id, name: call.name, ok, durationMs });

/** A call that was announced by `tool_started`; `ran` once the tool was really entered. */
interface Announced {
  readonly atMs: number;
  ran: boolean;
}

/** Completes the pairs of calls that were cut short. */
function* cancel(calls: readonly ToolCall[], announced: ReadonlyMap<string, Announced>, nowMs: number): Generator<TurnEvent> {
  for (const call of calls) {
    const begun = announced.get(call.id);
    const text = begun?.ran
      ? 'Cancelled: the turn was ended while this call was running. It may have taken effect.'
      : 'Cancelled: the turn was ended before this call was run.';
    yield { type: 'message', message: toolResult(call, text) };
    if (begun !== undefined) yield finished(call, false, nowMs - begun.atMs);
  }
}

/**
 * Runs the calls of one assistant message, which is stored already. Every call gets exactly one result, in order, also when the turn is
 * ended in the middle; only a suspended turn leaves calls open. Answers the results, and whether a call was refused.
 */
export async function* runToolCalls(
  calls: readonly ToolCall[],
  round: ToolRound,
): AsyncGenerator<TurnEvent, { readonly results: readonly TranscriptMessage[]; readonly refused: boolean }, undefined> {
  const { watch, clock } = round;
  const results: TranscriptMessage[] = [];
  const announced = new Map<string, Announced>();
  const here: RunningRound = { ...round, spent: [], transcript: () => [...round.transcript(), ...results] };
  const prepared = calls.map((call, index) => prepare(call, round, index === calls.length - 1));

  async function* runSegment(segment: readonly Prepared[]): AsyncGenerator<TurnEvent, void, undefined> {
    watch.check();
    watch.alive();
    const works: Promise<Outcome>[] = [];
    for (const each of segment) {
      if ('refusal' in each) continue;
      const entry: Announced = { atMs: clock.now(), ran: false };
      announced.set(each.call.id, entry);
      yield { type: 'tool_started', callId: each.call.id, name: each.call.name, preview: preview(each.args) };
      watch.check();
      entry.ran = true;
      works.push(perform(each, here));
    }
    for (const [index, each] of segment.entries()) {
      const outcome = 'refusal' in each ? undefined : await watch.guard(works[index]!);
      watch.alive();
      const content = 'refusal' in each ? each.refusal : (outcome?.content ?? '');
      const message = toolResult(each.call, content);
      results.push(message);
      yield { type: 'message', message };
      if (outcome !== undefined) yield finished(each.call, outcome.ok, outcome.durationMs);
      yield* here.spent.splice(0);
    }
  }

  try {
    for (const segment of segments(prepared)) yield* runSegment(segment);
  } catch (error) {
    const suspended = error instanceof TurnEnded && error.ending === 'suspended';
    if (!suspended) yield* cancel(calls.slice(results.length), announced, clock.now());
    yield* here.spent.splice(0);
    throw error;
  }
  return { results, refused: prepared.some((each) => 'refusal' in each) };
}
