import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The tables of version 30 that say something about conversations. An early version has fewer columns. */
const lateSchema = `
  create table schema_version (version integer not null);
  create table system_prompts (hash text primary key, prompt text not null);
  create table sessions (id text primary key, source text not null, created_source text, user_id text, session_key text, chat_id text, chat_type text, thread_id text, display_name text, origin_json text,
    expiry_finalized integer default 0, model text, model_config text, system_prompt text, system_prompt_hash text references system_prompts(hash), parent_session_id text references sessions(id), started_at real not null,
    ended_at real, end_reason text, message_count integer default 0, tool_call_count integer default 0, input_tokens integer default 0, output_tokens integer default 0, cache_read_tokens integer default 0,
    cache_write_tokens integer default 0, reasoning_tokens integer default 0, cwd text, billing_provider text, billing_base_url text, billing_mode text, estimated_cost_usd real, actual_cost_usd real, cost_status text,
    cost_source text, pricing_version text, title text, title_source text, last_activity_at real, api_call_count integer default 0, handoff_state text, handoff_platform text, handoff_error text, profile_name text,
    rewind_count integer not null default 0, archived integer not null default 0, pinned integer not null default 0, hidden integer not null default 0, tool_names text);
  create table messages (id integer primary key autoincrement, session_id text not null references sessions(id), role text not null, content text, tool_call_id text, tool_calls text, tool_name text,
    effect_disposition text, timestamp real not null, token_count integer, finish_reason text, reasoning text, reasoning_content text, reasoning_details text, codex_reasoning_items text, codex_message_items text,
    platform_message_id text, observed integer default 0, _compressed_summary integer not null default 0, active integer not null default 1, compacted integer not null default 0, api_content text, display_kind text,
    display_metadata text, display_identity blob, display_order integer);
  create table state_meta (key text primary key, value text);
  create table gateway_routing (scope text not null default '', session_key text not null, entry_json text not null, updated_at real not null, primary key (scope, session_key));
  create virtual table messages_fts using fts5(content, content=messages, content_rowid=id);
  insert into schema_version values (30);`;

const earlySchema = `
  create table schema_version (version integer not null);
  create table sessions (id text primary key, source text not null, user_id text, model text, parent_session_id text, started_at real not null, ended_at real, end_reason text, title text, input_tokens integer default 0, output_tokens integer default 0);
  create table messages (id integer primary key autoincrement, session_id text not null, role text not null, content text, tool_call_id text, tool_calls text, tool_name text, timestamp real not null, finish_reason text);`;

export const startedAt = Date.UTC(2026, 4, 1, 8) / 1000;

type Row = Readonly<Record<string, string | number | null>>;

const insert = (db: DatabaseSync, table: string, row: Row): void => {
  const names = Object.keys(row);
  db.prepare(`insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`).run(...Object.values(row));
};

const isoOf = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('Z', '');

/** What the original keeps about the conversation of a place. */
const entryOf = (key: string, session_id: string, user: string): string =>
  JSON.stringify({
    session_key: key,
    session_id,
    created_at: isoOf(startedAt),
    updated_at: isoOf(startedAt + 60),
    display_name: 'Sam',
    platform: 'telegram',
    chat_type: 'dm',
    input_tokens: 0,
    total_tokens: 0,
    expiry_finalized: false,
    suspended: false,
    resume_pending: false,
    is_fresh_reset: false,
    origin: { platform: 'telegram', chat_id: user, chat_name: 'Sam', chat_type: 'dm', user_id: user, user_name: 'Sam', thread_id: null, chat_topic: null },
  });

const toolCalls = JSON.stringify([{ id: 'call_1', type: 'function', function: { name: 'terminal', arguments: '{"command":"date"}' } }]);

