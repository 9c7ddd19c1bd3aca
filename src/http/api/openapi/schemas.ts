import { z } from 'zod';

const text = z.string();
const nullable = z.string().nullable();
const seconds = z.int().describe('Seconds since 1970.');
const tokens = z.object({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() });
const error = z.object({ message: text, type: z.enum(['invalid_request_error', 'rate_limit_error', 'server_error']), param: nullable, code: nullable });
const listOf = <Item extends z.ZodType>(item: Item) => z.object({ object: z.literal('list'), data: z.array(item), has_more: z.boolean() });

const model = z.object({ id: text, object: z.literal('model'), created: seconds, owned_by: text });

const chatCompletion = z.looseObject({
  id: text,
  object: z.literal('chat.completion'),
  created: seconds,
  model: text,
  choices: z.array(z.looseObject({ index: z.int(), message: z.looseObject({ role: z.literal('assistant'), content: nullable }), finish_reason: z.enum(['stop', 'length', 'tool_calls', 'content_filter']) })),
  usage: z.looseObject({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() }),
});

const response = z.looseObject({
  id: text,
  object: z.literal('response'),
  created_at: seconds,
  status: z.enum(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled']),
  model: text,
  output: z.array(z.looseObject({ type: text, id: text })),
  previous_response_id: nullable,
});

const run = z.object({
  object: z.literal('hermes.run'),
  run_id: text,
  status: z.enum(['queued', 'running', 'waiting_for_approval', 'stopping', 'completed', 'failed', 'cancelled']),
  created_at: seconds,
  updated_at: seconds,
  session_id: text,
  model: text,
  last_event: nullable,
  output: nullable,
  usage: tokens.nullable(),
  error: error.nullable(),
});

const inRun = { run_id: text, timestamp: z.number() };

const runEvent = z.discriminatedUnion('event', [
  z.object({ event: z.literal('message.delta'), ...inRun, delta: text }),
  z.object({ event: z.literal('reasoning.delta'), ...inRun, delta: text }),
  z.object({ event: z.literal('tool.started'), ...inRun, tool: text, tool_call_id: text, preview: text }),
  z.object({ event: z.literal('tool.completed'), ...inRun, tool: text, tool_call_id: text, duration: z.number(), error: z.boolean(), interrupted: z.boolean().optional() }),
  z.object({ event: z.literal('approval.request'), ...inRun, approval_id: text, kind: z.enum(['approval', 'question']), text, choices: z.array(text), free_text: z.boolean(), tool_call_id: nullable, expires_at: seconds }),
  z.object({ event: z.literal('approval.responded'), ...inRun, approval_id: text, choice: text, resolved: z.int() }),
  z.object({ event: z.literal('run.steered'), ...inRun, text, applied: z.boolean() }),
  z.object({ event: z.literal('run.resumed'), ...inRun, kept_through: z.int().describe('Of what was said behind the event with this id, nothing counts any more: it is said again.') }),
  z.object({ event: z.literal('run.completed'), ...inRun, output: nullable, usage: tokens }),
  z.object({ event: z.literal('run.failed'), ...inRun, error: error.nullable() }),
  z.object({ event: z.literal('run.cancelled'), ...inRun }),
]);

const session = z.object({
  id: text,
  title: nullable,
  source: text,
  agent: text,
  model: text,
  system_prompt: nullable,
  parent_session_id: nullable,
  created_at: seconds,
  last_active: seconds,
  ended_at: seconds.nullable(),
  end_reason: nullable,
  message_count: z.int(),
  usage: tokens,
});

const sessionMessage = z.object({
  id: z.int(),
  role: z.enum(['user', 'assistant', 'tool']),
  content: text,
  created_at: seconds,
  tool_calls: z.array(z.object({ id: text, type: z.literal('function'), function: z.object({ name: text, arguments: text }) })).optional(),
  tool_call_id: text.optional(),
  tool_name: text.optional(),
  attachments: z.array(z.object({ kind: text, mime: text, name: text })).optional(),
});

const inChat = { session_id: text, run_id: text, seq: z.int(), ts: z.number() };

const jobRun = z.object({
  run: z.int(),
  job: text,
  due: text,
  cause: text,
  state: text,
  started: nullable,
  ended: nullable,
  error: text.optional(),
  note: text.optional(),
  delivery: z.enum(['none', 'pending', 'delivered', 'failed']),
  delivery_errors: z.array(text).optional(),
  session: nullable,
});

const job = z.object({
  id: text,
  name: text,
  agent: text,
  state: z.enum(['scheduled', 'paused', 'completed']),
  enabled: z.boolean(),
  schedule: text,
  timezone: text,
  next_run: nullable,
  runs_left: z.int().nullable(),
  deliver: text,
  failure_deliver: text.optional(),
  missed: text,
  overlap: z.enum(['skip', 'queue', 'parallel']),
  prompt: text,
  skills: z.array(text),
  script: text.optional(),
  no_agent: z.boolean().optional(),
  context_from: z.array(text).optional(),
  model: text.optional(),
  toolsets: z.array(text).optional(),
  workdir: text.optional(),
  mirror: z.boolean().optional(),
  paused_reason: text.optional(),
  failures_in_a_row: z.int(),
  last_run: jobRun.nullable(),
});

/** What the API answers, by the name in its document. Answers in the form of OpenAI's API are described as far as every client relies on them; the rest is in OpenAI's own document. */
export const answers = {
  Error: z.object({ error }),
  Model: model,
  ModelList: z.object({ object: z.literal('list'), data: z.array(model) }),
  Capabilities: z.looseObject({ object: z.literal('hermes.api_server.capabilities'), features: z.record(text, z.boolean()), endpoints: z.record(text, z.object({ method: text, path: text })) }),
  Health: z.object({ status: z.enum(['ok', 'degraded']), platform: text, version: text, pid: z.int(), agents: z.array(text), running_turns: z.int(), platforms: z.record(text, z.object({ state: text, detail: text.optional(), last_evidence: text.nullable() })) }),
  Document: z.looseObject({ openapi: text, info: z.looseObject({ title: text }), paths: z.record(text, z.unknown()) }),
  ChatCompletion: chatCompletion,
  ChatCompletionChunk: z.looseObject({ id: text.optional(), object: text.optional(), choices: z.array(z.looseObject({ index: z.int() })).optional(), error: error.optional() }),
  Response: response,
  ResponseEvent: z.looseObject({ type: text, sequence_number: z.int() }),
  ResponseDeleted: z.object({ id: text, object: z.literal('response'), deleted: z.literal(true) }),
  ResponseInputItems: z.looseObject({ object: z.literal('list'), data: z.array(z.looseObject({ type: text })), has_more: z.boolean() }),
  RunStarted: z.object({ run_id: text, status: z.literal('started'), session_id: text }),
  Run: run,
  RunEvent: runEvent,
  RunStopped: z.object({ run_id: text, status: run.shape.status }),
  RunApproval: z.object({ object: z.literal('hermes.run.approval_response'), run_id: text, choice: text, resolved: z.int() }),
  RunSteer: z.object({ object: z.literal('hermes.run.steer'), run_id: text, status: z.literal('accepted') }),
  Session: z.object({ object: z.literal('hermes.session'), session }),
  SessionList: listOf(session).extend({ limit: z.int(), offset: z.int() }),
  SessionDeleted: z.object({ object: z.literal('hermes.session.deleted'), id: text, deleted: z.literal(true) }),
  SessionMessages: listOf(sessionMessage).extend({ session_id: text }),
  SessionChat: z.object({ object: z.literal('hermes.session.chat.completion'), session_id: text, message: z.object({ role: z.literal('assistant'), content: text }), usage: tokens }),
  SessionChatEvent: z.looseObject(inChat),
  Job: z.object({ job }),
  JobList: z.object({ jobs: z.array(job) }),
  JobDeleted: z.object({ object: z.literal('hermes.job.deleted'), id: text, deleted: z.literal(true) }),
} satisfies Readonly<Record<string, z.ZodType>>;

export type AnswerName = keyof typeof answers;
