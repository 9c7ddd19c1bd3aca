import type { AskPerson, TurnAbort, TurnInput } from '../agent/contract.ts';
import { resumeTranscript } from '../agent/resume-transcript.ts';
import { StoreError } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import type { TranscriptMessage } from '../core/transcript.ts';
import { addUsage, noUsage } from '../core/transcript.ts';
import type { Outgoing } from '../delivery/compose.ts';
import { splitMedia } from '../delivery/media-directives.ts';
import type { Prepared } from '../delivery/prepare-text.ts';
import { shownReasoning } from '../delivery/shown-reasoning.ts';
import { untilAborted } from '../lib/until-aborted.ts';
import { unansweredCalls } from '../store/agents/questions.ts';
import type { WindowUpdate } from '../store/sessions/turn-totals.ts';
import type { TurnChore } from '../store/sessions/turns.ts';
import { askPerson } from './ask-person.ts';
import { loadAttachments } from './attachments.ts';
import type { BegunTurn } from './begin.ts';
import type { TurnResult } from './commit.ts';
import type { CompressionParts } from './compression/job.ts';
import { compressOnRequest } from './compression/on-request.ts';
import { newTurnContext } from './compression/turn-context.ts';
import type { TurnContext } from './compression/turn-context.ts';
import { footerLine } from './footer.ts';
import { preparedText } from './prepared-text.ts';
import { storeTrouble } from './store-trouble.ts';
import { newProgress, steering, takeEvent } from './take-event.ts';
import type { Progress } from './take-event.ts';
import type { TurnEnd } from './turn-answer.ts';
import { answerOf, isSilent } from './turn-answer.ts';
import type { Answering, TurnParts, TurnSignals } from './turn-parts.ts';
import { writeGroup } from './write-group.ts';
import { appendToTurn, writeToTurn } from './write-to-turn.ts';
import type { TurnWrites } from './write-to-turn.ts';

const isSuspended = (halt: AbortSignal): boolean => halt.aborted && (halt.reason as TurnAbort).kind === 'suspended';

/** Fetches the files of messages and writes those messages into the transcript, in order. */
const writeRest = async (parts: TurnParts, begun: BegunTurn, { halt, writes }: Progress): Promise<void> => {
  for (const group of begun.unwritten) {
    const media = await loadAttachments(parts.attachments, group, halt);
    if (isSuspended(halt)) return;
    await writeToTurn(writes, begun, async (tx) => {
      const row = await writeGroup(tx, begun.turn, group, { media, shared: parts.policy.isShared(group) });
      await parts.attachments.echo?.(tx, begun.turn, media.heard);
      return row;
    });
  }
};

const compressionOf = ({ store, clock, log }: TurnParts, { compression }: Answering): CompressionParts => ({ ...compression, store, clock, log });

interface LoadedTranscript {
  readonly rows: readonly TranscriptMessage[];
  readonly context: TurnContext;
  readonly room: TurnInput['room'];
  /** Calls at its end that were waiting for a person: they have done nothing yet. */
  readonly unanswered: ReadonlySet<string>;
}

/** The transcript as the model gets it, within its window. Tool calls that a crash left open are answered with "interrupted", never run again, unless they were only waiting for a person. */
const loadTranscript = async (parts: TurnParts, begun: BegunTurn, at: { answering: Answering; signal: AbortSignal; writes: TurnWrites }): Promise<LoadedTranscript> => {
  const context = newTurnContext(compressionOf(parts, at.answering), { claim: begun.claim, session: begun.session, reader: at.answering.reader });
  const loaded = await context.load(at.signal);
  const rows = loaded.transcript;
  const room = context.room(loaded);
  if (!begun.resumed) return { rows, context, room, unanswered: new Set() };
  const unanswered = await parts.store.read((db) => unansweredCalls(db, begun.turn.id));
  const missing = resumeTranscript(rows, unanswered);
  if (missing.length > 0) await appendToTurn(at.writes, begun, missing);
  return { rows: [...rows, ...missing], context, room, unanswered };
};

/** What a memory knows about the last words stands behind them, for this once. */
const withRecall = async (rows: readonly TranscriptMessage[], answering: Answering): Promise<readonly TranscriptMessage[]> => {
  const last = rows.at(-1);
  if (last?.role !== 'user') return rows;
  const recalled = await answering.recall(last.content);
  return recalled === undefined ? rows : [...rows.slice(0, -1), { ...last, content: `${last.content}\n\n${recalled}` }];
};

/** What is left to know about a turn once its agent has ended. */
interface Conversed {
  readonly answering: Answering;
  readonly context: TurnContext;
  /** What the turn answers. */
  readonly asked: string;
}

const askFor = (parts: TurnParts, begun: BegunTurn, progress: Progress, answering: Answering): AskPerson => {
  const ask = askPerson({ store: parts.store, clock: parts.clock, log: parts.log, platform: (account) => parts.policy.platform(account), own: answering.ownQuestions }, begun);
  return async (question, from, waiting) => {
    if (!answering.attended) return { type: 'unattended' };
    progress.asked = true;
    return ask(question, from, waiting);
  };
};

