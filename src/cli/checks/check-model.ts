import type { ModelOptions } from '../../agent/models/options.ts';
import { defaultModel } from '../../agent/models/options.ts';
import { addressOf, createProvider } from '../../agent/models/endpoints/create-provider.ts';
import { factsOf } from '../../agent/models/endpoints/providers.ts';
import { ModelError } from '../../core/errors.ts';
import type { ModelErrorCode } from '../../core/errors.ts';
import { systemClock } from '../../lib/clock.ts';
import { silentLogger } from '../../lib/logger.ts';
import { withinTime } from '../process/within-time.ts';

export type CheckedModel =
  | { readonly ok: true; readonly model: string; readonly tookMs: number }
  | { readonly ok: false; readonly code: ModelErrorCode; /** What the endpoint said, without a credential. */ readonly detail: string; readonly fix: string };

export interface ModelCheck {
  readonly options: ModelOptions;
  readonly timeoutMs: number;
  redact(text: string): string;
}

const fixes: Readonly<Partial<Record<ModelErrorCode, string>>> = {
  auth: 'The key was refused. Get a new one and run: hermes setup model',
  billing: 'The account has no credit left. Top it up, or choose another model: hermes setup model',
  model_not_found: 'The endpoint does not have this model. Choose one that it has: hermes setup model',
  unreachable: 'Nothing answers there. Start the server, or check model.base_url and the network',
  timeout: 'The endpoint takes too long. Try again, or check model.base_url and the network',
  malformed: 'What answers there is not a model. Check model.base_url',
  rate_limited: 'The key works, but the endpoint limits us right now. Try again later',
  overloaded: 'The key works, but the endpoint is overloaded right now. Try again later',
};

/** Few, but enough for models that think before they say anything. */
const maxOutputTokens = 16;

/** The variable in which a key is looked for and not found. */
const missingKey = ({ options: { provider, ...options } }: ModelCheck): string | undefined => {
  if (provider === 'demo' || addressOf({ ...options, provider }, options.endpoints).keys.length > 0) return undefined;
  return factsOf(provider).keyEnv;
};

const failure = (check: ModelCheck, error: unknown): CheckedModel => {
  const known = error instanceof ModelError ? error : new ModelError('timeout', error instanceof Error ? error.message : String(error), { cause: error });
  const missing = known.code === 'auth' ? missingKey(check) : undefined;
  const fix = missing === undefined ? (fixes[known.code] ?? known.rule.sentence) : `There is no key. Put it into .env as ${missing}, or run: hermes setup model`;
  return { ok: false, code: known.code, detail: check.redact(known.message), fix };
};

/** One tiny real call with the credential, to the model that would answer. Rejects only when the caller aborts. */
export const checkModel = async (check: ModelCheck, signal: AbortSignal): Promise<CheckedModel> => {
  const startedMs = performance.now();
  const asked = defaultModel(check.options);
  try {
    const model = await withinTime(check.timeoutMs, signal, async (inTime) => {
      const provider = createProvider(check.options, { clock: systemClock, log: silentLogger });
      const request = { model: asked, system: 'Answer with one word.', messages: [{ role: 'user' as const, content: 'Say hi.' }], tools: [], maxOutputTokens };
      // The first sign of an answer is all that is asked for; leaving ends the call.
      for await (const event of provider.stream(request, inTime)) return event.type === 'finish' ? event.model : asked;
      throw new ModelError('malformed', 'the model answered without any content');
    });
    return { ok: true, model, tookMs: Math.round(performance.now() - startedMs) };
  } catch (error) {
    signal.throwIfAborted();
    return failure(check, error);
  }
};
