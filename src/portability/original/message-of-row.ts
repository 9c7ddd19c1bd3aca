import type { ToolCall, TranscriptMessage } from '../../core/transcript.ts';
import type { ImportedMessage } from '../../store/imported-session.ts';
import type { OriginalRow } from '../../store/original-state.ts';

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** JSON, or undefined for anything else. */
export const parsed = (text: unknown): unknown => {
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

export const textIn = (row: OriginalRow, column: string): string | undefined => {
  const value = row[column];
  if (value === null || value === undefined) return undefined;
  const text = String(value);
  return text === '' ? undefined : text;
};

export const numberIn = (row: OriginalRow, column: string): number => (typeof row[column] === 'number' && Number.isFinite(row[column]) ? row[column] : 0);

/** The original counts seconds, with fractions. */
export const msIn = (row: OriginalRow, column: string): number | undefined => (numberIn(row, column) > 0 ? Math.round(numberIn(row, column) * 1000) : undefined);

const toolCall = (value: unknown): ToolCall | undefined => {
  if (!isRecord(value)) return undefined;
  const called = isRecord(value['function']) ? value['function'] : value;
  const { name, arguments: given } = called;
  if (typeof name !== 'string') return undefined;
  return { id: String(value['id'] ?? value['call_id'] ?? ''), name, arguments: typeof given === 'string' ? given : JSON.stringify(given ?? {}) };
};

const toolCalls = (text: string | undefined): readonly ToolCall[] => {
  const list = parsed(text);
  return Array.isArray(list) ? list.map(toolCall).filter((call) => call !== undefined) : [];
};

/** Content of several parts is JSON: its texts, and a word for everything that is none. */
const contentOf = (text: string): string => {
  const list = text.startsWith('[{') ? parsed(text) : undefined;
  if (!Array.isArray(list) || !list.every((part) => isRecord(part) && typeof part['type'] === 'string')) return text;
  return list.map((part: Readonly<Record<string, unknown>>) => (typeof part['text'] === 'string' ? part['text'] : `[${String(part['type'])}]`)).join('\n');
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
