import type { Generated } from 'kysely';
import type { CompressionRow, DelegationRow, MemoryProposalRow, MemoryWorkRow, ProcessRow, QuestionRow, SpeechWorkRow, TitleWorkRow } from './schema/agent-rows.ts';
import type { ApiCallRow, ApiKeyRow, RunEventRow } from './schema/api-rows.ts';
import type { AccountRow, InboxRow, LaneRow, MessageRow, OutboxRow, SessionRow, TurnRow } from './schema/conversation-rows.ts';
import type { ChannelRow, CronJobRow, CronRunRow, HandoffRow } from './schema/reach-rows.ts';

/** Rows as both engines hold them: times in milliseconds, flags as 0 and 1, structures as JSON text. */
export interface Tables {
  meta: { key: string; value: string };
  api_keys: ApiKeyRow;
  api_calls: ApiCallRow;
  api_run_events: RunEventRow;
  api_spend: { key_id: string; day: string; usd: number };
  api_replays: { key_id: string; name: string; fingerprint: string; answer: string; created_at: number };
  nodes: { id: string; kind: string; pid: number; host: string; started_at: number; seen_at: number };
  sessions: SessionRow;
  bindings: { session_key: string; session_id: string; account: string; target: string; updated_at: number };
  messages: MessageRow;
  message_search: { rowid: number; tokens: string };
  inbox: InboxRow;
  lanes: LaneRow;
  turns: TurnRow;
  outbox: OutboxRow;
  gates: { scope: string; until_ms: number; reason: string };
  dead_targets: { account: string; chat_id: string; reason: string; since: number };
  accounts: AccountRow;
  cursors: { account: string; identity: string; name: string; value: string; updated_at: number };
  account_values: { account: string; key: string; value: string };
  journal: { seq: Generated<number>; account: string; stream: string; key: string; entry: string; created_at: number };
  pairing_requests: { id: string; account: string; kind: string; user_id: string; user_name: string | null; salt: string; hash: string; created_at: number };
  pairings: { account: string; user_id: string; user_name: string | null; approved_by: string; approved_at: number };
  limits: { scope: string; count: number; until_ms: number };
  acp_sessions: { session_id: string; maker: string; acp_id: string; seen: string; turn_id: string; updated_at: number };
  grants: { session_id: string; pattern: string; granted_by: string; granted_at: number };
  processes: ProcessRow;
  homes: { account: string; target: string; name: string | null; set_by: string; set_at: number };
  account_wishes: { account: string; paused: number; restarts: number; changed_by: string; changed_at: number };
  command_work: { inbox_id: number; command: string; owner: string; started_at: number };
  restart_marks: { inbox_id: number; target: string; asked_at: number };
  prompts: { session_id: string; fingerprint: string; text: string; updated_at: number };
  questions: QuestionRow;
  handoffs: HandoffRow;
  cron_jobs: CronJobRow;
  cron_runs: CronRunRow;
  /** A conversation that waits in a place for whoever speaks there next. */
  place_claims: { account: string; chat_id: string; thread_id: string; session_id: string; lasting: number; created_at: number };
  channels: ChannelRow;
  delegations: DelegationRow;
  compressions: CompressionRow;
  compression_failures: { session_id: string; failures: number; retry_at: number; error: string };
  memory_work: MemoryWorkRow;
  memory_proposals: MemoryProposalRow;
  session_ends: { session_id: string; agent: string; reason: string; ended_at: number };
  /** What a file that people sent says or shows, in words. */
  media_notes: { key: string; text: string; model: string; created_at: number; used_at: number };
  speech_work: SpeechWorkRow;
  title_work: TitleWorkRow;
  /** What an agent has spent on models in a day of this machine's zone, and how many calls nobody knows the price of. */
  agent_spend: { agent: string; day: string; usd: number; unpriced: number; updated_at: number };
  denials: { account: string; user_id: string; chat_id: string; kind: string; reason: string; count: number; first_at: number; last_at: number };
}
