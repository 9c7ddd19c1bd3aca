import type { ToolCall, TranscriptMessage } from '../../core/transcript.ts';
import type { TurnEvent } from '../../core/turn.ts';
import { toolResult } from '../alternation.ts';
import { boundResult } from '../tools/bound-result.ts';
import type { AcpUpdate, CallChange } from './read-update.ts';

/** More than this in one turn is no answer. */
const maxTextChars = 500_000;
const maxThoughtChars = 100_000;
const maxCalls = 1_000;
/** The agent keeps its own record; ours is for people. */
const maxInputChars = 2_000;
const maxOutputChars = 4_000;
const maxNameChars = 60;
const maxPreviewChars = 120;

interface Call {
  readonly id: string;
  name: string;
  title: string;
  /** JSON text; empty while nothing is known. */
  input: string;
  output: string;
  startedMs: number | undefined;
  done: boolean;
}

const isEmpty = (input: unknown): boolean => input === undefined || (typeof input === 'object' && input !== null && Object.keys(input).length === 0);

const inputText = (input: unknown, title: string): string => {
  const whole = JSON.stringify(input) ?? '';
  return whole.length > maxInputChars ? JSON.stringify({ title: title.slice(0, maxInputChars) }) : whole;
};

const oneLine = (text: string, max: number): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return (line.length > max ? `${line.slice(0, max - 1)}…` : line).toWellFormed();
};

const toolCallOf = ({ id, name, title, input }: Call): ToolCall => ({ id, name, arguments: input === '' ? JSON.stringify({ title: title.slice(0, maxInputChars) }) : input });

const nothingTold = 'The agent did not tell what came of it.';

/**
 * What an agent tells during one turn, as events of the turn. Text before a round of tool calls becomes a row with those calls and their results,
 * as one of ours would have it; the last text is the answer. It is bounded, whatever the agent sends and however slowly it is read.
 */
export class TurnFeed {
  readonly #now: () => number;
  readonly #queue: TurnEvent[] = [];
  readonly #calls = new Map<string, Call>();
  #round: Call[] = [];
  #text = '';
  #thought = '';
  #messageId: string | undefined;
  #chars = 0;
  #saidAnything = false;
  #wake = Promise.withResolvers<void>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The agent has written more than any answer has. */
  get isFull(): boolean {
    return this.#chars >= maxTextChars || this.#calls.size >= maxCalls;
  }

  get saidAnything(): boolean {
    return this.#saidAnything;
  }

  /** Resolves when there is something to take. */
  get changed(): Promise<void> {
    return this.#wake.promise;
  }

  take(): readonly TurnEvent[] {
    this.#wake = Promise.withResolvers<void>();
    return this.#queue.splice(0);
  }

  push(update: Exclude<AcpUpdate, { type: 'cost' }>): void {
    if (this.isFull) return;
    if (update.type === 'call') this.#onCall(update);
    else if (update.type === 'text') this.#onText(update.text, update.messageId);
    else this.#onThought(update.text);
    if (this.#queue.length > 0) this.#wake.resolve();
  }

  /** What is still to be given out; nothing comes after it. */
  end(finishReason: string): readonly TurnEvent[] {
    for (const call of this.#round) if (!call.done) this.#finish(call, false);
    const answer = this.#text;
    this.#text = '';
    if (this.#round.length > 0) this.#closeRound();
    const rest = this.take();
    if (answer.trim() === '') return rest;
    return [...rest, { type: 'message', message: this.#row(answer, { finishReason }) }];
  }

  #row(content: string, more: Partial<TranscriptMessage>): TranscriptMessage {
    const reasoning = this.#thought.toWellFormed();
    this.#thought = '';
    return { role: 'assistant', content: content.toWellFormed(), ...more, ...(reasoning !== '' && { reasoning }) };
  }

  #say(type: 'text' | 'reasoning', delta: string): void {
    const last = this.#queue.at(-1);
    if (last?.type === type) this.#queue[this.#queue.length - 1] = { type, delta: last.delta + delta };
    else this.#queue.push({ type, delta });
  }

  #onText(text: string, messageId: string | undefined): void {
    if (this.#round.length > 0 && this.#round.every((call) => call.done)) this.#closeRound();
    const isNext = this.#text !== '' && messageId !== this.#messageId && !this.#text.endsWith('\n');
    const delta = `${isNext ? '\n\n' : ''}${text}`.slice(0, maxTextChars - this.#chars);
    this.#messageId = messageId;
    this.#chars += delta.length;
    this.#text += delta;
    if (delta.trim() !== '') this.#saidAnything = true;
    this.#say('text', delta);
  }

  #onThought(text: string): void {
    const delta = text.slice(0, maxThoughtChars - this.#thought.length);
    if (delta === '') return;
    this.#thought += delta;
    this.#say('reasoning', delta);
  }

  #onCall(change: CallChange): void {
    const call = this.#calls.get(change.id) ?? this.#newCall(change.id);
    if (call.done) return;
    call.name = oneLine(change.name ?? call.name, maxNameChars);
    call.title = change.title ?? call.title;
    if (!isEmpty(change.input)) call.input = inputText(change.input, call.title);
    if (change.output !== undefined) call.output = boundResult(change.output, maxOutputChars);
    // A call is often announced before the agent knows what with.
    if (change.status !== 'pending' && call.startedMs === undefined && (change.status !== undefined || call.input !== '')) this.#start(call);
    if (change.status === 'completed' || change.status === 'failed') this.#finish(call, change.status === 'completed');
  }

  #newCall(id: string): Call {
    const call: Call = { id, name: 'tool', title: '', input: '', output: '', startedMs: undefined, done: false };
    this.#calls.set(id, call);
    this.#round.push(call);
    return call;
  }

  #start(call: Call): void {
    call.startedMs = this.#now();
    this.#queue.push({ type: 'tool_started', callId: call.id, name: call.name, preview: oneLine(call.title, maxPreviewChars) });
  }

  #finish(call: Call, ok: boolean): void {
    if (call.startedMs === undefined) this.#start(call);
    call.done = true;
    this.#queue.push({ type: 'tool_finished', callId: call.id, name: call.name, ok, durationMs: this.#now() - (call.startedMs ?? this.#now()) });
  }

  #closeRound(): void {
    const calls = this.#round.map(toolCallOf);
    this.#queue.push({ type: 'message', message: this.#row(this.#text, { toolCalls: calls, finishReason: 'tool_calls' }) });
    for (const [index, call] of this.#round.entries()) this.#queue.push({ type: 'message', message: toolResult(calls[index]!, call.output === '' ? nothingTold : call.output) });
    for (const call of this.#round) call.output = '';
    this.#round = [];
    this.#text = '';
    this.#messageId = undefined;
  }
}