const fillLate = (db: DatabaseSync): void => {
  const session = (row: Row): void => insert(db, 'sessions', { source: 'telegram', user_id: '7', chat_id: '7', chat_type: 'dm', started_at: startedAt, ...row });
  const say = (session_id: string, row: Row): void => insert(db, 'messages', { session_id, timestamp: startedAt + 60, ...row });
  session({ id: '20260501_080000_aaaaaaaa', session_key: 'agent:main:telegram:dm:7', title: 'Trip', model: 'gpt-5', input_tokens: 120, output_tokens: 30, estimated_cost_usd: 0.5 });
  say('20260501_080000_aaaaaaaa', { role: 'system', content: 'you are' });
  say('20260501_080000_aaaaaaaa', { role: 'user', content: 'an old question', active: 0, compacted: 1 });
  say('20260501_080000_aaaaaaaa', { role: 'user', content: 'a mistake', active: 0 });
  say('20260501_080000_aaaaaaaa', { role: 'user', content: 'what time is it?', timestamp: startedAt + 61.5 });
  say('20260501_080000_aaaaaaaa', { role: 'assistant', content: '', tool_calls: toolCalls, reasoning: 'I look', finish_reason: 'tool_calls' });
  say('20260501_080000_aaaaaaaa', { role: 'tool', content: 'noon', tool_call_id: 'call_1', tool_name: 'terminal' });
  say('20260501_080000_aaaaaaaa', { role: 'assistant', content: 'It is noon.', timestamp: startedAt + 3600 });
  session({ id: '20260401_080000_bbbbbbbb', started_at: startedAt - 100, session_key: 'agent:main:telegram:dm:7', ended_at: startedAt - 50, end_reason: 'session_reset', title: 'Before' });
  say('20260401_080000_bbbbbbbb', { role: 'user', content: `\0json:${JSON.stringify([{ type: 'text', text: 'look at this' }, { type: 'image_url', image_url: {} }])}` });
  say('20260401_080000_bbbbbbbb', { role: 'user', content: JSON.stringify([{ type: 'text', text: 'and at this' }]) });
  say('20260401_080000_bbbbbbbb', { role: 'tool', content: 'a zero:\0.', tool_call_id: 'x', timestamp: 5e246 });
  session({ id: '20260502_080000_cccccccc', started_at: startedAt + 10, user_id: '8', chat_id: '-100', chat_type: 'group', session_key: 'agent:coder:telegram:group:-100:8' });
  say('20260502_080000_cccccccc', { role: 'user', content: 'hello group' });
  session({ id: '20260502_090000_ffffffff', started_at: startedAt + 15, ended_at: startedAt + 16, end_reason: 'idle', user_id: '9', chat_id: '9', session_key: 'agent:main:telegram:dm:9' });
  say('20260502_090000_ffffffff', { role: 'user', content: 'and over' });
  insert(db, 'sessions', { id: '20260503_080000_dddddd', source: 'cli', started_at: startedAt + 20 });
  say('20260503_080000_dddddd', { role: 'user', content: 'typed in a terminal' });
};

/** Conversations whose place is only clear from how they ended and from what the original names for it. */
const fillPlaces = (db: DatabaseSync): void => {
  const of = (id: string, user: string, row: Row): void => {
    insert(db, 'sessions', { id, source: 'telegram', user_id: user, chat_id: user, chat_type: 'dm', session_key: `agent:main:telegram:dm:${user}`, started_at: startedAt, ...row });
    insert(db, 'messages', { session_id: id, role: 'user', content: id, timestamp: startedAt + 1 });
  };
  const goesOn = (id: string, user: string): void => insert(db, 'gateway_routing', { session_key: `agent:main:telegram:dm:${user}`, entry_json: entryOf(`agent:main:telegram:dm:${user}`, id, user), updated_at: startedAt });
  of('20260601_080000_00000012', '12', { ended_at: startedAt + 5, end_reason: 'agent_close' });
  of('20260601_080000_00000013', '13', {});
  of('20260601_090000_00000013', '13', { started_at: startedAt + 100, ended_at: startedAt + 200, end_reason: 'session_switch' });
  goesOn('20260601_080000_00000013', '13');
  of('20260601_080000_000014', '14', { source: 'cli', user_id: null, chat_id: null, chat_type: null, session_key: null });
  goesOn('20260601_080000_000014', '14');
  of('20260601_080000_00000015', '15', { ended_at: startedAt + 5, end_reason: 'compression' });
  of('20260601_090000_00000015', '15', { started_at: startedAt + 6, parent_session_id: '20260601_080000_00000015' });
  of('20260601_080000_00000016', '16', { ended_at: startedAt + 5, end_reason: 'agent_close' });
  of('20260601_090000_00000016', '16', { started_at: startedAt + 6, ended_at: startedAt + 7, end_reason: 'idle' });
  of('20260601_080000_00000017', '17', {});
  of('20260601_090000_00000017', '17', { started_at: startedAt + 100 });
  goesOn('20260601_080000_00000017', '17');
  of('20260601_100000_00000012', '12', { started_at: startedAt + 2, parent_session_id: '20260601_080000_00000012', model_config: JSON.stringify({ _delegate_from: '20260601_080000_00000012' }) });
};

