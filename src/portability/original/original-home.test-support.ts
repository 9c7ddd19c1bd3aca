import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Columns of a late version; an early one has fewer. */
const lateSchema = `
  create table schema_version (version integer not null);
  create table sessions (id text primary key, source text not null, user_id text, session_key text, chat_id text, chat_type text, thread_id text, origin_json text, model text, system_prompt text,
    parent_session_id text, started_at real not null, ended_at real, end_reason text, title text, message_count integer default 0, input_tokens integer default 0, output_tokens integer default 0,
    cache_read_tokens integer default 0, cache_write_tokens integer default 0, reasoning_tokens integer default 0, estimated_cost_usd real, actual_cost_usd real, handoff_state text);
  create table messages (id integer primary key autoincrement, session_id text not null, role text not null, content text, tool_call_id text, tool_calls text, tool_name text, timestamp real not null,
    token_count integer, finish_reason text, reasoning text, reasoning_content text, active integer default 1, compacted integer default 0, observed integer default 0);
  create table gateway_routing (scope text, session_key text primary key, entry_json text, updated_at real);`;

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
  say('20260401_080000_bbbbbbbb', { role: 'user', content: JSON.stringify([{ type: 'text', text: 'look at this' }, { type: 'image_url', image_url: {} }]) });
  session({ id: '20260502_080000_cccccccc', started_at: startedAt + 10, user_id: '8', chat_id: '-100', chat_type: 'group', session_key: 'agent:coder:telegram:group:-100:8' });
  say('20260502_080000_cccccccc', { role: 'user', content: 'hello group' });
  session({ id: '20260502_090000_ffffffff', started_at: startedAt + 15, ended_at: startedAt + 16, end_reason: 'idle', user_id: '9', chat_id: '9', session_key: 'agent:main:telegram:dm:9' });
  say('20260502_090000_ffffffff', { role: 'user', content: 'and over' });
  insert(db, 'sessions', { id: '20260503_080000_dddddd', source: 'cli', started_at: startedAt + 20 });
  say('20260503_080000_dddddd', { role: 'user', content: 'typed in a terminal' });
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
  'pairing/discord-approved.json': JSON.stringify({ d1: { user_name: '', approved_at: startedAt } }),
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

const jobs = {
  jobs: [
    { id: 'aaaaaaaaaaaa', name: 'Morning', prompt: 'What is new?', schedule: { kind: 'cron', expr: '0 8 * * *' }, deliver: 'origin', origin: { platform: 'telegram', chat_id: '7', user_id: '7' }, enabled: true, state: 'scheduled', repeat: { times: null, completed: 3 } },
    { id: 'bbbbbbbbbbbb', name: 'Often', prompt: 'Look', schedule: { kind: 'interval', minutes: 30 }, deliver: 'local', enabled: false, state: 'paused', paused_reason: 'too much' },
    { id: 'cccccccccccc', name: 'Past', prompt: 'Look', schedule: { kind: 'once', run_at: '2020-01-01T00:00:00+00:00' }, deliver: 'local', enabled: true, state: 'scheduled' },
    { id: 'dddddddddddd', name: 'Nowhere', prompt: 'Look', schedule: { kind: 'interval', minutes: 60 }, deliver: 'discord:123', enabled: true, state: 'scheduled' },
    { id: 'eeeeeeeeeeee', name: 'Done', prompt: 'Look', schedule: { kind: 'once', run_at: '2020-01-01T00:00:00+00:00' }, state: 'completed', enabled: false },
  ],
  updated_at: 'x',
};

/** A home as the original leaves it. Its database stays open, so that the newest of it is only in the journal beside it. */
export const writeOriginalHome = async (folder: string, version: 'early' | 'late' = 'late'): Promise<OriginalHome> => {
  for (const [path, text] of Object.entries({ ...files, 'cron/jobs.json': JSON.stringify(jobs) })) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const db = new DatabaseSync(join(folder, 'state.db'));
  db.exec('pragma journal_mode = wal; pragma wal_autocheckpoint = 0');
  db.exec(version === 'late' ? lateSchema : earlySchema);
  if (version === 'late') fillLate(db);
  else {
    fillEarly(db);
    const entry = { session_id: '20260101_000000_eeeeeeee', origin: { platform: 'telegram', chat_id: '7', chat_type: 'dm', user_id: '7' } };
    await mkdir(join(folder, 'sessions'), { recursive: true });
    await writeFile(join(folder, 'sessions', 'sessions.json'), JSON.stringify({ _meta: 1, 'agent:main:telegram:dm:7': entry }));
  }
  return { folder, [Symbol.dispose]: () => db.close() };
};
