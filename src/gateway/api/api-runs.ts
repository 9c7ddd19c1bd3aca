import type { Clock } from '../../lib/clock.ts';
import { findApiCall, progressOfCall } from '../../store/api/api-calls.ts';
import type { ApiCall } from '../../store/api/api-calls.ts';
import { newestRunEvent } from '../../store/api/api-run-events.ts';
import type { StoredRunEvent } from '../../store/api/api-run-events.ts';
import { openTurnQuestions } from '../../store/agents/questions.ts';
import type { Store } from '../../store/store.ts';
import type { KeptRequest } from './api-gate.ts';
import { answerRun } from './answer-run.ts';
import type { RunAnswer, RunAnswered } from './answer-run.ts';
import { followRun } from './follow-run.ts';
import { apiAccount } from './place.ts';
import { steerRun } from './steer-run.ts';

export const runKind = 'run';

export interface FoundRun<Wire> {
  readonly call: ApiCall<KeptRequest<Wire>>;
  readonly state: 'queued' | 'running' | 'waiting_for_approval' | 'stopping' | 'ended';
  readonly last: StoredRunEvent | undefined;
}

/** Runs, to whoever has submitted them: they are calls that go on without their client. */
export interface ApiRuns {
  /** One of a key's own runs as it stands now. */
  find<Wire>(of: { readonly id: string; readonly keyId: string }): Promise<FoundRun<Wire> | undefined>;
  /** What has happened and will happen, behind an event, until the signal comes. */
  follow(id: string, afterSeq: number, signal: AbortSignal): AsyncGenerator<StoredRunEvent, void, undefined>;
  answer(answer: RunAnswer): Promise<RunAnswered>;
  steer(run: { readonly id: string; readonly sessionId: string }, text: string): Promise<'accepted' | 'not_running' | 'queue_full'>;
}

export const newApiRuns = ({ store, clock }: { readonly store: Store; readonly clock: Clock }): ApiRuns => ({
  find: <Wire>(of: { readonly id: string; readonly keyId: string }) =>
    store.read(async (db): Promise<FoundRun<Wire> | undefined> => {
      const call = await findApiCall<KeptRequest<Wire>>(db, { ...of, kind: runKind });
      if (call === undefined) return undefined;
      const last = await newestRunEvent(db, of.id);
      if (call.result !== undefined) return { call, state: 'ended', last };
      const { state, turnId, stopping } = await progressOfCall(db, { id: of.id, account: apiAccount });
      if (state === 'waiting' || turnId === null) return { call, state: 'queued', last };
      if (stopping) return { call, state: 'stopping', last };
      const isAsking = (await openTurnQuestions(db, turnId)).some(({ leftMs }) => leftMs > 0);
      return { call, state: isAsking ? 'waiting_for_approval' : 'running', last };
    }),
  follow: (id, afterSeq, signal) => followRun({ store, clock }, { id, afterSeq }, signal),
  answer: (answer) => store.write((tx) => answerRun(tx, answer)),
  steer: (run, text) => store.write((tx) => steerRun(tx, run, { text, nowMs: clock.now() })),
});
