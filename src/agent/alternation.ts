import type { ToolCall, TranscriptMessage } from '../core/transcript.ts';

const missingResult = 'No result: this call did not run to its end, and is not run again by itself.';
const beforeFirst = '(The conversation starts with a message from you.)';
const betweenToolsAndUser = '(A new message arrived before I could answer.)';
const nothingSaid = '(empty message)';

const join = (a: string, b: string): string => (a === '' ? b : b === '' ? a : `${a}\n\n${b}`);

const visible = (text: string): string => (text.trim() === '' ? '' : text);

const saysNothing = (row: TranscriptMessage): boolean => visible(row.content) === '' && (row.attachments?.length ?? 0) === 0;

const mergeUsers = (a: TranscriptMessage, b: TranscriptMessage): TranscriptMessage => {
  const attachments = [...(a.attachments ?? []), ...(b.attachments ?? [])];
  return { role: 'user', content: join(visible(a.content), visible(b.content)), ...(attachments.length > 0 && { attachments }) };
};

const mergeAssistants = (a: TranscriptMessage, b: TranscriptMessage): TranscriptMessage => {
  const reasoning = join(a.reasoning ?? '', b.reasoning ?? '');
  return { ...b, content: join(a.content, visible(b.content)), ...(reasoning !== '' && { reasoning }) };
};

/** Results that arrived for the calls of one assistant message, which end where the model spoke again. */
const resultsAfter = (rows: readonly TranscriptMessage[], index: number): ReadonlyMap<string, TranscriptMessage> => {
  const results = new Map<string, TranscriptMessage>();
  for (let at = index + 1; at < rows.length; at += 1) {
    const row = rows[at]!;
    if (row.role === 'assistant') break;
    if (row.role === 'tool' && row.toolCallId !== undefined && !results.has(row.toolCallId)) results.set(row.toolCallId, row);
  }
  return results;
};

const distinct = (calls: readonly ToolCall[] | undefined): readonly ToolCall[] => {
  if (calls === undefined || calls.length < 2) return calls ?? [];
  const ids = new Set<string>();
  return calls.filter((call) => !ids.has(call.id) && ids.add(call.id));
};

const withCalls = (row: TranscriptMessage, calls: readonly ToolCall[]): TranscriptMessage => {
  if (row.toolCalls === undefined || (calls.length > 0 && calls.length === row.toolCalls.length)) return row;
  const { toolCalls: _, ...rest } = row;
  return calls.length > 0 ? { ...rest, toolCalls: calls } : rest;
};

/** The row that completes the pair of a tool call. */
export const toolResult = (call: ToolCall, content: string): TranscriptMessage => ({
  role: 'tool',
  content,
  toolCallId: call.id,
  toolName: call.name,
});

/**
 * A transcript in the only order every model accepts: it begins with a user message; user and assistant alternate; an
 * assistant message with tool calls is followed by exactly one result per call, in the order of the calls, and then by an
 * assistant message or the end. Whatever breaks this is merged, stubbed, bridged or, when it belongs to nothing, dropped. Rows that
 * are in order come back as they are, so that the same history is sent as the same bytes.
 */
export const alternate = (rows: readonly TranscriptMessage[]): readonly TranscriptMessage[] => {
  const out: TranscriptMessage[] = [];

  const addUser = (row: TranscriptMessage): void => {
    const last = out.at(-1);
    if (last?.role === 'user') {
      out[out.length - 1] = mergeUsers(last, row);
      return;
    }
    if (last?.role === 'tool') out.push({ role: 'assistant', content: betweenToolsAndUser });
    out.push(row);
  };

  const addAssistant = (row: TranscriptMessage, index: number): void => {
    const calls = distinct(row.toolCalls);
    if (visible(row.content) === '' && calls.length === 0) return;
    const last = out.at(-1);
    const next = withCalls(row, calls);
    if (last === undefined) out.push({ role: 'user', content: beforeFirst }, next);
    else if (last.role === 'assistant') out[out.length - 1] = mergeAssistants(last, next);
    else out.push(next);
    if (calls.length === 0) return;
    const results = resultsAfter(rows, index);
    for (const call of calls) out.push(results.get(call.id) ?? toolResult(call, missingResult));
  };

  for (const [index, row] of rows.entries()) {
    switch (row.role) {
      case 'user':
        addUser(row);
        break;
      case 'assistant':
        addAssistant(row, index);
        break;
      case 'tool':
        break;
      default:
        row.role satisfies never;
    }
  }
  return out.map((row) => (row.role === 'user' && saysNothing(row) ? { ...row, content: nothingSaid } : row));
};
