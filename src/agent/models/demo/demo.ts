import { ModelError } from '../../../core/errors.ts';
import type { ToolCall, TranscriptMessage } from '../../../core/transcript.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { ModelEvent, ModelProvider, ModelRequest } from '../contract.ts';
import { againText, callingText, introText, longText, markdownText, noToolText, setupText, toolText } from './demo-answers.ts';

interface Reply {
  readonly text: string;
  readonly call?: ToolCall;
}

interface Intent {
  readonly when: RegExp;
  readonly reply: (request: ModelRequest, match: RegExpExecArray) => Reply;
}

/** A zone that the person named, such as Europe/Berlin. */
const zoneIn = (text: string): string | undefined => /\b[A-Z][A-Za-z]+(?:\/[A-Z][A-Za-z_]+){1,2}\b/.exec(text)?.[0];

const askForTime = (request: ModelRequest): Reply => {
  if (request.toolChoice === 'none' || !request.tools.some(({ name }) => name === 'current_time')) return { text: noToolText };
  const zone = zoneIn(request.messages.at(-1)?.content ?? '');
  const call = { id: `demo_${request.messages.length}`, name: 'current_time', arguments: JSON.stringify(zone === undefined ? {} : { zone }) };
  return { text: callingText, call };
};

/** The first that matches answers. */
const intents: readonly Intent[] = [
  { when: /^echo\s+(.+)$/is, reply: (_request, match) => ({ text: match[1]! }) },
  { when: /\b(setup|set up|connect|configure|telegram)\b/i, reply: () => ({ text: setupText }) },
  { when: /\b(long|stream|streaming)\b/i, reply: () => ({ text: longText }) },
  { when: /\b(markdown|formatting)\b/i, reply: () => ({ text: markdownText }) },
  { when: /\b(tools?|time|clock|date)\b/i, reply: askForTime },
  { when: /^(hi|hello|hey|help|start|who are you|what can you do|what are you)\b/i, reply: () => ({ text: introText }) },
];

/** In a shared chat every message begins with `[name]`. */
const withoutSender = (text: string): string => text.replace(/^\[[^\]\n]{1,240}\]\s*/, '').trim();

const excerpt = (row: TranscriptMessage): string => {
  const files = (row.attachments ?? []).map(({ kind, name }) => `(${kind}: ${name})`);
  const line = [withoutSender(row.content), ...files].join(' ').replaceAll(/\s+/g, ' ').trim();
  return line.length > 200 ? `${line.slice(0, 199).toWellFormed()}…` : line || '…';
};

const replyTo = (request: ModelRequest): Reply => {
  const last = request.messages.at(-1);
  if (last?.role === 'tool') return { text: toolText(last.content) };
  const asked = request.messages.findLast((row) => row.role === 'user');
  if (asked === undefined) return { text: introText };
  const text = withoutSender(asked.content);
  for (const { when, reply } of intents) {
    const match = when.exec(text);
    if (match !== null) return reply(request, match);
  }
  return { text: request.messages.some((row) => row.role === 'assistant') ? againText(excerpt(asked)) : introText };
};

/** Whole words, about as many at once as a fast model writes. */
const pieces = (text: string): readonly string[] => text.match(/(?:\S+\s*|\s+){1,3}/g) ?? [];

const tokens = (chars: number): number => Math.ceil(chars / 4);

export interface DemoOptions {
  readonly clock: Clock;
  /** Between two pieces; 0 sends them as fast as they are read. */
  readonly pieceDelayMs?: number;
}

const pause = async (clock: Clock, ms: number, signal: AbortSignal): Promise<void> => {
  try {
    signal.throwIfAborted();
    if (ms > 0) await clock.sleep(ms, signal);
  } catch (error) {
    throw signal.aborted ? new ModelError('aborted', 'the call was aborted') : error;
  }
};

async function* answer(options: DemoOptions, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const { clock, pieceDelayMs = 20 } = options;
  if (request.needsImages === true) throw new ModelError('bad_request', 'the demo cannot look at images');
  const { text, call } = replyTo(request);
  for (const delta of pieces(text)) {
    await pause(clock, pieceDelayMs, signal);
    yield { type: 'text', delta };
  }
  const inputTokens = tokens(request.messages.reduce((sum, row) => sum + row.content.length, request.system.length));
  yield {
    type: 'finish',
    reason: call === undefined ? 'stop' : 'tool_calls',
    toolCalls: call === undefined ? [] : [call],
    usage: { inputTokens, outputTokens: tokens(text.length), cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
    model: 'demo',
  };
}

/** Built in, offline and deterministic: the same conversation always gets the same answer. */
export const newDemoProvider = (options: DemoOptions): ModelProvider => ({
  name: 'demo',
  stream: (request, signal) => answer(options, request, signal),
});
