import { isApproval } from '../../../agent/approvals/approval-question.ts';
import type { Usage } from '../../../core/transcript.ts';
import { choicesOf } from '../../../gateway/api/answer-run.ts';
import type { FoundRun } from '../../../gateway/api/api-runs.ts';
import { eventsOfResult } from '../../../gateway/api/follow-call.ts';
import { questionCode } from '../../../store/agents/questions.ts';
import type { ApiCallResult } from '../../../store/api/api-calls.ts';
import type { RunEvent, StoredRunEvent } from '../../../store/api/api-run-events.ts';
import { answerSteps, finalAnswer } from '../answer.ts';
import { ApiError } from '../api-error.ts';
import type { ErrorBody } from '../api-error.ts';

type Json = Readonly<Record<string, unknown>>;

/** What is kept of a run's request. */
export interface RunWire {
  readonly model: string;
  /** Whoever has submitted it may allow things for good. */
  readonly admin: boolean;
}

type RunStatus = 'queued' | 'running' | 'waiting_for_approval' | 'stopping' | 'completed' | 'failed' | 'cancelled';

/** How a run has ended. */
interface RunEnd {
  readonly status: Extract<RunStatus, 'completed' | 'failed' | 'cancelled'>;
  readonly output: string | null;
  readonly usage: Usage;
  readonly error: ErrorBody | null;
}

const wireUsage = ({ inputTokens, outputTokens }: Usage): Json => ({ input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: inputTokens + outputTokens });

async function* replayed(result: ApiCallResult) {
  yield* eventsOfResult(result);
}

const saidIn = ({ rows }: ApiCallResult): string | null => rows.map(({ content }) => content).filter((text) => text !== '').join('\n\n') || null;

const endOf = async (result: ApiCallResult): Promise<RunEnd> => {
  const { usage } = result;
  if (result.reason === 'stopped' || result.reason === 'interrupted') return { status: 'cancelled', output: saidIn(result), usage, error: null };
  try {
    return { status: 'completed', output: (await finalAnswer(answerSteps(replayed(result), () => false))).text, usage, error: null };
  } catch (error) {
    if (error instanceof ApiError) return { status: 'failed', output: saidIn(result), usage, error: error.body };
    throw error;
  }
};

const seconds = (ms: number): number => Math.floor(ms / 1000);

/** A run as it stands now. */
export const runResource = async ({ call, state, last }: FoundRun<RunWire>): Promise<Json> => {
  const end = call.result === undefined ? undefined : await endOf(call.result);
  return {
    object: 'hermes.run',
    run_id: call.id,
    status: (state === 'ended' ? (end?.status ?? 'failed') : state) satisfies RunStatus,
    created_at: seconds(call.createdAtMs),
    updated_at: seconds(call.endedAtMs ?? last?.atMs ?? call.createdAtMs),
    session_id: call.sessionId,
    model: call.request.wire.model,
    last_event: last === undefined ? null : nameOf(last.event, end),
    output: end?.output ?? null,
    usage: end === undefined ? null : wireUsage(end.usage),
    error: end?.error ?? null,
  };
};

const nameOf = (event: RunEvent, end: RunEnd | undefined): string => {
  switch (event.type) {
    case 'text':
    case 'said':
      return 'message.delta';
    case 'reasoning':
      return 'reasoning.delta';
    case 'tool_started':
      return 'tool.started';
    case 'tool_finished':
      return 'tool.completed';
    case 'asked':
      return 'approval.request';
    case 'answered':
      return 'approval.responded';
    case 'steered':
      return 'run.steered';
    case 'resumed':
      return 'run.resumed';
    case 'end':
      return `run.${end?.status ?? 'failed'}`;
    default:
      throw event satisfies never;
  }
};

const fieldsOf = ({ event, atMs }: StoredRunEvent, wire: RunWire, end: RunEnd | undefined): Json => {
  switch (event.type) {
    case 'text':
    case 'reasoning':
      return { delta: event.delta };
    case 'said':
      return {};
    case 'tool_started':
      return { tool: event.name, tool_call_id: event.callId, preview: event.preview };
    case 'tool_finished':
      return { tool: event.name, tool_call_id: event.callId, duration: Math.round(event.durationMs) / 1000, error: !event.ok, ...(event.interrupted === true && { interrupted: true }) };
    case 'asked': {
      const { question } = event;
      const kind = isApproval(question) ? 'approval' : 'question';
      return {
        approval_id: questionCode(event.questionId),
        kind,
        text: question.text,
        choices: choicesOf(question, wire.admin),
        free_text: kind === 'question' && (question.freeText === true || question.options.length === 0),
        tool_call_id: event.callId,
        expires_at: seconds(atMs + question.timeoutMs),
      };
    }
    case 'answered':
      return { approval_id: questionCode(event.questionId), choice: event.choice, resolved: 1 };
    case 'steered':
      return { text: event.text, applied: event.missed !== true };
    case 'resumed':
      return { kept_through: event.keptThrough };
    case 'end':
      if (end?.status === 'completed') return { output: end.output, usage: wireUsage(end.usage) };
      return end?.status === 'cancelled' ? {} : { error: end?.error ?? null };
    default:
      throw event satisfies never;
  }
};

/** An event as readers get it; undefined for one that is not for them. */
export const runEvent = async (stored: StoredRunEvent, run: { readonly id: string; readonly wire: RunWire; result(): Promise<ApiCallResult | undefined> }): Promise<Json | undefined> => {
  if (stored.event.type === 'said') return undefined;
  const result = stored.event.type === 'end' ? await run.result() : undefined;
  const end = result === undefined ? undefined : await endOf(result);
  return { event: nameOf(stored.event, end), run_id: run.id, timestamp: stored.atMs / 1000, ...fieldsOf(stored, run.wire, end) };
};
