import { setImmediate as nextRound } from 'node:timers/promises';
import type { ContentBlock, PromptResponse, RequestPermissionOutcome, RequestPermissionRequest } from '@agentclientprotocol/sdk';
import { newId } from '../../core/ids.ts';
import type { TurnEvent } from '../../core/turn.ts';
import { slept } from '../../lib/clock.ts';
import { keepAcpSession } from '../../store/agents/acp-sessions.ts';
import type { TurnInput } from '../contract.ts';
import { endOfTurn } from '../end-of-turn.ts';
import { turnLog } from '../turn-log.ts';
import { TurnEnded, watchTurn } from '../turn-watch.ts';
import type { TurnWatch } from '../turn-watch.ts';
import type { AcpAgentDeps } from './acp-agent.ts';
import type { AcpHost } from './acp-host.ts';
import { AgentGone } from './acp-process.ts';
import type { AcpProcess, LiveSession, SessionListener } from './acp-process.ts';
import { isAnswer, openSession, RequestLost } from './acp-session.ts';
import type { OpenedSession } from './acp-session.ts';
import { allowing, permissionQuestion } from './permission.ts';
import { historyText, promptBlocks, restartText } from './prompt-blocks.ts';
import { markOf } from './transcript-mark.ts';
import { TurnFeed } from './turn-feed.ts';
import { usageOf } from './turn-usage.ts';

interface AcpTurnDeps extends Omit<AcpAgentDeps, 'options'> {
  readonly host: AcpHost;
  readonly maker: string;
  readonly command: readonly [string, ...string[]];
}

interface Turn {
  readonly deps: AcpTurnDeps;
  readonly input: TurnInput;
  readonly watch: TurnWatch;
  readonly feed: TurnFeed;
  /** How many questions wait for a person. */
  asking: number;
}

/** How long opening a session may take. */
const openMs = 60_000;
/** How long an agent has to let go of a request that was cancelled. */
const cancelMs = 5_000;
const maxDetailChars = 200;

/** A failure of the agent, in a sentence for the person. */
class TurnFailed extends Error {
  readonly code: string;

  constructor(code: string, sentence: string) {
    super(sentence);
    this.name = 'TurnFailed';
    this.code = code;
  }
}

const cancelled: RequestPermissionOutcome = { outcome: 'cancelled' };

/** Asks the person whose turn it is; when that cannot be, or goes wrong, the answer is no. */
const askPermission = async (turn: Turn, request: RequestPermissionRequest, agent: string): Promise<RequestPermissionOutcome> => {
  const { deps, input, watch } = turn;
  const timeoutMs = deps.approvalTimeoutMs();
  const { question, callId, outcome } = permissionQuestion(request, { agent, timeoutMs });
  turn.asking += 1;
  watch.alive(timeoutMs);
  try {
    if (await deps.approvesAll(input.sessionId)) return allowing(request) ?? cancelled;
    return outcome(await input.ask(question, { callId, index: 1 }, watch.signal));
  } catch (error) {
    if (!watch.signal.aborted) deps.log.error({ err: error }, 'acp.permission_failed');
    return cancelled;
  } finally {
    turn.asking -= 1;
    watch.alive();
  }
};

const folderOf = ({ deps, input }: Turn): string => input.place.workdir ?? deps.cwd;

const listenerOf = (turn: Turn, live: LiveSession, agent: string): SessionListener => ({
  folder: folderOf(turn),
  update(update) {
    if (turn.asking === 0) turn.watch.alive();
    if (update.type === 'cost') live.costUsd = update.usd;
    else turn.feed.push(update);
  },
  permission: (request) => askPermission(turn, request, agent),
});

/** Waits for work that must not take longer than this; what comes later is dropped. */
const within = async <T>(turn: Turn, ms: number, work: Promise<T>): Promise<T> => {
  const done = new AbortController();
  const late = slept(turn.deps.clock, ms, done.signal).then((isLate): never | Promise<T> => {
    if (isLate) throw new AgentGone('work', `did not answer within ${ms / 1000} s`);
    return work;
  });
  try {
    return await turn.watch.guard(Promise.race([work, late]));
  } finally {
    done.abort();
  }
};

const blocksFor = async (turn: Turn, opened: OpenedSession, process: AcpProcess): Promise<ContentBlock[]> => {
  const { mediaFolder, log } = turn.deps;
  const said = await promptBlocks(opened.asked, { mediaFolder, log, images: process.abilities.images });
  const before = opened.isRepeated ? restartText : historyText(opened.history);
  return before === undefined ? said : [{ type: 'text', text: before }, ...said];
};

