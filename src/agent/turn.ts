import { ModelError } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import type { ToolCall, TranscriptMessage } from '../core/transcript.ts';
import type { TurnEvent } from '../core/turn.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Agent, TurnInput } from './contract.ts';
import { endOfTurn } from './end-of-turn.ts';
import { callModel } from './model-call.ts';
import type { Draft, Finish } from './model-call.ts';
import type { ModelProvider, ModelRequest, ModelRoute } from './models/contract.ts';
import { newRouteCursor } from './models/endpoints/route-cursor.ts';
import type { RouteCursor } from './models/endpoints/route-cursor.ts';
import { newRoomKeeper } from './room-keeper.ts';
import type { RoomKeeper } from './room-keeper.ts';
import { runToolCalls } from './tool-calls.ts';
import type { FinishResult, ToolRound } from './tool-calls.ts';
import type { ToolSet } from './tools/contract.ts';
import { turnLog } from './turn-log.ts';
import { TurnEnded, watchTurn } from './turn-watch.ts';
import type { TurnWatch } from './turn-watch.ts';

export interface AgentDeps {
  readonly provider: ModelProvider;
  readonly model: string;
  /** Who answers the rest of a turn when the provider cannot, in this order. */
  readonly fallbacks?: readonly ModelRoute[];
  readonly tools: ToolSet;
  readonly clock: Clock;
  readonly log: Logger;
  /** How often one model call is repeated. */
  readonly maxRetries: number;
  readonly maxOutputTokens?: number;
  /** A tool's result as it goes into the transcript; only bounded when left out. */
  readonly finishResult?: FinishResult;
  /** A refusal has said how much the model can really read. */
  readonly onWindow?: (model: string, tokens: number) => void;
  readonly random?: () => number;
}

type EndEvent = Extract<TurnEvent, { type: 'end' }>;
type UsageEvent = Extract<TurnEvent, { type: 'usage' }>;

interface Turn {
  readonly deps: AgentDeps;
  readonly input: TurnInput;
  readonly watch: TurnWatch;
  readonly routes: RouteCursor;
  readonly rows: TranscriptMessage[];
  readonly room: RoomKeeper;
  readonly draft: Draft;
  /** Of calls whose message is not out yet. */
  readonly usage: UsageEvent[];
  /** Of how many the model is at work on. */
  step: number;
}

const defaultMaxIterations = 90;
const maxContinuations = 3;
const maxEmptyAnswers = 2;
const maxStrikes = 3;
const continuationTokens = 32_768;

const continueText = 'Your answer was cut off by the output limit. Continue exactly where it stopped, without repeating or introducing anything.';
const graceText = '[All steps for this request are used up. Do not call another tool: answer now with what you have, and say what is left to do.]';

/** A failure of the turn that has its own sentence. */
class TurnFailed extends Error {
  readonly code: string;

  constructor(code: string, sentence: string) {
    super(sentence);
    this.name = 'TurnFailed';
    this.code = code;
  }
}

const isBlank = (text: string): boolean => text.trim() === '';

/** Each continuation may write twice as much as the part before it. */
const outputLimit = (turn: Turn, continued: number): number | undefined => {
  const limit = turn.deps.maxOutputTokens;
  return limit === undefined ? undefined : Math.min(limit * 2 ** continued, Math.max(limit, continuationTokens));
};

/** What may be called, and what has to be. Whoever has to call something gets only what ends the turn: with ours it would never end. */
const toolsFor = ({ deps, input }: Turn, how: { readonly first: boolean; readonly withTools: boolean }): Pick<ModelRequest, 'tools' | 'toolChoice'> => {
  const { clientTools = [], toolChoice } = input;
  const theirs = new Set(clientTools.map(({ name }) => name));
  const tools = theirs.size === 0 ? deps.tools.definitions : [...deps.tools.definitions.filter(({ name }) => !theirs.has(name)), ...clientTools];
  if (!how.withTools) return { tools, toolChoice: 'none' };
  if (!how.first || toolChoice === undefined) return { tools };
  return { tools: toolChoice === 'none' ? tools : clientTools, toolChoice };
};

const requestFor = (turn: Turn, messages: readonly TranscriptMessage[], how: { readonly continued: number; readonly withTools: boolean }): ModelRequest => {
  const { continued, withTools } = how;
  const limit = outputLimit(turn, continued);
  const unfinished: readonly TranscriptMessage[] = [
    { role: 'assistant', content: turn.draft.text },
    { role: 'user', content: continueText },
  ];
  return {
    model: turn.input.model ?? turn.deps.model,
    system: turn.input.system,
    messages: continued > 0 ? [...messages, ...unfinished] : messages,
    ...toolsFor(turn, { first: turn.step === 1, withTools }),
    ...(turn.input.reasoningEffort !== undefined && { reasoningEffort: turn.input.reasoningEffort }),
    ...(limit !== undefined && { maxOutputTokens: limit }),
  };
};

