import { factsOf, isProviderName } from '../../agent/models/endpoints/providers.ts';
import type { ProviderName } from '../../agent/models/endpoints/providers.ts';
import { at, isRecord, parsed, wordAt } from '../plain-json.ts';
import type { Plain } from '../plain-json.ts';
import type { OpenclawAgent } from './agents.ts';
import { leave } from './mapping.ts';
import type { Mapping } from './mapping.ts';
import { secretIn } from './secret-in.ts';

const otherNames: Readonly<Record<string, ProviderName>> = { google: 'gemini', 'openai-codex': 'openai', 'z.ai': 'zai', 'x-ai': 'xai' };
/** How an endpoint of somebody's own speaks. */
const spoken: Readonly<Record<string, ProviderName>> = { 'openai-completions': 'custom', 'openai-responses': 'openai-responses', 'anthropic-messages': 'anthropic' };

interface NamedModel {
  readonly provider: ProviderName;
  readonly model: string;
  readonly base_url?: string;
}

const providerOf = (name: string): ProviderName | undefined => (isProviderName(name) ? name : otherNames[name]);

/** `anthropic/claude-…`; undefined where nobody here speaks to its maker. */
const modelOf = (root: Plain, written: string): NamedModel | undefined => {
  const [maker = '', ...rest] = written.split('/');
  const model = rest.join('/');
  if (model === '') return undefined;
  const base_url = wordAt(root, 'models', 'providers', maker, 'baseUrl');
  const known = providerOf(maker);
  if (known !== undefined) return { provider: known, model, ...(base_url !== undefined && { base_url }) };
  const provider = spoken[wordAt(root, 'models', 'providers', maker, 'api') ?? 'openai-completions'];
  return provider === undefined || base_url === undefined ? undefined : { provider, model, base_url };
};

const writtenModel = (value: unknown): string | undefined => (typeof value === 'string' ? value : wordAt(value, 'primary'));

/** Leaves what cannot be used, and says why. */
export const chosenModel = (mapping: Mapping, root: Plain, chosen: { readonly at: string; readonly value: unknown }): NamedModel | undefined => {
  const written = writtenModel(chosen.value);
  if (written === undefined) return undefined;
  const model = modelOf(root, written);
  if (model === undefined) leave(mapping, `${chosen.at}: ${written}`, `this gateway has no provider ${JSON.stringify(written.split('/')[0])}; hermes setup chooses one`);
  return model;
};

const mapFallbacks = (mapping: Mapping, root: Plain, written: unknown): void => {
  if (!Array.isArray(written)) return;
  const models = written.flatMap((each) => chosenModel(mapping, root, { at: 'agents.defaults.model.fallbacks', value: each }) ?? []);
  if (models.length > 0) mapping.settings['fallback_providers'] = models;
};

/** The key of an endpoint of one's own goes where the model is named, others into their usual variables. */
const mapKeys = (mapping: Mapping, root: Plain, maker: string | undefined): string | undefined => {
  const providers = at(root, 'models', 'providers');
  let own: string | undefined;
  for (const [name, facts] of isRecord(providers) ? Object.entries(providers) : []) {
    const secret = secretIn(at(facts, 'apiKey'), mapping.variables);
    const provider = providerOf(name);
    const variable = provider === undefined ? undefined : factsOf(provider).keyEnv;
    if (secret === 'elsewhere') leave(mapping, `models.providers.${name}.apiKey`, `the secret is kept elsewhere; put it into .env${variable === undefined ? '' : ` as ${variable}`}`);
    else if (secret !== undefined && variable !== undefined) mapping.env.set(variable, secret);
    else if (secret !== undefined && name === maker) own = secret;
  }
  return own;
};

/** The model that answers, those that stand in for it, and their keys. */
export const mapModels = (mapping: Mapping, root: Plain, main: OpenclawAgent | undefined): void => {
  const general = at(root, 'agents', 'defaults', 'model') ?? at(root, 'agent', 'model');
  const value = main?.options['model'] ?? general;
  const model = chosenModel(mapping, root, { at: 'agents.defaults.model', value });
  const key = mapKeys(mapping, root, writtenModel(value)?.split('/')[0]);
  if (model !== undefined) mapping.settings['model'] = { provider: model.provider, default: model.model, ...(model.base_url !== undefined && { base_url: model.base_url }), ...(key !== undefined && { api_key: key }) };
  mapFallbacks(mapping, root, at(value, 'fallbacks') ?? at(general, 'fallbacks'));
};

/** Keys from where OpenClaw keeps logins. Logins by a browser belong to the program that made them. */
export const mapLogins = (mapping: Mapping, stores: readonly string[]): void => {
  for (const store of stores) {
    const profiles = at(parsed(store), 'profiles');
    for (const [name, profile] of isRecord(profiles) ? Object.entries(profiles) : []) {
      const provider = providerOf(wordAt(profile, 'provider') ?? '');
      const variable = provider === undefined ? undefined : factsOf(provider).keyEnv;
      const secret = at(profile, 'type') === 'api_key' ? secretIn(at(profile, 'key') ?? at(profile, 'keyRef'), mapping.variables) : 'elsewhere';
      if (variable === undefined || secret === undefined || secret === 'elsewhere') mapping.report.add({ area: 'config', fate: 'left', what: `login ${name}`, why: at(profile, 'type') === 'api_key' ? 'there is no place for this key here' : 'it belongs to OpenClaw; this gateway needs a key of its own' });
      else if (!mapping.env.has(variable)) mapping.env.set(variable, secret);
    }
  }
};
