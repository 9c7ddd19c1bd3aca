import { noUsage } from '../../core/transcript.ts';
import type { ToolCall, TranscriptMessage, Usage } from '../../core/transcript.ts';
import type { ImportedMessage } from '../../store/foreign/imported-session.ts';
import { at, isRecord, parsed, wordAt } from '../plain-json.ts';
import type { Plain } from '../plain-json.ts';
import { activeLines } from './transcript-tree.ts';

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** One line of a transcript file. */
export interface TranscriptLine {
  readonly type: string;
  readonly id: string | undefined;
  readonly atMs: number | undefined;
  readonly line: Plain;
}

const momentOf = (value: unknown): number | undefined => {
  const ms = typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isFinite(ms) ? ms : undefined;
};

const lineOf = (raw: string): TranscriptLine | undefined => {
  const line = parsed(raw);
  if (!isRecord(line) || typeof line['type'] !== 'string') return undefined;
  return { type: line['type'], id: text(line['id']), atMs: momentOf(line['timestamp']), line };
};

/** Lines that can be read; a file that a crash has cut off ends with one that cannot. */
export const readLines = (raws: Iterable<string>): readonly TranscriptLine[] => [...raws].flatMap((raw) => lineOf(raw) ?? []);

interface Parts {
  readonly said: string;
  readonly reasoning: string;
  readonly calls: readonly ToolCall[];
}

const callIn = (part: Plain): ToolCall | undefined => {
  if (part['type'] !== 'toolCall' && part['type'] !== 'tool_use') return undefined;
  const given = part['arguments'] ?? part['input'] ?? {};
  return { id: text(part['id']) ?? '', name: text(part['name']) ?? '', arguments: typeof given === 'string' ? given : JSON.stringify(given) };
};

const partsOf = (content: unknown): Parts => {
  if (typeof content === 'string') return { said: content, reasoning: '', calls: [] };
  const parts = Array.isArray(content) ? content.filter(isRecord) : [];
  const said = parts.flatMap((part) => (part['type'] === 'text' ? (text(part['text']) ?? []) : part['type'] === 'image' ? '[image]' : []));
  const reasoning = parts.flatMap((part) => (part['type'] === 'thinking' ? (text(part['thinking']) ?? []) : []));
  return { said: said.join('\n'), reasoning: reasoning.join('\n'), calls: parts.map(callIn).filter((call) => call !== undefined) };
};

const messageOf = ({ line }: TranscriptLine): TranscriptMessage | undefined => {
  const message = line['message'];
  if (!isRecord(message)) return undefined;
  const { said, reasoning, calls } = partsOf(message['content']);
  switch (message['role']) {
    case 'user':
      return { role: 'user', content: said.toWellFormed() };
    case 'assistant':
      // An attempt that failed before it said anything.
      if (said === '' && calls.length === 0) return undefined;
      return { role: 'assistant', content: said.toWellFormed(), ...(calls.length > 0 && { toolCalls: calls }), ...(reasoning !== '' && { reasoning: reasoning.toWellFormed() }) };
    case 'toolResult':
    case 'tool':
      return { role: 'tool', content: said.toWellFormed(), ...(text(message['toolCallId']) !== undefined && { toolCallId: text(message['toolCallId']) ?? '' }), ...(text(message['toolName']) !== undefined && { toolName: text(message['toolName']) ?? '' }) };
    default:
      return undefined;
  }
};

const usageOf = (lines: readonly TranscriptLine[]): Usage => {
  const used = lines.map(({ line }) => at(line, 'message', 'usage')).filter(isRecord);
  const sum = (...path: readonly string[]): number => used.reduce((total, usage) => total + (Number(at(usage, ...path)) || 0), 0);
  const usd = sum('cost', 'total');
  return { ...noUsage, inputTokens: sum('input'), outputTokens: sum('output'), cacheReadTokens: sum('cacheRead'), cacheWriteTokens: sum('cacheWrite'), ...(usd > 0 && { cost: { usd, status: 'estimated' } as const }) };
};

interface Boundary {
  /** The first line that is still shown to the model. */
  readonly from: number;
  readonly summary: TranscriptLine | undefined;
}

/** The newest line behind which everything earlier has been put away. */
const boundaryOf = (lines: readonly TranscriptLine[], isActive: (line: TranscriptLine) => boolean): Boundary => {
  const mark = lines.findLast((line) => (line.type === 'compaction' || line.type === 'reset') && isActive(line));
  if (mark === undefined) return { from: 0, summary: undefined };
  const kept = lines.findIndex(({ id }) => id !== undefined && id === mark.line['firstKeptEntryId']);
  return { from: kept === -1 ? lines.indexOf(mark) : kept, summary: mark.type === 'compaction' ? mark : undefined };
};

export interface Transcript {
  readonly messages: readonly ImportedMessage[];
  readonly startedAtMs: number | undefined;
  readonly model: string | undefined;
  readonly usage: Usage;
}

/** The conversation in a file, in order: what was summarised is kept behind its summary, what was branched away from is undone. */
export const readTranscript = (lines: readonly TranscriptLine[]): Transcript => {
  const startedAtMs = lines.find(({ atMs }) => atMs !== undefined)?.atMs;
  const isActive = activeLines(lines);
  const { from, summary } = boundaryOf(lines, isActive);
  const messages = lines.flatMap((line, index): ImportedMessage[] => {
    const told = index === from && summary !== undefined ? text(summary.line['summary']) : undefined;
    const before: ImportedMessage[] = told === undefined ? [] : [{ message: { role: 'user', content: `[Summary of the conversation so far]\n${told.toWellFormed()}` }, createdAtMs: summary?.atMs ?? startedAtMs ?? 0, fate: 'active' }];
    const message = line.type === 'message' ? messageOf(line) : undefined;
    if (message === undefined) return before;
    return [...before, { message, createdAtMs: line.atMs ?? startedAtMs ?? 0, fate: !isActive(line) ? 'undone' : index < from ? 'archived' : 'active' }];
  });
  return { messages, startedAtMs, model: lines.map(({ line }) => wordAt(line, 'message', 'model')).findLast((model) => model !== undefined), usage: usageOf(lines) };
};
