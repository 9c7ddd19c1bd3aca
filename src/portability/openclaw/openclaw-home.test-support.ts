import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { zstdCompressSync } from 'node:zlib';

/** Where an OpenClaw keeps conversations, people and jobs: in files, in the first databases, or in those of today. */
export type Generation = 'files' | 'first databases' | 'databases';

const trip = 'cd7fe3ee-15d2-4b81-83cc-3e4d2da6db01';
const before = '11111111-15d2-4b81-83cc-3e4d2da6db02';
const group = '22222222-15d2-4b81-83cc-3e4d2da6db03';
const ofWork = '33333333-15d2-4b81-83cc-3e4d2da6db04';
const ofJob = '44444444-15d2-4b81-83cc-3e4d2da6db05';

const timeOf = (minute: number): string => new Date(Date.UTC(2026, 2, 25, 3, minute)).toISOString();
const said = (id: string, parentId: string | null, message: object): object => ({ type: 'message', id, parentId, timestamp: timeOf(Number(id)), message });
const asked = (id: string, parentId: string | null, content: string): object => said(id, parentId, { role: 'user', content: [{ type: 'text', text: content }] });

interface Conversation {
  readonly id: string;
  readonly key: string;
  readonly agent: string;
  /** Undefined for one that its place has left behind. */
  readonly entry: object | undefined;
  readonly events: readonly object[];
}

const conversations: readonly Conversation[] = [
  {
    id: trip,
    key: 'agent:main:main',
    agent: 'main',
    entry: { sessionId: trip, updatedAt: Date.parse(timeOf(9)), label: 'Trip', deliveryContext: { channel: 'telegram', to: 'telegram:7', accountId: 'default' }, usageFamilySessionIds: [before, trip] },
    events: [
      { type: 'session', version: 3, id: trip, timestamp: timeOf(0), cwd: '/' },
      asked('1', null, 'what time is it?'),
      said('2', '1', { role: 'assistant', model: 'claude-opus-4-6', provider: 'anthropic', usage: { input: 10, output: 5, cacheRead: 2, cacheWrite: 1, cost: { total: 0.25 } }, content: [{ type: 'thinking', thinking: 'I look' }, { type: 'toolCall', id: 'call_1', name: 'exec', arguments: { command: 'date' } }] }),
      said('3', '2', { role: 'toolResult', toolCallId: 'call_1', toolName: 'exec', content: [{ type: 'text', text: 'noon' }] }),
      said('4', '3', { role: 'assistant', model: 'claude-opus-4-6', content: [{ type: 'text', text: 'It is noon.' }] }),
    ],
  },
  { id: before, key: 'agent:main:main', agent: 'main', entry: undefined, events: [{ type: 'session', id: before, timestamp: timeOf(0) }, asked('1', null, 'from before')] },
  { id: group, key: 'agent:main:telegram:group:-100:topic:5', agent: 'main', entry: { sessionId: group, updatedAt: Date.parse(timeOf(5)), chatType: 'group', subject: 'Team' }, events: [{ type: 'session', id: group, timestamp: timeOf(0) }, asked('1', null, 'hello group')] },
  { id: ofWork, key: 'agent:work:discord:direct:99', agent: 'work', entry: { sessionId: ofWork, updatedAt: Date.parse(timeOf(6)) }, events: [{ type: 'session', id: ofWork, timestamp: timeOf(0) }, asked('1', null, 'at work')] },
  { id: ofJob, key: 'agent:main:cron:nightly', agent: 'main', entry: { sessionId: ofJob, updatedAt: Date.parse(timeOf(6)) }, events: [{ type: 'session', id: ofJob, timestamp: timeOf(0) }, asked('1', null, 'run of a job')] },
];

const jobs = [
  { id: '8f14e45f-aaaa-4bbb-8ccc-000000000001', name: 'Morning', enabled: true, createdAtMs: 1, updatedAtMs: 1, schedule: { kind: 'cron', expr: '0 8 * * *', tz: 'Europe/Berlin' }, sessionTarget: 'isolated', wakeMode: 'now', payload: { kind: 'agentTurn', message: 'What is new?' }, delivery: { mode: 'announce', channel: 'telegram', to: '7' }, state: {} },
  { id: '8f14e45f-aaaa-4bbb-8ccc-000000000002', name: 'Often', enabled: true, createdAtMs: 1, updatedAtMs: 1, schedule: { kind: 'every', everyMs: 1_800_000 }, sessionTarget: 'main', wakeMode: 'now', payload: { kind: 'systemEvent', text: 'Look around' }, state: {} },
  { id: '8f14e45f-aaaa-4bbb-8ccc-000000000003', name: 'Past', enabled: true, createdAtMs: 1, updatedAtMs: 1, schedule: { kind: 'at', at: '2020-01-01T00:00:00Z' }, sessionTarget: 'main', wakeMode: 'now', payload: { kind: 'systemEvent', text: 'Look' }, state: {} },
];

