import type { ToolCall, TranscriptMessage } from '../../core/transcript.ts';
import type { ImportedMessage } from '../../store/foreign/imported-session.ts';
import type { OriginalRow } from '../../store/foreign/original-state.ts';
import { isRecord, parsed } from '../plain-json.ts';

export const textIn = (row: OriginalRow, column: string): string | undefined => {
  const value = row[column];
  if (value === null || value === undefined) return undefined;
  const text = String(value);
  return text === '' ? undefined : text;
};

export const numberIn = (row: OriginalRow, column: string): number => (typeof row[column] === 'number' && Number.isFinite(row[column]) ? row[column] : 0);

/** Far in the future: what a damaged page gives as a time is later still. */
const lastSecond = 1e11;

/** The original counts seconds, with fractions. */
export const msIn = (row: OriginalRow, column: string): number | undefined => {
  const seconds = numberIn(row, column);
  return seconds > 0 && seconds < lastSecond ? Math.round(seconds * 1000) : undefined;
};

const toolCall = (value: unknown): ToolCall | undefined => {
  if (!isRecord(value)) return undefined;
  const called = isRecord(value['function']) ? value['function'] : value;
  const { name, arguments: given } = called;
  if (typeof name !== 'string') return undefined;
  return { id: String(value['id'] ?? value['call_id'] ?? ''), name, arguments: typeof given === 'string' ? given : JSON.stringify(given ?? {}) };
};

const toolCalls = (text: string | undefined): readonly ToolCall[] => {
  const once = parsed(text);
  // Some versions have written it as JSON twice.
  const list = typeof once === 'string' ? parsed(once) : once;
  return Array.isArray(list) ? list.map(toolCall).filter((call) => call !== undefined) : [];
};

/** One of these stands before content that is no plain text. */
const marks = ['\0json:', '\u0001json:'] as const;

const wordsIn = (part: unknown): string => {
  if (!isRecord(part)) return String(part);
  if (typeof part['text'] === 'string') return part['text'];
  return typeof part['type'] === 'string' ? `[${part['type']}]` : JSON.stringify(part);
};

const isParts = (list: unknown): list is readonly unknown[] => Array.isArray(list) && list.every((part) => isRecord(part) && typeof part['type'] === 'string');

/** Content of several parts is JSON behind a mark, or without one in old versions: its texts, and a word for everything that is none. */
const contentOf = (text: string): string => {
  const mark = marks.find((each) => text.startsWith(each));
  const isMarked = mark !== undefined;
  const value = isMarked || text.startsWith('[{') ? parsed(text.slice(mark?.length ?? 0)) : undefined;
  if (isParts(value) || (isMarked && Array.isArray(value))) return value.map(wordsIn).join('\n');
  return isMarked && value !== undefined ? wordsIn(value) : text;
};

const roles = new Set<string>(['user', 'assistant', 'tool'] satisfies TranscriptMessage['role'][]);

const fateOf = (row: OriginalRow): ImportedMessage['fate'] => {
  if (row['active'] !== 0) return 'active';
  return row['compacted'] === 1 ? 'archived' : 'undone';
};

/** A message of the original as we keep it; undefined for rows that are no message to anybody, such as system prompts. */
export const messageOfRow = (row: OriginalRow, fallbackMs: number): ImportedMessage | undefined => {
  const role = textIn(row, 'role') ?? '';
  if (!roles.has(role)) return undefined;
  const calls = toolCalls(textIn(row, 'tool_calls'));
  const reasoning = textIn(row, 'reasoning') ?? textIn(row, 'reasoning_content');
  const [callId, toolName, finishReason] = [textIn(row, 'tool_call_id'), textIn(row, 'tool_name'), textIn(row, 'finish_reason')];
  const message: TranscriptMessage = {
    role: role as TranscriptMessage['role'],
    content: contentOf(textIn(row, 'content') ?? '').toWellFormed(),
    ...(calls.length > 0 && { toolCalls: calls }),
    ...(role === 'tool' && callId !== undefined && { toolCallId: callId }),
    ...(role === 'tool' && toolName !== undefined && { toolName }),
    ...(reasoning !== undefined && { reasoning: reasoning.toWellFormed() }),
    ...(role === 'assistant' && finishReason !== undefined && { finishReason }),
  };
  return { message, createdAtMs: msIn(row, 'timestamp') ?? fallbackMs, fate: fateOf(row) };
};
