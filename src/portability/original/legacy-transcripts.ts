import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OriginalRow } from '../../store/foreign/original-state.ts';
import { namesIn } from '../import-pieces.ts';
import { isRecord, parsed, wordAt } from '../plain-json.ts';
import type { Plain } from '../plain-json.ts';

const secondsOf = (value: unknown): number | null => {
  const seconds = typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) / 1000 : Number.NaN;
  return Number.isFinite(seconds) ? seconds : null;
};

const textOrJson = (value: unknown): string | null => (value === undefined || value === null ? null : typeof value === 'string' ? value : `\0json:${JSON.stringify(value)}`);

/** A line as the database would hold it. */
const rowOf = (line: Plain): OriginalRow => ({
  role: wordAt(line, 'role') ?? null,
  content: textOrJson(line['content']),
  tool_call_id: wordAt(line, 'tool_call_id') ?? null,
  tool_calls: line['tool_calls'] === undefined || line['tool_calls'] === null ? null : JSON.stringify(line['tool_calls']),
  tool_name: wordAt(line, 'tool_name') ?? null,
  timestamp: secondsOf(line['timestamp']),
  finish_reason: wordAt(line, 'finish_reason') ?? null,
  reasoning: wordAt(line, 'reasoning') ?? null,
  active: 1,
});

/** Transcripts that the original has kept as files, from before it had a database or for when that failed; by session id. */
export const legacyTranscripts = async (folder: string): Promise<ReadonlyMap<string, readonly OriginalRow[]>> => {
  const transcripts = new Map<string, readonly OriginalRow[]>();
  for (const name of (await namesIn(join(folder, 'sessions'))).filter((each) => each.endsWith('.jsonl'))) {
    const lines = (await readFile(join(folder, 'sessions', name), 'utf8')).split('\n');
    transcripts.set(name.slice(0, -'.jsonl'.length), lines.map(parsed).filter(isRecord).map(rowOf));
  }
  return transcripts;
};

/** What the database would say about a conversation of which there is only a file. */
export const sessionRowOf = (id: string, rows: readonly OriginalRow[], source: string): OriginalRow => {
  const [, y = '', m = '', d = '', h = '', min = '', s = ''] = /^(\d{4})(\d\d)(\d\d)_(\d\d)(\d\d)(\d\d)/.exec(id) ?? [];
  return { id, source, started_at: rows.find(({ timestamp }) => timestamp !== null)?.['timestamp'] ?? secondsOf(`${y}-${m}-${d}T${h}:${min}:${s}`), ended_at: null };
};
