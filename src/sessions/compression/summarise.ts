import type { CompleteText } from '../../agent/models/complete-text.ts';
import { boundResult } from '../../agent/tools/bound-result.ts';
import { ModelError } from '../../core/errors.ts';
import { noUsage } from '../../core/transcript.ts';
import type { Usage } from '../../core/transcript.ts';
import { renderRow } from './render-rows.ts';
import type { SaidRow } from './render-rows.ts';
import { staticSummary } from './static-summary.ts';
import { bareSummary } from './summary-message.ts';
import { summaryRequest } from './summary-prompt.ts';

export interface Summariser {
  readonly complete: CompleteText;
  /** Takes secrets out of a text. */
  redact(text: string): string;
}

export interface SummaryTask {
  readonly rows: readonly SaidRow[];
  readonly previous: string | undefined;
  readonly focus: string | undefined;
  /** How long it should be. It is cut at twice that. */
  readonly tokens: number;
}

export interface Summary {
  readonly text: string;
  readonly how: 'model' | 'static';
  readonly usage: Usage;
  readonly model: string | null;
}

const bytesPerToken = 4;

const mostChars = (task: SummaryTask): number => task.tokens * bytesPerToken * 2;

/** A summary by the model. Rejects with a `ModelError`; secrets are out of it on the way in and on the way back. */
export const summarise = async (summariser: Summariser, task: SummaryTask, signal: AbortSignal): Promise<Summary> => {
  const conversation = summariser.redact(task.rows.map(renderRow).join('\n\n'));
  const { text, usage, model } = await summariser.complete(summaryRequest({ ...task, conversation }), signal);
  const bare = bareSummary(summariser.redact(text));
  if (bare === '') throw new ModelError('malformed', 'the summary is empty');
  return { text: boundResult(bare, mostChars(task)), how: 'model', usage, model };
};

/** What takes its place when the model cannot be asked. */
export const summariseWithout = (summariser: Summariser, task: SummaryTask): Summary => ({
  text: summariser.redact(staticSummary(task.rows.map((row) => row.message), task.previous, mostChars(task))),
  how: 'static',
  usage: noUsage,
  model: null,
});
