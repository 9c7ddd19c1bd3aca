import type { Agent, AskPerson, TurnAbort, TurnLimits, TurnPlace } from '../agent/contract.ts';
import { resumeTranscript } from '../agent/resume-transcript.ts';
import { StoreError } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import type { TranscriptMessage, Usage } from '../core/transcript.ts';
import { addUsage, noUsage } from '../core/transcript.ts';
import type { TurnEvent } from '../core/turn.ts';
import { enqueueText } from '../delivery/compose.ts';
import type { DisplaySettings } from '../delivery/display.ts';
import type { LivePreview } from '../delivery/preview.ts';
import { shownReasoning } from '../delivery/shown-reasoning.ts';
import { isSilentReply } from '../delivery/silence.ts';
import type { ToolProgress } from '../delivery/tool-progress.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { joinTurn, waitingItems } from '../store/inbox.ts';
import type { InboxItem } from '../store/inbox.ts';
import { heldLane, holdLane } from '../store/lanes.ts';
import { unansweredCalls } from '../store/questions.ts';
import { findSession } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';
import { appendMessage } from '../store/transcripts.ts';
import { recordPreview } from '../store/turns.ts';
import { askPerson } from './ask-person.ts';
import type { AttachmentOptions } from './attachments.ts';
import { loadAttachments } from './attachments.ts';
import type { BegunTurn, BeginPolicy } from './begin.ts';
import { writeGroup } from './begin.ts';
import { appendToTurn, turnLeaseMs } from './commit.ts';
import type { TurnResult } from './commit.ts';
import type { ContextLimits } from './load-context.ts';
import { loadContext } from './load-context.ts';
import type { TurnEnd } from './turn-answer.ts';
import { answerOf, isSilent } from './turn-answer.ts';
import type { ItemGroup, LoadedMedia } from './user-message.ts';
import { groupItems, isAnsweredAt, userMessage } from './user-message.ts';

/** Who answers in a session, and with what. */
export interface Answering {
  readonly agent: Agent;
  readonly system: string;
  readonly context: Omit<ContextLimits, 'fixedBytes'>;
  readonly limits: TurnLimits;
  readonly asyncDelivery: boolean;
  readonly place: TurnPlace;
  /** Somebody is there who can be asked. */
  readonly attended: boolean;
}

export interface TurnParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly policy: BeginPolicy;
  readonly attachments: AttachmentOptions;
  answering(begun: BegunTurn): Promise<Answering>;
  /** Undefined where answers are not shown while they are written. `part` counts the texts of the turn that stand above it. */
  preview(begun: BegunTurn, part: number): LivePreview | undefined;
  typing(begun: BegunTurn): Disposable;
  /** Undefined where the agent's work is not shown, or in the platform's own way. */
  progress(begun: BegunTurn): ToolProgress | undefined;
  display(begun: BegunTurn): DisplaySettings | undefined;
  onEvent?(begun: BegunTurn, event: TurnEvent): void;
}

/** What ends a turn early. The reason of each is a `TurnAbort`. */
export interface TurnSignals {
  /** A newer message, a person's /stop or a shutdown. */
  readonly turn: AbortSignal;
  /** Only what does not wait for files either: a person's /stop or a shutdown. */
  readonly halt: AbortSignal;
}

const isSuspended = (halt: AbortSignal): boolean => halt.aborted && (halt.reason as TurnAbort).kind === 'suspended';

const noMedia: LoadedMedia = { attachments: [], notes: [] };
const mostSteered = 20;

/** The state of one turn while its events come in. */
interface Progress {
  usage: Usage;
  model: string | null;
  /** The last assistant message, kept back so that it commits together with its delivery. */
  final: TranscriptMessage | undefined;
  parts: number;
  preview: LivePreview | undefined;
  readonly tools: ToolProgress | undefined;
  end: Extract<TurnEvent, { type: 'end' }> | undefined;
  /** Somebody was asked something. */
  asked: boolean;
  steered: ItemGroup[];
}

/** Fetches the files of messages and writes those messages into the transcript, in order. */
const writeRest = async (parts: TurnParts, begun: BegunTurn, halt: AbortSignal): Promise<void> => {
  for (const group of begun.unwritten) {
    const media = await loadAttachments(parts.attachments, group, halt);
    if (isSuspended(halt)) return;
    await parts.store.write(async (tx) => {
      await holdLane(tx, begun.claim, turnLeaseMs);
      await writeGroup(tx, begun.turn, group, { media, shared: parts.policy.isShared(group) });
    });
  }
};

interface LoadedTranscript {
  readonly rows: readonly TranscriptMessage[];
  /** Calls at its end that were waiting for a person: they have done nothing yet. */
  readonly unanswered: ReadonlySet<string>;
}

