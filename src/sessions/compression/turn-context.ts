import type { ShortenRequest, TurnRoom } from '../../agent/contract.ts';
import { addUsage, noUsage } from '../../core/transcript.ts';
import type { Usage } from '../../core/transcript.ts';
import type { CompressionCause } from '../../store/sessions/compressions.ts';
import type { Claim } from '../../store/lanes/lanes.ts';
import type { ContextFacts, Session } from '../../store/sessions/sessions.ts';
import { newestSketches } from '../../store/sessions/transcripts.ts';
import { readContext } from '../load-context.ts';
import type { LoadedContext } from '../load-context.ts';
import { estimateTokens } from '../../agent/context.ts';
import { lastLevel } from './boundaries.ts';
import type { Level } from './boundaries.ts';
import { compress } from './compress.ts';
import type { CompressionResult } from './compress.ts';
import type { CompressionParts } from './job.ts';
import { roomLimits } from './limits.ts';
import type { ReaderFacts, RoomLimits } from './limits.ts';

/** A conversation whose lane is held, and who will read it. */
export interface HeldConversation {
  readonly claim: Claim;
  readonly session: Session;
  readonly reader: ReaderFacts;
}

/** What one turn knows and does about the room it has. */
export interface TurnContext {
  /** Before the turn: makes room if it is due, then loads what the model is shown. An abort only leaves out the former. */
  load(signal: AbortSignal): Promise<LoadedContext>;
  /** For the agent, with what was loaded. */
  room(loaded: LoadedContext): TurnRoom;
  /** What summaries have used so far. */
  usage(): Usage;
  readonly facts: ContextFacts;
}

/** In a row, without an answer of the model in between. */
const mostAttempts = 3;
/** A model that refused a request as too long gets this much of it. */
const refusedShare = 0.6;

/** Real tokens per estimated one, as far as it can be believed. */
export const scaleOf = (tokens: number, estimatedTokens: number): number => Math.min(3, Math.max(0.5, tokens / Math.max(1, estimatedTokens)));

export const newTurnContext = (parts: CompressionParts, held: HeldConversation): TurnContext => {
  const { claim, session, reader } = held;
  const { store, options } = parts;
  const limits = roomLimits(options, reader);
  let usage = noUsage;
  let attempts = 0;
  let attemptedAtId = 0;

  /** Attempts count together until the model has said something again. */
  const countAttempt = async (): Promise<boolean> => {
    const [newest] = await store.read((db) => newestSketches(db, session.id, { limit: 1 }));
    if ((newest?.id ?? 0) > attemptedAtId) attempts = 0;
    attemptedAtId = newest?.id ?? 0;
    attempts += 1;
    return attempts <= mostAttempts;
  };

  const shrink = async (room: RoomLimits, need: { cause: CompressionCause; goalTokens: number; scale: number; level: Level }, signal: AbortSignal): Promise<CompressionResult['end']> => {
    const result = await compress(parts, { sessionId: session.id, claim, room, ...need }, signal);
    usage = addUsage(usage, result.usage);
    return result.end;
  };

  const reread = async (room: RoomLimits, scale: number, budgetTokens = room.budgetTokens): Promise<LoadedContext> => {
    const loaded = await readContext(store, session.id, { fixedTokens: room.fixedTokens, budgetTokens });
    return { ...loaded, tokens: Math.round(loaded.estimatedTokens * scale) };
  };

  const isDue = (loaded: LoadedContext): boolean =>
    options.enabled && (!loaded.whole || loaded.tokens - limits.fixedTokens > limits.thresholdTokens || loaded.messages > options.max_messages);

  const load = async (signal: AbortSignal): Promise<LoadedContext> => {
    const loaded = await readContext(store, session.id, { fixedTokens: limits.fixedTokens, budgetTokens: limits.budgetTokens, prompt: session.prompt });
    if (signal.aborted || !isDue(loaded) || !(await countAttempt())) return loaded;
    const scale = scaleOf(loaded.tokens, loaded.estimatedTokens);
    const end = await shrink(limits, { cause: 'threshold', goalTokens: limits.thresholdTokens, scale, level: 0 }, signal);
    return end === 'compressed' ? reread(limits, scale) : loaded;
  };

  const shorten = async (request: ShortenRequest, signal: AbortSignal): ReturnType<TurnRoom['shorten']> => {
    if (!(await countAttempt())) return undefined;
    const level = (request.refused ? Math.min(attempts - 1, lastLevel) : 0) as Level;
    const room = request.windowTokens === undefined ? limits : roomLimits(options, { ...reader, contextTokens: request.windowTokens });
    const before = await readContext(store, session.id, { fixedTokens: room.fixedTokens, budgetTokens: Infinity });
    const scale = scaleOf(request.tokens, before.estimatedTokens);
    const goalTokens = request.refused ? Math.min(room.thresholdTokens, Math.floor((request.tokens - room.fixedTokens) * refusedShare)) : room.thresholdTokens;
    const end = options.enabled ? await shrink(room, { cause: request.refused ? 'overflow' : 'threshold', goalTokens, scale, level }, signal) : 'nothing';
    if (end === 'compressed') return reread(room, scale);
    if (!request.refused) return undefined;
    // Without a summary the oldest part is left out of the request, as long as there is something that can be.
    const rest = await reread(room, scale, Math.floor(goalTokens / scale));
    return rest.tokens < request.tokens ? rest : undefined;
  };

  return {
    load,
    room: (loaded) => ({ tokens: loaded.tokens, limitTokens: options.enabled ? limits.fixedTokens + limits.thresholdTokens : Infinity, shorten }),
    usage: () => usage,
    facts: { window: limits.windowTokens, threshold: limits.fixedTokens + limits.thresholdTokens, system: estimateTokens(reader.systemBytes), tools: estimateTokens(reader.toolBytes) },
  };
};