/** One call; undefined when the request was too long for the model and the next one is shorter. */
async function* ask(turn: Turn, request: ModelRequest): AsyncGenerator<TurnEvent, Finish | undefined, undefined> {
  const { deps, watch, draft, routes, room } = turn;
  const { clock, log, maxRetries, random = Math.random } = deps;
  const said = draft.text.length;
  try {
    const finish = yield* callModel({ routes, clock, log, watch, maxRetries, random, onCall: turn.input.onModelCall }, request, draft);
    room.answered(finish.usage);
    return finish;
  } catch (error) {
    if (error instanceof ModelError && error.facts.windowTokens !== undefined) deps.onWindow?.(request.model, error.facts.windowTokens);
    if (draft.text.length > said || !(await room.shortenedAfter(error))) throw error;
    return undefined;
  }
}

/** Has the model write one message into the draft: again when it says nothing, on when the output limit cuts it off. */
async function* compose(turn: Turn, messages: () => readonly TranscriptMessage[], withTools: boolean): AsyncGenerator<TurnEvent, Finish, undefined> {
  const { deps, draft } = turn;
  const { log } = deps;
  let continued = 0;
  let empty = 0;
  for (;;) {
    await turn.room.prepare();
    const finish = yield* ask(turn, requestFor(turn, messages(), { continued, withTools }));
    if (finish === undefined) continue;
    turn.usage.push({ type: 'usage', usage: finish.usage, model: finish.model });
    if (finish.reason === 'content_filter') throw new ModelError('content_blocked', 'the provider filtered the answer');
    const calls = withTools ? finish.toolCalls : [];
    if (isBlank(draft.text) && calls.length === 0) {
      empty += 1;
      if (empty > maxEmptyAnswers) throw new TurnFailed('empty_answer', 'The model answered with nothing, several times. Please try again or put it differently.');
      log.warn({ attempt: empty }, 'model.empty_answer');
      draft.text = '';
      draft.reasoning = '';
      yield { type: 'retrying', attempt: empty, delayMs: 0, reason: 'empty_answer' };
      continue;
    }
    if (finish.reason !== 'length' || calls.length > 0 || continued === maxContinuations) return { ...finish, toolCalls: calls };
    continued += 1;
  }
}

/** Hands out the draft as a finished row, and with it what its calls used. */
function* release(turn: Turn, finishReason: string, toolCalls: Finish['toolCalls'] = []): Generator<TurnEvent, void, undefined> {
  const { draft, rows, usage } = turn;
  if (!isBlank(draft.text) || toolCalls.length > 0) {
    const message: TranscriptMessage = {
      role: 'assistant',
      content: draft.text.toWellFormed(),
      finishReason,
      ...(toolCalls.length > 0 && { toolCalls }),
      ...(draft.reasoning !== '' && { reasoning: draft.reasoning.toWellFormed() }),
      ...(draft.replay !== undefined && { replay: draft.replay }),
    };
    draft.text = '';
    draft.reasoning = '';
    draft.replay = undefined;
    rows.push(message);
    yield { type: 'message', message };
  }
  yield* usage.splice(0);
}

/** All of what was handed over is given out, also when the turn is ended meanwhile: none of it may fall between two turns. */
async function* steer(turn: Turn): AsyncGenerator<TurnEvent, void, undefined> {
  const texts = await turn.watch.guard(Promise.resolve(turn.input.steering()));
  for (const content of texts) {
    const message: TranscriptMessage = { role: 'user', content };
    turn.rows.push(message);
    yield { type: 'message', message };
  }
}

/** The steps are used up: one answer in words, asked for at the end of the last tool result so that no role is out of order. */
async function* lastWords(turn: Turn, steps: number): AsyncGenerator<TurnEvent, EndEvent, undefined> {
  const messages = (): readonly TranscriptMessage[] => {
    const last = turn.rows.at(-1);
    return last === undefined ? turn.rows : [...turn.rows.slice(0, -1), { ...last, content: `${last.content}\n\n${graceText}` }];
  };
  try {
    const finish = yield* compose(turn, messages, false);
    yield* release(turn, finish.reason);
  } catch (error) {
    if (!(error instanceof TurnFailed)) throw error;
    turn.draft.text = `I used all ${steps} steps that one request may take, and had to stop.`;
    yield* release(turn, 'limit');
  }
  return { type: 'end', reason: 'limit' };
}