const fillEarly = (db: DatabaseSync): void => {
  insert(db, 'sessions', { id: '20260101_000000_eeeeeeee', source: 'telegram', user_id: '7', started_at: startedAt, title: 'Early' });
  insert(db, 'messages', { session_id: '20260101_000000_eeeeeeee', role: 'user', content: 'from long ago', timestamp: startedAt });
};

export interface OriginalHome extends Disposable {
  readonly folder: string;
}

const files: Readonly<Record<string, string>> = {
  'config.yaml': 'model:\n  default: gpt-5\n  provider: openai\ntimezone: Europe/Berlin\nplatforms:\n  telegram:\n    enabled: true\n    token: "123456:ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"\n    extra:\n      allow_from: [7]\ndisplay:\n  busy_input_mode: queue\n  skin: mono\nkanban:\n  enabled: true\nagent:\n  max_turns: 40\nmcp_servers:\n  time:\n    args: [mcp-time]\n    command: uvx\n',
  '.env': 'OPENAI_API_KEY=sk-of-the-original-0123456789\nTAVILY_API_KEY=tvly-0123\n',
  'platforms/pairing/telegram-approved.json': JSON.stringify({ 9: { user_name: 'Ann', approved_at: startedAt } }),
  'pairing/discord-approved.json': `\uFEFF${JSON.stringify({ d1: { user_name: '', approved_at: startedAt } })}`,
  'platforms/pairing/_rate_limits.json': '{}',
  'auth.json': JSON.stringify({ version: 1, active_provider: 'nous', providers: { nous: { access_token: 'a' } }, credential_pool: { openai: [{ id: 'e', label: 'OPENAI_API_KEY', auth_type: 'api_key', priority: 0, source: 'env:OPENAI_API_KEY', access_token: 'sk-of-the-original-0123456789' }], openrouter: [{ id: 'm', label: 'mine', auth_type: 'api_key', priority: 0, source: 'manual', access_token: 'sk-or-by-hand' }], anthropic: [{ id: 'o', label: 'me', auth_type: 'oauth', priority: 0, source: 'manual:hermes_pkce', access_token: 'x', refresh_token: 'y' }] } }),
  'mcp-tokens/time.json': '{}',
  'plugins/mine/plugin.yaml': 'name: mine\n',
  'pairing/telegram-pending.json': JSON.stringify({ x: { hash: 'h', salt: 's', user_id: '10' } }),
  'memories/MEMORY.md': 'likes tea\n§\nlives in Berlin',
  'memories/USER.md': 'is called Sam',
  'SOUL.md': 'You are kind.',
  'skills/work/invoices/SKILL.md': '---\nname: invoices\ndescription: Write invoices\n---\nDo it.',
  'skills/work/invoices/template.txt': 'template',
  'hooks/greet/HOOK.yaml': 'name: greet\nevents: [gateway:startup]\n',
  'hooks/greet/handler.py': 'async def handle(event, context): pass\n',
  'scripts/check.py': 'print(1)\n',
  'logs/gateway.log': 'x',
  'kanban.db': 'x',
  'profiles/helper/config.yaml': 'model: x\n',
};

/** All that the original writes about a job. */
const jobOf = (id: string, name: string, row: object): object => ({
  id,
  name,
  prompt: 'Look',
  skills: [],
  skill: null,
  model: null,
  provider: null,
  provider_snapshot: 'openai',
  model_snapshot: 'gpt-5',
  base_url: null,
  script: null,
  no_agent: false,
  context_from: null,
  schedule_display: 'x',
  repeat: { times: null, completed: 3 },
  enabled: true,
  state: 'scheduled',
  paused_at: null,
  paused_reason: null,
  created_at: '2026-05-01T08:00:00+02:00',
  next_run_at: null,
  last_run_at: null,
  last_status: 'ok',
  last_error: null,
  last_delivery_error: null,
  deliver: 'local',
  origin: null,
  enabled_toolsets: null,
  workdir: null,
  ...row,
});