/** The transcript as the model gets it. Tool calls that a crash left open are answered with "interrupted", never run again, unless they were only waiting for a person. */
const loadTranscript = async (parts: TurnParts, begun: BegunTurn, answering: Answering): Promise<LoadedTranscript> => {
  const fixedBytes = Buffer.byteLength(answering.system);
  const rows = await loadContext(parts.store, begun.session.id, { ...answering.context, fixedBytes });
  if (!begun.resumed) return { rows, unanswered: new Set() };
  const unanswered = await parts.store.read((db) => unansweredCalls(db, begun.turn.id));
  const missing = resumeTranscript(rows, unanswered);
  if (missing.length > 0) await appendToTurn(parts.store, begun, missing);
  return { rows: [...rows, ...missing], unanswered };
};

/** What people have said to the running turn since it began: everything in a conversation that steers, otherwise what was meant for it. In order, up to what has files or came from elsewhere. */
const steering = async (parts: TurnParts, begun: BegunTurn, progress: Progress): Promise<readonly string[]> => {
  const { lane } = begun.claim;
  const groups = await parts.store.read(async (db) => {
    const session = await findSession(db, begun.session.id);
    if (session === undefined || (await heldLane(db, lane)).holdMs > 0) return [];
    const steers = parts.policy.busyMode(session) === 'steer';
    return groupItems((await waitingItems(db, lane, mostSteered)).filter(({ event }) => steers || event.steers === true));
  });
  const fits = ({ event }: InboxItem): boolean => event.media.length === 0 && isAnsweredAt(begun.turn.target, event);
  const end = groups.findIndex((group) => !group.every(fits));
  const taken = end === -1 ? groups : groups.slice(0, end);
  progress.steered.push(...taken);
  return taken.map((group) => userMessage(group, noMedia, parts.policy.isShared(group)).content);
};

/** A message that was steered into the turn belongs to it from now on. */
const writeSteered = (parts: TurnParts, begun: BegunTurn, group: ItemGroup): Promise<void> =>
  parts.store.write(async (tx) => {
    await holdLane(tx, begun.claim, turnLeaseMs);
    await joinTurn(tx, group.map((item) => item.id), begun.turn.id);
    await writeGroup(tx, begun.turn, group, { media: noMedia, shared: parts.policy.isShared(group) });
  });

/** Text that comes with tool calls is said now, above whatever the tools lead to; row and delivery commit together. */
const sayBeforeTools = async (parts: TurnParts, begun: BegunTurn, progress: Progress, message: TranscriptMessage): Promise<void> => {
  // A preview that an earlier attempt has left goes on to wait for a text.
  const quiet = progress.preview?.isShown !== true && parts.display(begun)?.interim_assistant_messages === false;
  if (quiet || message.content.trim() === '' || isSilentReply(message.content)) return appendToTurn(parts.store, begun, [message]);
  const finishes = await progress.preview?.finish();
  const platform = parts.policy.platform(begun.turn.target.account);
  await parts.store.write(async (tx) => {
    await holdLane(tx, begun.claim, turnLeaseMs);
    const rowId = await appendMessage(tx, { sessionId: begun.session.id, turnId: begun.turn.id }, message);
    await recordPreview(tx, begun.turn.id, null);
    if (platform === undefined) throw new Error(`the account ${begun.turn.target.account} has no platform`);
    await enqueueText(tx, platform, { key: `turn:${begun.turn.id}:row:${rowId}`, target: begun.turn.target, text: message.content, turnId: begun.turn.id, ...(finishes !== undefined && { finishes }) });
  });
  progress.parts += 1;
  progress.preview = parts.preview(begun, progress.parts);
};

const onMessage = async (parts: TurnParts, begun: BegunTurn, progress: Progress, message: TranscriptMessage): Promise<void> => {
  const steered = message.role === 'user' ? progress.steered.shift() : undefined;
  if (steered !== undefined) return writeSteered(parts, begun, steered);
  if (message.role === 'assistant' && (message.toolCalls ?? []).length > 0) return sayBeforeTools(parts, begun, progress, message);
  if (message.role !== 'assistant') return appendToTurn(parts.store, begun, [message]);
  if (progress.final !== undefined) await appendToTurn(parts.store, begun, [progress.final]);
  progress.final = message;
};

const onEvent = async (parts: TurnParts, begun: BegunTurn, progress: Progress, event: TurnEvent): Promise<void> => {
  parts.onEvent?.(begun, event);
  progress.tools?.onEvent(event);
  switch (event.type) {
    case 'text':
      progress.preview?.push(event.delta);
      return;
    case 'message':
      return onMessage(parts, begun, progress, event.message);
    case 'usage':
      progress.usage = addUsage(progress.usage, event.usage);
      progress.model = event.model;
      return;
    case 'end':
      progress.end = event;
      return;
    case 'reasoning':
    case 'tool_started':
    case 'tool_finished':
    case 'retrying':
      return;
    default:
      throw event satisfies never;
  }
};