/** Hands the turn to the agent and takes in what comes of it. */
const converse = async (parts: TurnParts, begun: BegunTurn, progress: Progress, signals: TurnSignals): Promise<Conversed> => {
  const answering = await parts.answering(begun);
  // A newer message does not break off a summary that it needs as well.
  const { rows, context, room, unanswered } = await loadTranscript(parts, begun, { answering, signal: signals.halt, writes: progress.writes });
  progress.asked = unanswered.size > 0;
  const { model, reasoningEffort } = begun.session.settings;
  const input: TurnInput = {
    sessionId: begun.session.id,
    turnId: String(begun.turn.id),
    system: answering.system,
    transcript: await withRecall(rows, answering),
    steering: () => steering(parts, begun, progress),
    asyncDelivery: answering.asyncDelivery,
    attended: answering.attended,
    limits: answering.limits,
    place: answering.place,
    ask: askFor(parts, begun, progress, answering),
    ...(room !== undefined && { room }),
    ...(unanswered.size > 0 && { unansweredCalls: unanswered }),
    ...(model !== undefined && { model }),
    ...(reasoningEffort !== undefined && { reasoningEffort }),
    ...answering.wishes,
    onModelCall: (call) => parts.onModelCall?.(begun, call),
  };
  for await (const event of answering.agent.run(input, signals.turn)) await takeEvent(parts, begun, progress, event);
  progress.usage = addUsage(progress.usage, context.usage());
  return { answering, context, asked: rows.findLast((row) => row.role === 'user')?.content ?? '' };
};

const endOf = (parts: TurnParts, begun: BegunTurn, progress: Progress): TurnEnd => {
  const end = progress.end ?? { type: 'end' as const, reason: 'internal_error' as const };
  const text = progress.final?.content ?? '';
  if (end.error === undefined) return { reason: end.reason, text };
  // What broke inside the agent has an id already.
  if (end.reason === 'internal_error') return { reason: end.reason, text, sentence: end.error.sentence };
  const errorId = newId('err', parts.clock.now());
  parts.log.warn({ session: begun.session.id, reason: end.reason, code: end.error.code, error_id: errorId }, 'turn.failed');
  return { reason: end.reason, text, sentence: end.error.sentence, errorId };
};

/** A fault of ours ends the turn with a notice and an id that both the log and the person see; it never takes the process down. */
const brokenOff = (parts: TurnParts, begun: BegunTurn, error: unknown): TurnEnd => {
  const errorId = newId('err', parts.clock.now());
  parts.log.error({ err: error, session: begun.session.id, error_id: errorId }, 'turn.broke');
  return { reason: 'internal_error', text: '', sentence: 'Something went wrong on my side.', errorId };
};

/** What makes an answer nicer never costs it. */
const orPlain = async <T>(parts: TurnParts, plain: T, better: (plain: T) => T | Promise<T>): Promise<T> => {
  try {
    return await better(plain);
  } catch (error) {
    if (error instanceof StoreError) throw error;
    parts.log.error({ err: error }, 'turn.shown_plainly');
    return plain;
  }
};

/** What people see of the end: what the model thought above it and facts about the turn below it, where they are wanted. */
const shownEnd = (parts: TurnParts, begun: BegunTurn, done: { end: TurnEnd; progress: Progress; conversed: Conversed | undefined; ms: number }): TurnEnd => {
  const { end, progress, conversed, ms } = done;
  const display = parts.display(begun);
  if (display === undefined || end.reason !== 'completed' || isSilent(end)) return end;
  const thought = display.show_reasoning ? shownReasoning(progress.final?.reasoning, { full: display.reasoning_full }) : '';
  const { usage, promptTokens, model } = progress;
  const window = conversed?.context.facts.window;
  const facts = {
    ...(model !== null && { model }),
    ...(promptTokens !== undefined && { contextTokens: promptTokens }),
    ...(window !== undefined && { contextLimit: window }),
    ...(usage.cost !== undefined && { costUsd: usage.cost.usd }),
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    durationMs: ms,
    ...conversed?.answering.folder(),
  };
  const footer = display.runtime_footer.enabled ? footerLine(display.runtime_footer.fields, facts) : '';
  return { ...end, text: [thought, end.text, footer].filter((part) => part !== '').join('\n\n') };
};

/** The model's own count says nothing about a turn that was broken off: rows came after it. */
const windowOf = ({ promptTokens = 0, end }: Progress, conversed: Conversed | undefined): WindowUpdate => ({
  ...(conversed !== undefined && { facts: conversed.context.facts }),
  ...(promptTokens > 0 && (end?.reason === 'completed' || end?.reason === 'limit') && { promptTokens }),
});

