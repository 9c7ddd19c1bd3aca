import { boundResult } from '../../agent/tools/bound-result.ts';
import type { TranscriptMessage } from '../../core/transcript.ts';

/** A message on its way into a summary. */
export interface SaidRow {
  readonly message: TranscriptMessage;
  readonly createdAtMs: number;
}

const mostMessageChars = 6_000;
const mostResultChars = 3_000;
const mostArgumentChars = 200;

/** A line that would have a file sent if the model repeated it. */
const mediaDirective = /\bMEDIA:\s*/g;

const shortLeaves = (value: unknown): unknown => {
  if (typeof value === 'string') return value.length > mostArgumentChars ? `${value.slice(0, mostArgumentChars)}…`.toWellFormed() : value;
  if (Array.isArray(value)) return value.map(shortLeaves);
  if (typeof value === 'object' && value !== null) return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shortLeaves(each)]));
  return value;
};

/** Long strings inside the arguments of a call are cut, so that they stay the JSON they were. */
export const shortArguments = (text: string): string => {
  if (text.length <= mostArgumentChars) return text;
  try {
    return JSON.stringify(shortLeaves(JSON.parse(text)));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return `${text.slice(0, mostArgumentChars)}…`.toWellFormed();
  }
};

const bodyOf = ({ role, content, toolCalls, attachments }: TranscriptMessage): string => {
  const calls = (toolCalls ?? []).map((call) => `→ ${call.name}(${boundResult(shortArguments(call.arguments), mostMessageChars)})`);
  const files = (attachments ?? []).map((file) => `[${file.kind}: ${file.name}]`);
  return [boundResult(content, role === 'tool' ? mostResultChars : mostMessageChars), ...calls, ...files].filter((part) => part !== '').join('\n');
};

const speakerOf = (message: TranscriptMessage): string => (message.role === 'tool' ? `result of ${message.toolName ?? 'a tool'}` : message.role);

/** A message as whoever summarises reads it: when, who, and what, within bounds. */
export const renderRow = ({ message, createdAtMs }: SaidRow): string =>
  `[${new Date(createdAtMs).toISOString().slice(0, 16).replace('T', ' ')} ${speakerOf(message)}]\n${bodyOf(message).replaceAll(mediaDirective, 'file ')}`;