/** A request under way, and how it ended once it has. */
interface Request {
  readonly settled: Promise<void>;
  answer?: PromptResponse;
  failure?: unknown;
}

const isSettled = ({ answer, failure }: Request): boolean => answer !== undefined || failure !== undefined;

const send = (process: AcpProcess, acpId: string, prompt: ContentBlock[]): Request => {
  const request: { -readonly [K in keyof Request]: Request[K] } = { settled: Promise.resolve() };
  request.settled = process.agent.request('session/prompt', { sessionId: acpId, prompt }).then(
    (answer) => void (request.answer = answer),
    (error: unknown) => void (request.failure = error),
  );
  return request;
};

/** Gives out what comes until the agent has answered. */
async function* follow({ feed, watch }: Turn, request: Request): AsyncGenerator<TurnEvent, PromptResponse, undefined> {
  for (;;) {
    watch.check();
    yield* feed.take();
    if (feed.isFull) throw new TurnFailed('too_long', 'The agent wrote without end and was stopped.');
    if (isSettled(request)) break;
    await watch.guard(Promise.race([feed.changed, request.settled]));
  }
  // What the agent sent before its answer may still be on its way to us.
  await nextRound();
  if (request.answer === undefined) throw request.failure;
  return request.answer;
}

/** Takes a request back; resolves when the agent has obeyed, or with false when it has had its time. Never rejects. */
const takeBack = async (turn: Turn, at: { readonly process: AcpProcess; readonly live: LiveSession; readonly request: Request }): Promise<boolean> => {
  const { host, clock, log } = turn.deps;
  const { process, live, request } = at;
  process.agent.notify('session/cancel', { sessionId: live.acpId }).catch((error: unknown) => log.debug({ err: error }, 'acp.cancel_failed'));
  const obeyed = new AbortController();
  void request.settled.then(() => obeyed.abort());
  const isLate = await slept(clock, cancelMs, obeyed.signal);
  live.isBusy = false;
  if (isLate) {
    log.warn({}, 'acp.cancel_ignored');
    host.retire(process, 'unresponsive');
  }
  host.release(process);
  return !isLate;
};

const endOf = (turn: Turn, answer: PromptResponse): Extract<TurnEvent, { type: 'end' }> => {
  switch (answer.stopReason) {
    case 'end_turn':
    case 'max_tokens':
      if (!turn.feed.saidAnything) throw new TurnFailed('empty_answer', 'The agent ended without an answer. Please try again or put it differently.');
      return { type: 'end', reason: 'completed' };
    case 'max_turn_requests':
      return { type: 'end', reason: 'limit' };
    case 'refusal':
      throw new TurnFailed('content_blocked', 'The agent refused to answer this.');
    case 'cancelled':
      throw new TurnFailed('cancelled', 'The agent broke off by itself. Please try again.');
    default:
      answer.stopReason satisfies never;
      throw new TurnFailed('malformed', 'The agent ended in a way that is not known here.');
  }
};

async function* converse(turn: Turn, process: AcpProcess, opened: OpenedSession): AsyncGenerator<TurnEvent, void, undefined> {
  const { deps, input, watch, feed } = turn;
  const { live } = opened;
  const blocks = await watch.guard(blocksFor(turn, opened, process));
  const handedOver = { maker: deps.maker, acpId: live.acpId, seen: markOf(input.transcript), turnId: input.turnId };
  await watch.guard(deps.store.write((tx) => keepAcpSession(tx, input.sessionId, handedOver)));
  const costBefore = live.costUsd;
  using _listening = process.listen(live.acpId, listenerOf(turn, live, process.abilities.name));
  const request = send(process, live.acpId, blocks);
  live.isBusy = true;
  try {
    const answer = yield* follow(turn, request);
    const end = endOf(turn, answer);
    deps.host.succeeded();
    yield* feed.end(answer.stopReason === 'max_tokens' ? 'length' : 'stop');
    const usage = usageOf(answer, { before: costBefore, after: live.costUsd });
    if (usage !== undefined) yield { type: 'usage', usage, model: process.abilities.name };
    yield end;
  } finally {
    if (isSettled(request)) live.isBusy = false;
    else {
      process.turns += 1;
      live.settled = takeBack(turn, { process, live, request });
    }
  }
}

