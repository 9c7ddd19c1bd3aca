import type { TranscriptMessage } from '../../core/transcript.ts';
import type { Logger } from '../../lib/logger.ts';
import { findAcpSession } from '../../store/agents/acp-sessions.ts';
import type { AcpSession } from '../../store/agents/acp-sessions.ts';
import type { Store } from '../../store/store.ts';
import { textOf } from '../models/wires/json-fields.ts';
import { AgentGone } from './acp-process.ts';
import type { AcpProcess, LiveSession } from './acp-process.ts';
import { saidSince, splitTranscript } from './transcript-mark.ts';

export interface SessionWish {
  readonly sessionId: string;
  readonly turnId: string;
  readonly transcript: readonly TranscriptMessage[];
  readonly maker: string;
  readonly cwd: string;
  readonly store: Store;
  readonly log: Logger;
}

export interface OpenedSession {
  readonly live: LiveSession;
  /** What the agent has still to be told as the request. */
  readonly asked: readonly TranscriptMessage[];
  /** What was said before that and the agent does not remember. */
  readonly history: readonly TranscriptMessage[];
  /** The request was handed over before, by a gateway that has ended since. */
  readonly isRepeated: boolean;
}

/** A turn whose request was handed over once, to an agent that cannot say what became of it. */
export class RequestLost extends Error {
  constructor() {
    super('the agent does not remember the request that it was given');
    this.name = 'RequestLost';
  }
}

/** More sessions than these are not kept open in one process. */
const mostLive = 100;

/** Whether the error is the agent's answer, and the connection is as good as before. */
export const isAnswer = (error: unknown): boolean => error instanceof Error && 'code' in error && typeof error.code === 'number';

const takeUp = async (process: AcpProcess, acpId: string, wish: SessionWish): Promise<LiveSession | undefined> => {
  const { loads, resumes } = process.abilities;
  if (!loads && !resumes) return undefined;
  try {
    await process.agent.request(resumes ? 'session/resume' : 'session/load', { sessionId: acpId, cwd: wish.cwd, mcpServers: [] });
    return { acpId, settled: Promise.resolve(true), costUsd: undefined, isBusy: false };
  } catch (error) {
    if (!isAnswer(error)) throw error;
    wish.log.info({ session: wish.sessionId, err: error }, 'acp.session_not_found');
    return undefined;
  }
};

const begin = async (process: AcpProcess, { cwd }: SessionWish): Promise<LiveSession> => {
  const answer = await process.agent.request('session/new', { cwd, mcpServers: [] });
  const acpId = textOf(answer.sessionId);
  if (acpId === undefined) throw new AgentGone('work', 'gave a session no id');
  return { acpId, settled: Promise.resolve(true), costUsd: 0, isBusy: false };
};

/** The session is the newest one now; the oldest that is idle makes room. */
const remember = async (process: AcpProcess, live: LiveSession, { sessionId, log }: SessionWish): Promise<void> => {
  process.sessions.delete(sessionId);
  process.sessions.set(sessionId, live);
  const idle = process.sessions.size > mostLive ? [...process.sessions].find(([id, each]) => id !== sessionId && !each.isBusy) : undefined;
  if (idle === undefined) return;
  process.sessions.delete(idle[0]);
  if (!process.abilities.closes) return;
  try {
    await process.agent.request('session/close', { sessionId: idle[1].acpId });
  } catch (error) {
    if (!isAnswer(error)) throw error;
    log.debug({ err: error }, 'acp.session_not_closed');
  }
};

const known = async (wish: SessionWish): Promise<AcpSession | undefined> => {
  const kept = await wish.store.read((db) => findAcpSession(db, wish.sessionId));
  return kept?.maker === wish.maker ? kept : undefined;
};

/** The session as it is open in this process, unless the agent is still stuck in its last request. */
const openOne = async (process: AcpProcess, wish: SessionWish, kept: AcpSession): Promise<LiveSession | undefined> => {
  const live = process.sessions.get(wish.sessionId);
  if (live === undefined || live.acpId !== kept.acpId) return takeUp(process, kept.acpId, wish);
  return (await live.settled) ? live : undefined;
};

/**
 * Finds the agent's own session for a conversation, in this process or on its disk, or begins one. A conversation that was changed since then is told
 * anew from the start. A request that was handed over before is never handed over to a session that may not know of it.
 */
export const openSession = async (process: AcpProcess, wish: SessionWish): Promise<OpenedSession> => {
  const { transcript, turnId } = wish;
  const kept = await known(wish);
  const isRepeated = kept?.turnId === turnId;
  const { before, asked } = splitTranscript(transcript);
  const since = kept === undefined ? undefined : isRepeated ? requestOf(transcript) : saidSince(transcript, kept.seen);
  const found = kept === undefined || since === undefined ? undefined : await openOne(process, wish, kept);
  if (found === undefined && isRepeated) throw new RequestLost();
  const live = found ?? (await begin(process, wish));
  await remember(process, live, wish);
  return found !== undefined && since !== undefined ? { live, asked: since, history: [], isRepeated } : { live, asked, history: before, isRepeated: false };
};

/** What people said last, also when the agent has said something since. */
const requestOf = (transcript: readonly TranscriptMessage[]): readonly TranscriptMessage[] => {
  const end = transcript.findLastIndex((row) => row.role === 'user') + 1;
  return splitTranscript(transcript.slice(0, end)).asked;
};
