import { defaultModel } from '../../agent/models/options.ts';
import { checkModel } from '../checks/check-model.ts';
import { problemText } from './account-check.ts';
import { checkTimeoutMs } from './run.ts';
import type { CheckNote, SetupRun } from './run.ts';

/** The key has been accepted all the same. */
const passing = new Set(['rate_limited', 'overloaded']);

/** Asks the model that would answer with the drafted files. Nothing is asked with `--skip-checks`. */
export const checkDraftedModel = async (run: SetupRun): Promise<CheckNote> => {
  const loaded = run.draft.load();
  if (!loaded.ok) return { what: 'model', outcome: 'fails', text: problemText(loaded.problems) };
  const options = loaded.sections.model;
  if (run.skipChecks || options.provider === 'demo') return { what: 'model', outcome: 'skipped', text: `${defaultModel(options)} was not asked.` };
  const checked = await checkModel({ options, timeoutMs: checkTimeoutMs, redact: run.redact }, run.signal);
  if (checked.ok) return { what: 'model', outcome: 'works', text: `${checked.model} answers, after ${checked.tookMs} ms.` };
  if (passing.has(checked.code)) return { what: 'model', outcome: 'works', text: checked.fix };
  return { what: 'model', outcome: 'fails', text: `${defaultModel(options)}: ${checked.detail}`, fix: checked.fix };
};
