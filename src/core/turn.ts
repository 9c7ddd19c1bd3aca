import type { TranscriptMessage, Usage } from './transcript.ts';

/** Why a turn ended. Closed: whoever reads it handles every case. */
export type ExitReason =
  | 'completed'
  | 'silent' // the model chose to say nothing
  | 'interrupted' // a newer message took over
  | 'stopped' // a person said /stop
  | 'deadline'
  | 'limit' // iterations used up
  | 'model_error'
  | 'internal_error'
  | 'suspended' // the process is shutting down; the turn continues after the next start
  | 'set_aside' // it ended the process too often
  | 'cut_off'; // the process was away for too long to go on by itself

/**
 * What happens in a turn, in order. `message` is a finished row: whoever pulls the stream stores it before pulling on,
 * so that an assistant message with tool calls is durable before its tools run.
 */
export type TurnEvent =
  | { readonly type: 'text'; readonly delta: string }
  | { readonly type: 'reasoning'; readonly delta: string }
  | { readonly type: 'tool_started'; readonly callId: string; readonly name: string; readonly preview: string }
  | { readonly type: 'tool_finished'; readonly callId: string; readonly name: string; readonly ok: boolean; readonly durationMs: number }
  | { readonly type: 'message'; readonly message: TranscriptMessage }
  /** `helper`: of work that a tool handed to others; it says nothing about how long this conversation is, or who answers in it. */
  | { readonly type: 'usage'; readonly usage: Usage; readonly model: string; readonly helper?: true }
  /** `instead` names who is asked from now on, when it is somebody else. */
  | { readonly type: 'retrying'; readonly attempt: number; readonly delayMs: number; readonly reason: string; readonly instead?: string }
  | { readonly type: 'end'; readonly reason: ExitReason; readonly error?: { readonly code: string; readonly sentence: string } };