const config = `// written by hand
{
  $schema:'x', meta:{lastTouchedVersion:"2026.9.1"},
  agents: {
    defaults: { model: { primary: "anthropic/claude-opus-4-6", fallbacks: ["openai/gpt-5"] } },
    list: [ { id: "main", default: true }, { id: "work", name: "At work", model: "openrouter/some/model" } ],
  },
  bindings: [ { agentId: "work", match: { channel: "discord" } }, { agentId: "work", match: { channel: "telegram", accountId: "*", peer: { kind: "group", id: "-200" } } } ],
  channels: { $include: "./channels.json5" },
  gateway: { port: 18789 },
}
`;
const included = `{ telegram: { botToken: "\${TELEGRAM_BOT_TOKEN}", dmPolicy: 'pairing', allowFrom: ["tg:7", "@sam"], groups: { "*": { requireMention: true }, "-100": { requireMention: false } } },
  discord: { token: { source: "exec", id: "pass" } }, whatsapp: { allowFrom: ["+49"] } }`;

const files: Readonly<Record<string, string>> = {
  'openclaw.json': config,
  'channels.json5': included,
  '.env': 'TELEGRAM_BOT_TOKEN=123456:ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789\nOPENCLAW_GATEWAY_TOKEN=t\n',
  'workspace/SOUL.md': 'be kind',
  'workspace/AGENTS.md': 'read SOUL.md first',
  'workspace/IDENTITY.md': 'Name: Claw',
  'workspace/TOOLS.md': 'the camera is in the hall',
  'workspace/HEARTBEAT.md': 'look every hour',
  'workspace/MEMORY.md': '# Memory\n\n- likes tea\n- lives in Berlin\n\nWorks at night.\n',
  'workspace/USER.md': 'is called Sam\n',
  'workspace/memory/2026-03-24.md': 'bought tea',
  'workspace/skills/invoices/SKILL.md': '---\nname: invoices\n---\n',
  'skills/shared/SKILL.md': '---\nname: shared\n---\n',
  'workspace-work/SOUL.md': 'be brief',
  'hooks/greet/HOOK.md': 'x',
};

const logins = JSON.stringify({ version: 1, profiles: { 'anthropic:default': { type: 'api_key', provider: 'anthropic', key: 'sk-ant-of-the-claw' }, 'openai-codex:me': { type: 'oauth', provider: 'openai-codex', access: 'a' } } });