/** Work on a conversation that no person's message and no answer of the model belongs to. */
const doChore = async (parts: TurnParts, begun: BegunTurn, chore: TurnChore, signal: AbortSignal): Promise<TurnResult | undefined> => {
  const { target } = begun.turn;
  const ended = { error: null, model: null, usage: noUsage, asked: false, messages: [], window: {} } as const;
  try {
    const answering = await parts.answering(begun);
    const done = await compressOnRequest(compressionOf(parts, answering), { claim: begun.claim, session: begun.session, reader: answering.reader, chore }, signal);
    if (done.aborted && isSuspended(signal)) return undefined;
    return { ...ended, reason: done.aborted ? 'stopped' : 'completed', usage: done.usage, answer: done.text === '' ? undefined : { target, text: done.text } };
  } catch (error) {
    const trouble = storeTrouble(error);
    if (trouble !== undefined) throw trouble;
    const end = brokenOff(parts, begun, error);
    return { ...ended, reason: end.reason, error: end.sentence ?? null, answer: answerOf(end, { target, preview: undefined }) };
  }
};

/** A whole answer goes out with its files; of one that was broken off only the words are shown. */
const preparedEnd = async (parts: TurnParts, begun: BegunTurn, { end, account, halt }: { end: TurnEnd; account: string; halt: AbortSignal }): Promise<Prepared> => {
  const isWhole = (end.reason === 'completed' || end.reason === 'limit') && !isSilent(end);
  const plain = { text: splitMedia(end.text).text };
  return isWhole ? orPlain<Prepared>(parts, plain, () => preparedText(parts, begun, { text: end.text, account, halt })) : plain;
};

/** The answer for each further place that was arranged for it. Where nobody knows what it is about, trouble comes with the name of the chat it comes from. */
const copiesOf = async (parts: TurnParts, begun: BegunTurn, { end, halt }: { end: TurnEnd; halt: AbortSignal }): Promise<readonly Omit<Outgoing, 'key'>[]> => {
  const copies: Omit<Outgoing, 'key'>[] = [];
  const { chat, answerTo = [] } = begun.last?.event ?? {};
  for (const target of answerTo) {
    const { text, media } = await preparedEnd(parts, begun, { end, account: target.account, halt });
    const copy = answerOf({ ...end, text }, { target, preview: undefined, ...(media !== undefined && { media }) });
    if (copy !== undefined) copies.push(end.sentence === undefined ? copy : { ...copy, text: `**${chat?.name ?? chat?.id ?? ''}**\n\n${copy.text}` });
  }
  return copies;
};

/**
 * Runs a turn to its end. Undefined when it was put down for a shutdown. Everything it did so far is stored; its end is the caller's to
 * commit. Rejects only when the store does, or when no more files can be opened.
 */
export const runTurn = async (parts: TurnParts, begun: BegunTurn, signals: TurnSignals): Promise<TurnResult | undefined> => {
  const startedMs = parts.clock.now();
  using _typing = parts.typing(begun);
  if (begun.turn.chore !== undefined) return doChore(parts, begun, begun.turn.chore, signals.halt);
  const progress = newProgress(parts, begun, signals);
  let end: TurnEnd;
  let conversed: Conversed | undefined;
  try {
    await writeRest(parts, begun, progress);
    if (isSuspended(signals.halt)) return undefined;
    conversed = await converse(parts, begun, progress, signals);
    if (progress.end?.reason === 'suspended') return undefined;
    end = endOf(parts, begun, progress);
  } catch (error) {
    const trouble = storeTrouble(error);
    if (trouble !== undefined) throw trouble;
    end = brokenOff(parts, begun, error);
  } finally {
    await parts.told?.(begun);
    await progress.preview?.finish(signals.halt);
    // A courtesy ends by itself; one who halts does not wait for it.
    await Promise.race([progress.tools?.[Symbol.asyncDispose](), untilAborted(signals.halt)]);
  }
  const shown = await orPlain(parts, end, (plain) => shownEnd(parts, begun, { end: plain, progress, conversed, ms: parts.clock.now() - startedMs }));
  const { target } = begun.turn;
  const prepared = await preparedEnd(parts, begun, { end: shown, account: target.account, halt: signals.halt });
  const answer = answerOf({ ...shown, text: prepared.text }, { target, preview: await progress.preview?.finish(signals.halt), ...(prepared.media !== undefined && { media: prepared.media }), tellSilence: parts.policy.platform(target.account)?.surface === 'machine' });
  // What nobody was shown was not said: the model would take the person's message for answered.
  const unseen = answer === undefined && (end.reason === 'interrupted' || end.reason === 'stopped');
  return {
    reason: isSilent(end) ? 'silent' : end.reason,
    error: end.sentence ?? null,
    ...(progress.end?.error !== undefined && { errorCode: progress.end.error.code }),
    model: progress.model,
    usage: progress.usage,
    asked: progress.asked,
    messages: progress.final === undefined || unseen ? [] : [progress.final],
    window: windowOf(progress, conversed),
    ...(conversed !== undefined && end.reason === 'completed' && { kept: keptBy(conversed, end, parts.clock.now()) }),
    answer,
    copies: await copiesOf(parts, begun, { end: shown, halt: signals.halt }),
  };
};

/** What goes to the agent's memory when the turn is committed. */
const keptBy = ({ answering, asked }: Conversed, end: TurnEnd, atMs: number): NonNullable<TurnResult['kept']> => ({
  write: (tx) => answering.keepSaid(tx, { user: asked, assistant: end.text, atMs }),
  done: () => answering.onKept(),
});
