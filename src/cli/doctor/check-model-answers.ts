import { defaultModel } from '../../agent/models/options.ts';
import { checkModel } from '../checks/check-model.ts';
import type { Examination } from './examination.ts';
import { broken, ok, skipped, warning } from './finding.ts';
import type { Finding } from './finding.ts';

/** The credential has been accepted all the same. */
const passing = new Set(['rate_limited', 'overloaded']);

/** Whether the configured model answers to the configured credential. */
export const checkModelAnswers = async (examined: Examination, signal: AbortSignal): Promise<readonly Finding[]> => {
  if (examined.config === undefined) return [skipped('The configuration cannot be used')];
  const options = examined.config.sections.model;
  if (options.provider === 'demo') return [warning('The built-in demo model answers, which only shows how things work', 'hermes setup model')];
  const name = `${defaultModel(options)} (${options.provider})`;
  if (examined.offline) return [skipped(`${name} was not asked, because of --offline`)];
  const checked = await checkModel({ options, timeoutMs: examined.answerMs, redact: examined.redact }, signal);
  if (checked.ok) return [ok(`${name} answers, after ${checked.tookMs} ms`)];
  return [passing.has(checked.code) ? warning(`${name}: ${checked.detail}`, checked.fix) : broken(`${name}: ${checked.detail}`, checked.fix)];
};
