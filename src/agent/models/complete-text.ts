import { ModelError } from '../../core/errors.ts';
import type { Attachment, Usage } from '../../core/transcript.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { newDeadline } from '../deadline.ts';
import type { ModelRequest, ModelRoute } from './contract.ts';
import { afterStep, firstTry, recover } from './endpoints/recovery.ts';
import { routeLabel } from './endpoints/route-cursor.ts';
import { isModelImage } from './media/load-images.ts';
import type { AuxiliaryTask } from './options.ts';

export interface TextRequest {
  readonly system: string;
  readonly prompt: string;
  readonly maxOutputTokens?: number;
  /** Images to look at, by whoever can; others are only named. */
  readonly attachments?: readonly Attachment[];
}

export interface CompletedText {
  readonly text: string;
  readonly usage: Usage;
  /** The model that answered, as its endpoint calls it. */
  readonly model: string;
}

/** One prompt to one text, without tools and without a transcript. Never an empty text: every failure is a thrown `ModelError`. */
export type CompleteText = (request: TextRequest, signal: AbortSignal) => Promise<CompletedText>;

export interface CompleteTextOptions {
  /** Whom to ask, in this order. */
  readonly routes: readonly ModelRoute[];
  readonly task?: AuxiliaryTask;
  /** For each of them. */
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random?: () => number;
}

/** Small jobs get short answers; one that does not end is of no use. */
const maxTextChars = 400_000;

const readText = async (route: ModelRoute, request: ModelRequest, signal: AbortSignal): Promise<CompletedText> => {
  let text = '';
  for await (const event of route.provider.stream(request, signal)) {
    if (event.type === 'text') text += event.delta;
    if (text.length > maxTextChars) throw new ModelError('malformed', 'the answer does not end');
    if (event.type !== 'finish') continue;
    if (event.reason === 'content_filter') throw new ModelError('content_blocked', 'the provider filtered the answer');
    if (text.trim() === '') throw new ModelError('malformed', 'the model answered with nothing');
    return { text: text.trim().toWellFormed(), usage: event.usage, model: event.model };
  }
  throw new ModelError('malformed', 'the answer ended without a reason');
};

/** Ends the work when its time is over. */
const within = async <T>(timeoutMs: number, caller: { readonly clock: Clock; readonly signal: AbortSignal }, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const { clock, signal } = caller;
  const controller = new AbortController();
  const deadline = newDeadline(clock, () => controller.abort(new Error('the time is over')));
  const onAbort = (): void => controller.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  deadline.set(clock.now() + timeoutMs);
  try {
    return await work(controller.signal);
  } catch (error) {
    if (signal.aborted) throw new ModelError('aborted', 'the call was aborted', { cause: error });
    throw controller.signal.aborted ? new ModelError('timeout', 'the model took too long', { cause: error }) : error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    deadline.clear();
  }
};

/** Asks one route, again after failures that may pass. */
const askRoute = async (options: CompleteTextOptions, ask: { readonly route: ModelRoute; readonly request: ModelRequest; readonly hasFallback: boolean }, signal: AbortSignal): Promise<CompletedText> => {
  const { maxRetries, random = Math.random, clock } = options;
  for (let tried = firstTry; ; ) {
    try {
      return await readText(ask.route, ask.request, signal);
    } catch (error) {
      if (!(error instanceof ModelError) || signal.aborted) throw error;
      const recovery = recover(error, tried, { maxRetries, random, hasFallback: ask.hasFallback });
      if (recovery.step !== 'repeat' && recovery.step !== 'next_key') throw error;
      tried = afterStep(tried, recovery);
      if (recovery.step === 'repeat') await clock.sleep(recovery.delayMs, signal);
    }
  }
};

export const newCompleteText =
  (options: CompleteTextOptions): CompleteText =>
  async ({ system, prompt, maxOutputTokens, attachments }, signal) => {
    const message = { role: 'user' as const, content: prompt, ...(attachments !== undefined && { attachments }) };
    const needsImages = (attachments ?? []).some(({ mime }) => isModelImage(mime));
    const fixed = { system, messages: [message], tools: [], ...(options.task !== undefined && { task: options.task }), ...(needsImages && { needsImages: true as const }), ...(maxOutputTokens !== undefined && { maxOutputTokens }) };
    let failure = new ModelError('unreachable', 'there is nobody to ask');
    for (const [index, route] of options.routes.entries()) {
      if (signal.aborted) throw new ModelError('aborted', 'the call was aborted');
      const ask = { route, request: { ...fixed, model: route.model }, hasFallback: index < options.routes.length - 1 };
      try {
        return await within(options.timeoutMs, { clock: options.clock, signal }, (inTime) => askRoute(options, ask, inTime));
      } catch (error) {
        if (!(error instanceof ModelError) || error.code === 'aborted') throw error;
        options.log.warn({ code: error.code, status: error.status, route: routeLabel(route), reason: error.message }, 'model.text_failed');
        failure = error;
      }
    }
    throw failure;
  };