const roundOf = ({ deps, input, watch, rows }: Turn): Omit<ToolRound, 'cut'> => ({
  input,
  transcript: () => rows,
  watch,
  tools: deps.tools,
  clock: deps.clock,
  log: deps.log,
  ...(deps.finishResult !== undefined && { finishResult: deps.finishResult }),
});

/** Calls that were waiting for a person when the process ended have had no effect yet: they are made again and find their question. */
async function* askAgain(turn: Turn): AsyncGenerator<TurnEvent, void, undefined> {
  const { rows } = turn;
  const { unansweredCalls } = turn.input;
  if (unansweredCalls === undefined) return;
  const index = rows.findLastIndex((row) => row.role === 'assistant');
  const answered = new Set(rows.slice(index + 1).map((row) => row.toolCallId));
  const calls = (rows[index]?.toolCalls ?? []).filter((call) => unansweredCalls.has(call.id) && !answered.has(call.id));
  const { results } = yield* runToolCalls(calls, { ...roundOf(turn), cut: false });
  rows.push(...results);
}

const isTheirs = ({ clientTools }: TurnInput, { name }: ToolCall): boolean => clientTools?.some((tool) => tool.name === name) === true;

async function* converse(turn: Turn): AsyncGenerator<TurnEvent, EndEvent, undefined> {
  const { input, watch, rows } = turn;
  const steps = input.limits.maxIterations ?? defaultMaxIterations;
  let strikes = 0;
  yield* askAgain(turn);
  for (let step = 1; step <= steps; step += 1) {
    turn.step = step;
    watch.check();
    yield* steer(turn);
    const finish = yield* compose(turn, () => rows, true);
    yield* release(turn, finish.reason, finish.toolCalls);
    if (finish.toolCalls.length === 0) return { type: 'end', reason: 'completed' };
    const round = { ...roundOf(turn), cut: finish.reason === 'length' };
    const ours = finish.toolCalls.filter((call) => !isTheirs(input, call));
    const { results, refused } = yield* runToolCalls(ours, round);
    rows.push(...results);
    if (ours.length < finish.toolCalls.length) return { type: 'end', reason: 'completed' };
    strikes = refused ? strikes + 1 : 0;
    if (strikes === maxStrikes) throw new TurnFailed('bad_tool_calls', 'The model kept calling tools in a way that cannot be run. Please try again.');
  }
  return yield* lastWords(turn, steps);
}

/** Ends a turn that could not be completed; what was said so far is kept, unless the turn will run again. */
function* breakOff(turn: Turn, error: unknown): Generator<TurnEvent, void, undefined> {
  const { deps, input, draft } = turn;
  if (error instanceof TurnEnded) {
    if (error.ending === 'suspended') draft.text = '';
    yield* release(turn, 'interrupted');
    yield endOfTurn(error, input.limits);
    return;
  }
  const incomplete = isBlank(draft.text) ? '' : ' The answer above is incomplete.';
  if (error instanceof ModelError) {
    deps.log.warn({ code: error.code, status: error.status, reason: error.message }, 'turn.model_error');
    yield* release(turn, error.code === 'content_blocked' ? 'content_filter' : 'cut');
    yield { type: 'end', reason: 'model_error', error: { code: error.code, sentence: `${error.rule.sentence}${incomplete}` } };
    return;
  }
  yield* release(turn, 'cut');
  if (error instanceof TurnFailed) {
    deps.log.warn({ code: error.code }, 'turn.model_error');
    yield { type: 'end', reason: 'model_error', error: { code: error.code, sentence: error.message } };
    return;
  }
  const errorId = newId('err', deps.clock.now());
  deps.log.error({ err: error, errorId }, 'turn.crashed');
  yield { type: 'end', reason: 'internal_error', error: { code: 'internal', sentence: `Something went wrong inside the gateway (${errorId}).${incomplete}` } };
}

async function* runTurn(agent: AgentDeps, input: TurnInput, signal: AbortSignal): AsyncGenerator<TurnEvent, void, undefined> {
  const deps = { ...agent, log: turnLog(agent.log, input) };
  const watch = watchTurn({ clock: deps.clock, limits: input.limits, signal });
  const routes = newRouteCursor({ provider: deps.provider, model: input.model ?? deps.model }, deps.fallbacks);
  const rows = [...input.transcript];
  const turn: Turn = { deps, input, watch, routes, rows, room: newRoomKeeper(rows, input.room, watch), draft: { text: '', reasoning: '', replay: undefined }, usage: [], step: 0 };
  try {
    yield yield* converse(turn);
  } catch (error) {
    yield* breakOff(turn, error);
  } finally {
    watch.close();
  }
}

/** An agent of one provider, one model and one set of tools. It keeps nothing between turns. */
export const newAgent = (deps: AgentDeps): Agent => ({ run: (input, signal) => runTurn(deps, input, signal) });
