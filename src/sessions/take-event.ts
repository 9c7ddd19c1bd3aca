import type { TranscriptMessage, Usage } from '../core/transcript.ts';
import { addUsage, noUsage } from '../core/transcript.ts';
import type { TurnEvent } from '../core/turn.ts';
import { enqueueText } from '../delivery/compose.ts';
import type { LivePreview } from '../delivery/preview.ts';
import { isSilentReply } from '../delivery/silence.ts';
import type { ToolProgress } from '../delivery/tool-progress.ts';
import { joinTurn, waitingItems } from '../store/messages/inbox.ts';
import type { InboxItem } from '../store/messages/inbox.ts';
import { heldLane } from '../store/lanes/lanes.ts';
import { persist } from '../store/persist.ts';
import { findSession } from '../store/sessions/sessions.ts';
import type { Reading } from '../store/store.ts';
import { appendMessage } from '../store/sessions/transcripts.ts';
import { recordPreview } from '../store/sessions/turns.ts';
import type { BegunTurn } from './begin.ts';
import { preparedText } from './prepared-text.ts';
import type { TurnParts, TurnSignals } from './turn-parts.ts';
import type { ItemGroup } from './user-message.ts';
import { groupItems, isAnsweredAt, userMessage } from './user-message.ts';
import { noMedia, writeGroup } from './write-group.ts';
import { appendToTurn, writeToTurn } from './write-to-turn.ts';
import type { TurnWrites } from './write-to-turn.ts';

const mostSteered = 20;

/** The state of one turn while its events come in. */
export interface Progress {
  usage: Usage;
  /** What the model read in its last call, as it counted. */
  promptTokens: number | undefined;
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
  /** Comes when nobody waits any longer for files: a person's /stop or a shutdown. */
  readonly halt: AbortSignal;
  readonly writes: TurnWrites;
}

export const newProgress = (parts: TurnParts, begun: BegunTurn, { halt, patience }: TurnSignals): Progress => ({
  halt,
  writes: { store: parts.store, clock: parts.clock, log: parts.log, signal: patience },
  usage: noUsage,
  promptTokens: undefined,
  model: null,
  final: undefined,
  parts: 0,
  preview: parts.preview(begun, 0),
  tools: parts.progress(begun),
  end: undefined,
  asked: false,
  steered: [],
});

/** What people have said to the running turn since it began: everything in a conversation that steers, otherwise what was meant for it. In order, up to what has files or came from elsewhere. */
export const steering = async (parts: TurnParts, begun: BegunTurn, progress: Progress): Promise<readonly string[]> => {
  const { lane } = begun.claim;
  const look = async (db: Reading): Promise<ItemGroup[]> => {
    const waiting = await waitingItems(db, lane, mostSteered);
    const session = waiting.length === 0 ? undefined : await findSession(db, begun.session.id);
    if (session === undefined || (await heldLane(db, lane)).holdMs > 0) return [];
    const steers = parts.policy.busyMode(session) === 'steer';
    const meant: InboxItem[] = [];
    // What is denied stays behind, to be turned away when a turn begins.
    for (const item of waiting) if ((steers || item.event.steers === true) && (await parts.policy.denied?.(db, item.event)) === undefined) meant.push(item);
    return groupItems(meant);
  };
  const groups = await persist(() => parts.store.read(look), progress.writes);
  const fits = ({ event }: InboxItem): boolean => event.media.length === 0 && isAnsweredAt(begun.turn.target, event);
  const end = groups.findIndex((group) => !group.every(fits));
  const taken = end === -1 ? groups : groups.slice(0, end);
  progress.steered.push(...taken);
  return taken.map((group) => userMessage(group, noMedia, parts.policy.isShared(group)).content);
};

/** A message that was steered into the turn belongs to it from now on. */
const writeSteered = (parts: TurnParts, begun: BegunTurn, { writes }: Progress, group: ItemGroup): Promise<void> =>
  writeToTurn(writes, begun, async (tx) => {
    await joinTurn(tx, group.map((item) => item.id), begun.turn.id);
    return writeGroup(tx, begun.turn, group, { media: noMedia, shared: parts.policy.isShared(group) });
  });

/** Text that comes with tool calls is said now, above whatever the tools lead to; row and delivery commit together. */
const sayBeforeTools = async (parts: TurnParts, begun: BegunTurn, progress: Progress, message: TranscriptMessage): Promise<void> => {
  // A preview that an earlier attempt has left goes on to wait for a text.
  const quiet = parts.policy.settle?.(begun.turn) !== undefined || (progress.preview?.isShown !== true && parts.display(begun)?.interim_assistant_messages === false);
  if (quiet || message.content.trim() === '' || isSilentReply(message.content)) return appendToTurn(progress.writes, begun, [message]);
  const finishes = await progress.preview?.finish(progress.halt);
  const prepared = await preparedText(parts, begun, { text: message.content, halt: progress.halt });
  const platform = parts.policy.platform(begun.turn.target.account);
  await writeToTurn(progress.writes, begun, async (tx) => {
    const rowId = await appendMessage(tx, { sessionId: begun.session.id, turnId: begun.turn.id }, message);
    await recordPreview(tx, begun.turn.id, null);
    if (platform === undefined) throw new Error(`the account ${begun.turn.target.account} has no platform`);
    await enqueueText(tx, platform, { key: `turn:${begun.turn.id}:row:${rowId}`, target: begun.turn.target, ...prepared, turnId: begun.turn.id, ...(finishes !== undefined && { finishes }) });
    return rowId;
  });
  progress.parts += 1;
  progress.preview = parts.preview(begun, progress.parts);
};

const onMessage = async (parts: TurnParts, begun: BegunTurn, progress: Progress, message: TranscriptMessage): Promise<void> => {
  const steered = message.role === 'user' ? progress.steered.shift() : undefined;
  if (steered !== undefined) return writeSteered(parts, begun, progress, steered);
  if (message.role === 'assistant' && (message.toolCalls ?? []).length > 0) return sayBeforeTools(parts, begun, progress, message);
  if (message.role !== 'assistant') return appendToTurn(progress.writes, begun, [message]);
  if (progress.final !== undefined) await appendToTurn(progress.writes, begun, [progress.final]);
  progress.final = message;
};

/** Takes in one event of the agent: what it says is shown, what has to last is stored before the agent goes on. */
export const takeEvent = async (parts: TurnParts, begun: BegunTurn, progress: Progress, event: TurnEvent): Promise<void> => {
  for (const screened of parts.screen === undefined ? [event] : await parts.screen(begun, event)) await takeScreened(parts, begun, progress, screened);
};

const takeScreened = async (parts: TurnParts, begun: BegunTurn, progress: Progress, event: TurnEvent): Promise<void> => {
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
      if (event.helper === true) return;
      progress.promptTokens = event.usage.inputTokens;
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
