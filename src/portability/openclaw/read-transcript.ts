import type { ToolCall, TranscriptMessage } from '../../core/transcript.ts';
import type { ImportedMessage } from '../../store/imported-session.ts';

type Plain = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Plain => typeof value === 'object' && value !== null && !Array.isArray(value);

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** One line of a transcript file. */
export interface TranscriptLine {
  readonly type: string;
  readonly id: string | undefined;
  readonly parentId: string | undefined;
  readonly atMs: number | undefined;
  readonly line: Plain;
}

const momentOf = (value: unknown): number | undefined => {
  const ms = typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isFinite(ms) ? ms : undefined;
};

/** Lines that can be read; a file that a crash has cut off ends with one that cannot. */
export const readLines = (content: string): readonly TranscriptLine[] =>
  content.split('\n').flatMap((raw) => {
    if (raw.trim() === '') return [];
    try {
      const line: unknown = JSON.parse(raw);
      if (!isRecord(line) || typeof line['type'] !== 'string') return [];
      return [{ type: line['type'], id: text(line['id']), parentId: text(line['parentId']), atMs: momentOf(line['timestamp']), line }];
    } catch (error) {
      if (error instanceof SyntaxError) return [];
      throw error;
    }
  });

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
      return { role: 'assistant', content: said.toWellFormed(), ...(calls.length > 0 && { toolCalls: calls }), ...(reasoning !== '' && { reasoning: reasoning.toWellFormed() }) };
    case 'toolResult':
    case 'tool':
      return { role: 'tool', content: said.toWellFormed(), ...(text(message['toolCallId']) !== undefined && { toolCallId: text(message['toolCallId']) ?? '' }), ...(text(message['toolName']) !== undefined && { toolName: text(message['toolName']) ?? '' }) };
    default:
      return undefined;
  }
};

/** A transcript is a tree; the conversation is the way from its last line to its root. */
const onTheWay = (lines: readonly TranscriptLine[]): ReadonlySet<string> => {
  const byId = new Map(lines.flatMap((line) => (line.id === undefined ? [] : [[line.id, line] as const])));
  const way = new Set<string>();
  for (let line = lines.findLast(({ id }) => id !== undefined); line?.id !== undefined && !way.has(line.id); line = line.parentId === undefined ? undefined : byId.get(line.parentId)) way.add(line.id);
  return way;
};

/** The conversation in a file, in order: what was summarised is kept behind its summary, what was branched away from is undone. */
export const readTranscript = (lines: readonly TranscriptLine[], startedAtMs: number): readonly ImportedMessage[] => {
  const isTree = lines.some(({ type, parentId }) => type === 'message' && parentId !== undefined);
  const way = onTheWay(lines);
  const compaction = lines.findLast(({ type, id }) => type === 'compaction' && (!isTree || id === undefined || way.has(id)));
  const keptFrom = compaction === undefined ? -1 : lines.findIndex(({ id }) => id !== undefined && id === compaction.line['firstKeptEntryId']);
  const summaryAt = compaction === undefined ? -1 : lines.indexOf(compaction);
  const archivedBefore = keptFrom === -1 ? summaryAt : keptFrom;
  return lines.flatMap((line, index): ImportedMessage[] => {
    const createdAtMs = line.atMs ?? startedAtMs;
    const summary = line === compaction ? text(line.line['summary']) : undefined;
    if (summary !== undefined) return [{ message: { role: 'user', content: `[Summary of the conversation so far]\n${summary.toWellFormed()}` }, createdAtMs, fate: 'active' }];
    const message = line.type === 'message' ? messageOf(line) : undefined;
    if (message === undefined) return [];
    const fate = isTree && line.id !== undefined && !way.has(line.id) ? 'undone' : index < archivedBefore ? 'archived' : 'active';
    return [{ message, createdAtMs, fate }];
  });
};