const writeFiles = async (folder: string, texts: Readonly<Record<string, string | Uint8Array>>): Promise<void> => {
  for (const [path, text] of Object.entries(texts)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
};

const writeInFiles = async (folder: string): Promise<void> => {
  for (const agent of ['main', 'work']) {
    const own = conversations.filter((each) => each.agent === agent);
    const index = Object.fromEntries(own.flatMap(({ key, entry }) => (entry === undefined ? [] : [[key, entry]])));
    const transcript = ({ events }: Conversation): string => `${events.map((event) => JSON.stringify(event)).join('\n')}\n`;
    const texts = own.map((each) => [`agents/${agent}/sessions/${each.id}${each.id === group ? '-topic-5' : ''}.jsonl${each.entry === undefined ? '.reset.2026-03-25T04-00-00.000Z.zst' : ''}`, each.entry === undefined ? zstdCompressSync(transcript(each)) : transcript(each)] as const);
    await writeFiles(folder, { [`agents/${agent}/sessions/sessions.json`]: JSON.stringify(index), ...Object.fromEntries(texts) });
  }
  await writeFiles(folder, {
    'agents/main/sessions/55555555-15d2-4b81-83cc-3e4d2da6db06.jsonl.deleted.2026-03-25T04-00-00.000Z': 'x',
    'agents/main/agent/auth-profiles.json': logins,
    'credentials/telegram-allowFrom.json': JSON.stringify({ version: 1, allowFrom: ['8'] }),
    'credentials/telegram-work-allowFrom.json': JSON.stringify({ version: 1, allowFrom: ['9'] }),
    'credentials/telegram-pairing.json': JSON.stringify({ version: 1, requests: [{ id: '10', code: 'ABCDEFGH' }] }),
    'cron/jobs.json': JSON.stringify({ version: 1, jobs }),
  });
};

const insert = (db: DatabaseSync, table: string, row: Readonly<Record<string, string | number | Uint8Array | null>>): void => {
  const names = Object.keys(row);
  db.prepare(`insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`).run(...Object.values(row));
};

const schemaOfAgent = (windows: string, entries: string, current: string): string => `
  create table ${windows} (session_id text not null primary key, session_key text not null, created_at integer not null, updated_at integer not null, started_at integer, ended_at integer) strict;
  create table ${entries} (session_key text not null primary key, ${current} text not null, entry_json text not null, updated_at integer not null) strict;
  create table transcript_events (session_id text not null, seq integer not null, event_json text not null, created_at integer not null, primary key (session_id, seq)) strict;
  create table auth_profile_store (store_key text not null primary key, store_json text not null, updated_at integer not null) strict;`;

const fillAgent = (db: DatabaseSync, agent: string, isFirst: boolean): void => {
  const [windows, entries, current] = isFirst ? ['sessions', 'session_entries', 'session_id'] : ['session_windows', 'session_nodes', 'current_session_id'];
  db.exec(schemaOfAgent(windows, entries, current));
  if (!isFirst) db.exec('create table session_transcript_archives (session_id text not null, generation text not null, session_key text not null, reason text not null, encoding text not null, archive_blob blob not null, created_at integer not null, primary key (session_id, generation)) strict');
  for (const { id, key, entry, events } of conversations.filter((each) => each.agent === agent)) {
    const at = Date.parse(timeOf(0));
    if (entry === undefined && !isFirst) {
      insert(db, 'session_transcript_archives', { session_id: id, generation: 'g', session_key: key, reason: 'reset', encoding: 'zstd', archive_blob: zstdCompressSync(events.map((event) => JSON.stringify(event)).join('\n')), created_at: at });
      continue;
    }
    insert(db, windows, { session_id: id, session_key: key, created_at: at, updated_at: at + 1 });
    if (entry !== undefined) insert(db, entries, { session_key: key, [current]: id, entry_json: JSON.stringify(entry), updated_at: at });
    // Not in their order, since no reader may rely on that.
    for (const [seq, event] of [...events.entries()].toReversed()) insert(db, 'transcript_events', { session_id: id, seq, event_json: JSON.stringify(event), created_at: at });
  }
  if (agent === 'main') insert(db, 'auth_profile_store', { store_key: 'main', store_json: logins, updated_at: 1 });
};

const fillShared = (db: DatabaseSync): void => {
  db.exec(`create table channel_pairing_allow_entries (channel_key text not null, account_id text not null, entry text not null, sort_order integer not null, updated_at integer not null, primary key (channel_key, account_id, entry));
    create table cron_jobs (store_key text not null, job_id text not null, name text not null, enabled integer not null, agent_id text, schedule_kind text not null, schedule_expr text, schedule_tz text, every_ms integer, at text, payload_kind text not null, payload_message text, delivery_mode text, delivery_channel text, delivery_to text, job_json text not null, primary key (store_key, job_id))`);
  for (const [account, entry] of [['default', '8'], ['work', '9']] as const) insert(db, 'channel_pairing_allow_entries', { channel_key: 'telegram', account_id: account, entry, sort_order: 0, updated_at: 1 });
  for (const { id, name, schedule, payload, delivery } of jobs) insert(db, 'cron_jobs', { store_key: '/x/cron/jobs.json', job_id: id, name, enabled: 1, schedule_kind: schedule.kind, schedule_expr: schedule.expr ?? null, schedule_tz: schedule.tz ?? null, every_ms: schedule.everyMs ?? null, at: schedule.at ?? null, payload_kind: payload.kind, payload_message: payload.message ?? payload.text ?? null, delivery_mode: delivery?.mode ?? null, delivery_channel: delivery?.channel ?? null, delivery_to: delivery?.to ?? null, job_json: '{}' });
};

/** A state folder as OpenClaw leaves it. Its databases stay open, so that the newest of them is only in the journals beside them. */
export const writeOpenclawHome = async (folder: string, generation: Generation): Promise<Disposable> => {
  await writeFiles(folder, files);
  const open = new DisposableStack();
  if (generation === 'files') await writeInFiles(folder);
  else {
    const write = async (path: string, fill: (db: DatabaseSync) => void): Promise<void> => {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      const db = open.adopt(new DatabaseSync(join(folder, path)), (each) => each.close());
      db.exec('pragma journal_mode = wal; pragma wal_autocheckpoint = 0');
      fill(db);
    };
    for (const agent of ['main', 'work']) await write(`agents/${agent}/agent/openclaw-agent.sqlite`, (db) => fillAgent(db, agent, generation === 'first databases'));
    await write('state/openclaw.sqlite', fillShared);
  }
  return open;
};