const endOf = (parts: TurnParts, begun: BegunTurn, progress: Progress): TurnEnd => {
  const end = progress.end ?? { type: 'end' as const, reason: 'internal_error' as const };
  const text = progress.final?.content ?? '';
  if (end.error === undefined) return { reason: end.reason, text };
  // What broke inside the agent has an id already.
  if (end.reason === 'internal_error') return { reason: end.reason, text, sentence: end.error.sentence };
  const errorId = newId('err', parts.clock.now());
  parts.log.warn({ turn: begun.turn.id, session: begun.session.id, reason: end.reason, code: end.error.code, error_id: errorId }, 'turn.failed');
  return { reason: end.reason, text, sentence: end.error.sentence, errorId };
};

/** Hands the turn to the agent and takes in what comes of it. */
const converse = async (parts: TurnParts, begun: BegunTurn, progress: Progress, signal: AbortSignal): Promise<void> => {
  const answering = await parts.answering(begun);
  const transcript = await loadTranscript(parts, begun, answering);
  progress.asked = transcript.unanswered.size > 0;
  const person = askPerson({ store: parts.store, clock: parts.clock, platform: (account) => parts.policy.platform(account) }, begun);
  const ask: AskPerson = async (question, from, waiting) => {
    if (!answering.attended) return { type: 'unattended' };
    progress.asked = true;
    return person(question, from, waiting);
  };
  const input = {
    sessionId: begun.session.id,
    turnId: String(begun.turn.id),
    system: answering.system,
    transcript: transcript.rows,
    steering: () => steering(parts, begun, progress),
    asyncDelivery: answering.asyncDelivery,
    limits: answering.limits,
    place: answering.place,
    ask,
    ...(transcript.unanswered.size > 0 && { unansweredCalls: transcript.unanswered }),
    ...(begun.session.settings.model !== undefined && { model: begun.session.settings.model }),
  };
  for await (const event of answering.agent.run(input, signal)) await onEvent(parts, begun, progress, event);
};

/** A fault of ours ends the turn with a notice and an id that both the log and the person see; it never takes the process down. */
const brokenOff = (parts: TurnParts, begun: BegunTurn, error: unknown): TurnEnd => {
  const errorId = newId('err', parts.clock.now());
  parts.log.error({ err: error, turn: begun.turn.id, session: begun.session.id, error_id: errorId }, 'turn.broke');
  return { reason: 'internal_error', text: '', sentence: 'Something went wrong on my side.', errorId };
};

/** What people see of the end: what the model thought above it and facts about the turn below it, where they are wanted. */
const shownEnd = (parts: TurnParts, begun: BegunTurn, done: { end: TurnEnd; progress: Progress }): TurnEnd => {
  const { end, progress } = done;
  const display = parts.display(begun);
  if (display === undefined || end.reason !== 'completed' || isSilent(end)) return end;
  const thought = display.show_reasoning ? shownReasoning(progress.final?.reasoning) : '';
  return thought === '' ? end : { ...end, text: `${thought}\n\n${end.text}` };
};

/**
 * Runs a turn to its end. Undefined when it was put down for a shutdown. Everything it did so far is stored; its end is the caller's to
 * commit. Rejects only when the store does.
 */
export const runTurn = async (parts: TurnParts, begun: BegunTurn, signals: TurnSignals): Promise<TurnResult | undefined> => {
  const progress: Progress = { usage: noUsage, model: null, final: undefined, parts: 0, preview: parts.preview(begun, 0), tools: parts.progress(begun), end: undefined, asked: false, steered: [] };
  using _typing = parts.typing(begun);
  let end: TurnEnd;
  try {
    await writeRest(parts, begun, signals.halt);
    if (isSuspended(signals.halt)) return undefined;
    await converse(parts, begun, progress, signals.turn);
    if (progress.end?.reason === 'suspended') return undefined;
    end = endOf(parts, begun, progress);
  } catch (error) {
    if (error instanceof StoreError) throw error;
    end = brokenOff(parts, begun, error);
  } finally {
    await progress.preview?.finish();
    await progress.tools?.[Symbol.asyncDispose]();
  }
  const answer = answerOf(shownEnd(parts, begun, { end, progress }), { target: begun.turn.target, preview: await progress.preview?.finish() });
  // What nobody was shown was not said: the model would take the person's message for answered.
  const unseen = answer === undefined && (end.reason === 'interrupted' || end.reason === 'stopped');
  return {
    reason: isSilent(end) ? 'silent' : end.reason,
    error: end.sentence ?? null,
    model: progress.model,
    usage: progress.usage,
    asked: progress.asked,
    messages: progress.final === undefined || unseen ? [] : [progress.final],
    answer,
  };
};