const jobs = {
  jobs: [
    jobOf('aaaaaaaaaaaa', 'Morning', { prompt: 'What is new?', schedule: { kind: 'cron', expr: '0 8 * * *', display: '0 8 * * *' }, deliver: 'origin', origin: { platform: 'telegram', chat_id: '7', chat_name: 'Sam', thread_id: null, user_id: '7' } }),
    jobOf('bbbbbbbbbbbb', 'Often', { schedule: { kind: 'interval', minutes: 30, display: 'every 30m' }, enabled: false, state: 'paused', paused_reason: 'too much' }),
    jobOf('cccccccccccc', 'Past', { schedule: { kind: 'once', run_at: '2020-01-01T00:00:00+00:00', display: 'once' }, repeat: { times: 1, completed: 0 } }),
    jobOf('dddddddddddd', 'Nowhere', { schedule: { kind: 'interval', minutes: 60, display: 'every 60m' }, deliver: 'discord:123' }),
    jobOf('eeeeeeeeeeee', 'Done', { schedule: { kind: 'once', run_at: '2020-01-01T00:00:00+00:00', display: 'once' }, state: 'completed', enabled: false }),
    jobOf('ffffffffffff', 'Bound', { schedule: { kind: 'interval', minutes: 60, display: 'every 60m' }, enabled_toolsets: ['web'], workdir: '/srv', attach_to_session: true }),
    jobOf('999999999999', 'Tools', { schedule: { kind: 'interval', minutes: 60, display: 'every 60m' }, enabled_toolsets: ['browser'] }),
  ],
  updated_at: '2026-05-01T08:00:00+02:00',
};

/** A home as the original leaves it. Its database stays open, so that the newest of it is only in the journal beside it. */
export const writeOriginalHome = async (folder: string, version: 'early' | 'late' | 'places' = 'late'): Promise<OriginalHome> => {
  for (const [path, text] of Object.entries({ ...files, 'cron/jobs.json': JSON.stringify(jobs) })) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const db = new DatabaseSync(join(folder, 'state.db'));
  db.exec('pragma journal_mode = wal; pragma wal_autocheckpoint = 0');
  db.exec(version === 'early' ? earlySchema : lateSchema);
  if (version === 'late') fillLate(db);
  else if (version === 'places') {
    fillPlaces(db);
    const stale = entryOf('agent:main:telegram:dm:17', '20260601_090000_00000017', '17');
    await mkdir(join(folder, 'sessions'), { recursive: true });
    await writeFile(join(folder, 'sessions', 'sessions.json'), `{"agent:main:telegram:dm:17": ${stale}}`);
  }
  else {
    fillEarly(db);
    const entry = { session_id: '20260101_000000_eeeeeeee', origin: { platform: 'telegram', chat_id: '7', chat_type: 'dm', user_id: '7' } };
    await mkdir(join(folder, 'sessions'), { recursive: true });
    const lines = [{ role: 'session_meta', tools: [] }, { role: 'user', content: 'from before the database', timestamp: '2025-12-01T08:00:00.500000' }, { role: 'assistant', content: [{ type: 'text', text: 'in a file' }], timestamp: '2025-12-01T08:01:00' }];
    await writeFile(join(folder, 'sessions', '20251201_080000_99999999.jsonl'), `${lines.map((line) => JSON.stringify(line)).join('\n')}\n{"role": "us`);
    await writeFile(join(folder, 'sessions', 'sessions.json'), JSON.stringify({ _README: 'x', 'agent:main:telegram:dm:7': entry, 'agent:main:discord:dm:d1': { session_id: '20251201_080000_99999999', origin: { platform: 'discord', chat_id: 'd1', chat_type: 'dm', user_id: 'u1' } } }));
  }
  return { folder, [Symbol.dispose]: () => db.close() };
};
