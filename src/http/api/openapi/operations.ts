import type { z } from 'zod';
import { chatRequest } from '../chat/request.ts';
import { jobListQuery, jobRequests } from '../jobs/routes.ts';
import { inputItemsQuery } from '../responses/routes.ts';
import { responseRequest } from '../responses/request.ts';
import { retrieveQuery } from '../responses/take-up.ts';
import { approvalRequest, runRequest, steerRequest } from '../runs/request.ts';
import { runEventsQuery } from '../runs/routes.ts';
import { sessionChatRequest } from '../sessions/chat.ts';
import { sessionListQuery, sessionMessagesQuery, sessionRequests } from '../sessions/routes.ts';
import type { AnswerName } from './schemas.ts';

/** What a call takes and answers, beside what its route says itself. */
export interface Operation {
  readonly summary: string;
  readonly body?: z.ZodType;
  readonly query?: z.ZodObject;
  /** Request headers by name. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: 101 | 200 | 201 | 202;
  readonly answer?: AnswerName;
  /** Of each `data:` of a stream. */
  readonly event?: AnswerName;
}

const once = { 'Idempotency-Key': 'A repeat under the same name within 24 hours is answered again and not carried out again.' };
const place = { 'X-Hermes-Chat-Id': 'What routes can match.', 'X-Hermes-User-Id': 'What routes can match.', 'X-Hermes-Thread-Id': 'What routes can match.' };
const conversation = { ...place, 'X-Hermes-Session-Id': 'Continues this session.', 'X-Hermes-Session-Key': 'Continues the session of this name, or begins it.' };

/** Every call by the name of its route. */
export const operations: Readonly<Record<string, Operation>> = {
  models: { summary: 'Lists the agents as models', status: 200, answer: 'ModelList' },
  model: { summary: 'Shows an agent as a model', status: 200, answer: 'Model' },
  chat_completions: { summary: 'Answers a conversation of the client', body: chatRequest, headers: { ...once, ...conversation }, status: 200, answer: 'ChatCompletion', event: 'ChatCompletionChunk' },
  responses: { summary: 'Makes a response', body: responseRequest, headers: { ...once, ...conversation }, status: 200, answer: 'Response', event: 'ResponseEvent' },
  responses_websocket: { summary: 'Makes responses over a WebSocket: each `response.create` message is answered with events', headers: conversation, status: 101 },
  response: { summary: 'Shows a response, or streams it', query: retrieveQuery, status: 200, answer: 'Response', event: 'ResponseEvent' },
  response_delete: { summary: 'Forgets a response; its conversation stays', status: 200, answer: 'ResponseDeleted' },
  response_cancel: { summary: 'Ends the work on a response', status: 200, answer: 'Response' },
  response_input_items: { summary: 'Lists what a response was asked', query: inputItemsQuery, status: 200, answer: 'ResponseInputItems' },
  runs: { summary: 'Has a run begun that goes on by itself', body: runRequest, headers: { ...once, ...conversation }, status: 202, answer: 'RunStarted' },
  run: { summary: 'Shows a run as it stands', status: 200, answer: 'Run' },
  run_events: { summary: 'Streams what has happened and happens in a run', query: runEventsQuery, headers: { 'Last-Event-ID': 'Goes on behind the event with this id.' }, status: 200, event: 'RunEvent' },
  run_stop: { summary: 'Stops a run', status: 200, answer: 'RunStopped' },
  run_approval: { summary: 'Answers what a run has asked', body: approvalRequest, status: 200, answer: 'RunApproval' },
  run_steer: { summary: 'Says something to a run that goes on', body: steerRequest, status: 202, answer: 'RunSteer' },
  sessions: { summary: 'Lists the sessions of the key, those that were active last first', query: sessionListQuery, status: 200, answer: 'SessionList' },
  session_create: { summary: 'Opens a session', body: sessionRequests.createRequest, status: 201, answer: 'Session' },
  session: { summary: 'Shows a session', status: 200, answer: 'Session' },
  session_change: { summary: 'Renames or ends a session', body: sessionRequests.changeRequest, status: 200, answer: 'Session' },
  session_delete: { summary: 'Deletes a session and all that was said in it', status: 200, answer: 'SessionDeleted' },
  session_fork: { summary: 'Goes on in a copy of a session', body: sessionRequests.forkRequest, status: 201, answer: 'Session' },
  session_messages: { summary: 'Lists what was said in a session, oldest first', query: sessionMessagesQuery, status: 200, answer: 'SessionMessages' },
  session_chat: { summary: 'Says something in a session', body: sessionChatRequest, headers: { ...once, ...place }, status: 200, answer: 'SessionChat' },
  session_chat_stream: { summary: 'Says something in a session and streams how it is answered', body: sessionChatRequest, headers: place, status: 200, event: 'SessionChatEvent' },
  jobs: { summary: 'Lists jobs: those that the key has made, or all with the scope admin', query: jobListQuery, status: 200, answer: 'JobList' },
  job_create: { summary: 'Makes a job', body: jobRequests.createRequest, status: 201, answer: 'Job' },
  job: { summary: 'Shows a job', status: 200, answer: 'Job' },
  job_change: { summary: 'Changes a job', body: jobRequests.changeRequest, status: 200, answer: 'Job' },
  job_delete: { summary: 'Deletes a job', status: 200, answer: 'JobDeleted' },
  job_pause: { summary: 'Pauses a job', status: 200, answer: 'Job' },
  job_resume: { summary: 'Resumes a job', status: 200, answer: 'Job' },
  job_run: { summary: 'Runs a job now', headers: once, status: 200, answer: 'Job' },
  health_detailed: { summary: 'Tells how the gateway is', status: 200, answer: 'Health' },
  capabilities: { summary: 'Tells what this server can do', status: 200, answer: 'Capabilities' },
  openapi: { summary: 'This document', status: 200, answer: 'Document' },
};