/** A run of the program for this turn. One that comes too late for it is given back. */
const borrow = async (turn: Turn): Promise<AcpProcess> => {
  const { host, log } = turn.deps;
  const acquired = host.acquire();
  try {
    return await turn.watch.guard(acquired);
  } catch (error) {
    acquired.then(
      (process) => host.release(process),
      (late: unknown) => log.debug({ err: late }, 'acp.start_dropped'),
    );
    throw error;
  }
};

async function* work(turn: Turn): AsyncGenerator<TurnEvent, void, undefined> {
  const { deps, input, watch } = turn;
  const { ms, failures } = deps.host.wait;
  if (ms > 0) {
    yield { type: 'retrying', attempt: failures, delayMs: ms, reason: 'agent_crashed' };
    await watch.guard(deps.clock.sleep(ms, watch.signal));
  }
  const process = await borrow(turn);
  try {
    const { sessionId, turnId, transcript } = input;
    const { maker, store, log } = deps;
    const opened = await within(turn, openMs, openSession(process, { sessionId, turnId, transcript, maker, cwd: folderOf(turn), store, log }));
    yield* converse(turn, process, opened);
  } catch (error) {
    // Whatever is under way when the program goes fails, each thing in its own words.
    const gone = process.isOver && !isExpected(error) ? new AgentGone('work', 'the agent is gone', { cause: error }) : error;
    // One that hangs helps nobody either.
    if (gone instanceof AgentGone) deps.host.retire(process, 'failed');
    throw gone;
  } finally {
    deps.host.release(process);
  }
}

const isExpected = (error: unknown): boolean => error instanceof TurnEnded || error instanceof TurnFailed || error instanceof RequestLost || error instanceof AgentGone || isAnswer(error);

const detail = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, maxDetailChars).toWellFormed();

/** -32000 is the protocol's own code for a login that is missing. */
const loginNeeded = -32_000;

const failureOf = (turn: Turn, error: unknown): { readonly code: string; readonly sentence: string } | undefined => {
  const name = turn.deps.command[0];
  if (error instanceof TurnFailed) return { code: error.code, sentence: error.message };
  if (error instanceof RequestLost) return { code: 'interrupted', sentence: 'I was interrupted by a restart in the middle of this, and the agent does not remember it. What it had done may have taken effect; nothing was started again. Ask me again if it is still needed.' };
  if (error instanceof AgentGone && error.stage === 'start') return { code: 'unreachable', sentence: `The agent \`${name}\` could not be started. The owner has to check its \`command\`; the log says more.` };
  if (error instanceof AgentGone) return { code: 'agent_crashed', sentence: `The agent \`${name}\` ended in the middle of its work. It is started again for your next message.` };
  if (!isAnswer(error) || !(error instanceof Error)) return undefined;
  if ('code' in error && error.code === loginNeeded) return { code: 'auth', sentence: `The agent \`${name}\` wants a login. The owner has to log in with it once, in a terminal.` };
  return { code: 'agent_error', sentence: `The agent reported an error: ${detail(error.message)}` };
};

/** Ends a turn that could not be completed; what was said so far is kept, unless the turn will run again. */
function* breakOff(turn: Turn, error: unknown): Generator<TurnEvent, void, undefined> {
  const { deps, input, feed } = turn;
  if (error instanceof TurnEnded) {
    if (error.ending !== 'suspended') yield* feed.end('interrupted');
    yield endOfTurn(error, input.limits);
    return;
  }
  const failure = failureOf(turn, error);
  yield* feed.end('cut');
  if (failure !== undefined) {
    deps.log.warn({ code: failure.code, err: error }, 'acp.turn_failed');
    yield { type: 'end', reason: 'model_error', error: { ...failure, sentence: `${failure.sentence}${feed.saidAnything ? ' The answer above is incomplete.' : ''}` } };
    return;
  }
  const errorId = newId('err', deps.clock.now());
  deps.log.error({ err: error, errorId }, 'turn.crashed');
  yield { type: 'end', reason: 'internal_error', error: { code: 'internal', sentence: `Something went wrong inside the gateway (${errorId}).` } };
}

/** One turn of an agent that is another program. */
export async function* runAcpTurn(agent: AcpTurnDeps, input: TurnInput, signal: AbortSignal): AsyncGenerator<TurnEvent, void, undefined> {
  const deps = { ...agent, log: turnLog(agent.log, input) };
  const watch = watchTurn({ clock: deps.clock, limits: input.limits, signal });
  const turn: Turn = { deps, input, watch, feed: new TurnFeed(() => deps.clock.now()), asking: 0 };
  try {
    yield* work(turn);
  } catch (error) {
    yield* breakOff(turn, error);
  } finally {
    watch.close();
  }
}
