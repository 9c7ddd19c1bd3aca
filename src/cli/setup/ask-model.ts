import { factsOf, providerNames } from '../../agent/models/endpoints/providers.ts';
import type { ProviderName } from '../../agent/models/endpoints/providers.ts';
import { checkDraftedModel } from './model-check.ts';
import { findModels, modelsOf } from './find-models.ts';
import type { ModelSource } from './find-models.ts';
import { wishedAddress, keyVariableOf, modelChanges } from './model-settings.ts';
import type { EndpointWish, ModelChoice } from './model-settings.ts';
import type { Prompts } from './prompts.ts';
import type { SetupRun } from './run.ts';

type Pick = ModelSource | 'type' | 'keep';

/** More are quicker typed than found in a list. */
const mostListed = 30;

const current = (run: SetupRun): { readonly label: string; readonly isDemo: boolean } => {
  const loaded = run.draft.load();
  if (!loaded.ok) return { label: 'Leave it as it is', isDemo: true };
  const { provider, default: name } = loaded.sections.model;
  return provider === 'demo' ? { label: 'The built-in demo model, for now', isDemo: true } : { label: `Keep ${name ?? provider} (${provider})`, isDemo: false };
};

const pickSource = (prompts: Prompts, run: SetupRun, found: readonly ModelSource[]): Promise<Pick> => {
  const { label, isDemo } = current(run);
  const hint = ({ keyVariable, models }: ModelSource): string => [keyVariable === undefined ? '' : `${keyVariable} is set`, models.length === 0 ? '' : `${models.length} models`].filter((part) => part !== '').join(', ');
  return prompts.choose<Pick>({
    message: found.length === 0 ? 'Which model shall answer? No key and no local server was found.' : 'Which model shall answer? This was found:',
    options: [
      ...(isDemo ? [] : [{ value: 'keep' as const, label }]),
      ...found.map((source) => ({ value: source, label: source.label, hint: hint(source) })),
      { value: 'type', label: 'Another one', hint: 'with a key or an address of yours' },
      ...(isDemo ? [{ value: 'keep' as const, label, hint: 'skip this step' }] : []),
    ],
  });
};

const urlProblem = (text: string): string | undefined => (URL.canParse(text.trim()) && /^https?:/.test(text.trim()) ? undefined : 'An address such as http://127.0.0.1:8080/v1, please.');

/** An endpoint that was not found by itself. */
const typeEndpoint = async (run: SetupRun, prompts: Prompts): Promise<EndpointWish> => {
  const provider = await prompts.choose<ProviderName>({ message: 'Where is it?', options: providerNames.map((value) => ({ value, label: factsOf(value).label })) });
  const { baseUrl: usual, keyEnv, local } = factsOf(provider);
  const baseUrl = usual === undefined || local === true ? await prompts.ask({ message: 'Its address, up to and with /v1', ...(usual !== undefined && { initial: usual }), validate: urlProblem }) : undefined;
  const endpoint: EndpointWish = { provider, ...(baseUrl !== undefined && { baseUrl }) };
  if (wishedAddress(run.draft, endpoint).keys.length > 0) {
    const variable = keyVariableOf(endpoint);
    if (await prompts.confirm(`${variable} is set already. Use it?`, true)) return endpoint;
  }
  const key = await prompts.askSecret({ message: keyEnv === undefined ? 'Its key; just Enter if it needs none' : 'Its key', validate: (text) => (keyEnv !== undefined && text.trim() === '' ? 'This is needed.' : undefined) });
  return key === '' ? endpoint : { ...endpoint, key };
};

const nameModel = async (run: SetupRun, prompts: Prompts, at: { readonly endpoint: EndpointWish; readonly known: readonly string[] | undefined }): Promise<string> => {
  const { endpoint } = at;
  const models = at.known ?? (await modelsOf(run, endpoint));
  if (models.length > 0 && models.length <= mostListed) return prompts.choose({ message: 'Which model of it?', options: models.map((value) => ({ value, label: value })) });
  const isKnown = (name: string): string | undefined => {
    if (name.trim() === '') return 'This is needed.';
    if (models.length === 0 || models.includes(name.trim())) return undefined;
    const near = models.filter((model) => model.includes(name.trim())).slice(0, 5);
    return `It has no model of that name${near.length === 0 ? '' : `, but ${near.join(', ')}`}.`;
  };
  return (await prompts.ask({ message: models.length === 0 ? 'The name of the model, as the endpoint calls it' : `The name of one of its ${models.length} models; a part of it shows what there is`, validate: isKnown })).trim();
};

/** A key of the environment is there only for processes that inherit it. */
const keepKey = async (run: SetupRun, prompts: Prompts, choice: ModelChoice): Promise<ModelChoice> => {
  const variable = keyVariableOf(choice);
  const value = choice.key === undefined ? run.draft.inEnvironment(variable) : undefined;
  if (value === undefined || !(await prompts.confirm(`Keep ${variable} in .env too, so that the gateway finds it however it is started?`, true))) return choice;
  return { ...choice, key: value };
};

type AfterFailure = 'again' | 'keep' | 'leave';

const afterFailure = (prompts: Prompts): Promise<AfterFailure> =>
  prompts.choose<AfterFailure>({
    message: 'What now?',
    options: [
      { value: 'again', label: 'Choose again' },
      { value: 'keep', label: 'Keep it all the same' },
      { value: 'leave', label: 'Leave the model as it was' },
    ],
  });

/** One choice and its check. Answers whether to ask again. */
const once = async (run: SetupRun, prompts: Prompts): Promise<boolean> => {
  prompts.say('info', 'Looking for models …');
  const picked = await pickSource(prompts, run, await findModels(run));
  if (picked === 'keep') return false;
  const endpoint: EndpointWish = picked === 'type' ? await typeEndpoint(run, prompts) : { provider: picked.provider, ...(picked.baseUrl !== undefined && { baseUrl: picked.baseUrl }) };
  const model = await nameModel(run, prompts, { endpoint, known: picked === 'type' ? undefined : picked.models });
  const goBack = run.draft.mark();
  const refused = run.draft.set(modelChanges(await keepKey(run, prompts, { ...endpoint, model })));
  if (refused !== undefined) {
    prompts.say('error', refused);
    return true;
  }
  prompts.say('info', `Asking ${model} …`);
  const note = await checkDraftedModel(run);
  if (note.outcome === 'fails') prompts.say('error', `${note.text}\n${note.fix ?? ''}`);
  else prompts.say(note.outcome === 'works' ? 'success' : 'info', note.text);
  const next = note.outcome === 'fails' ? await afterFailure(prompts) : 'keep';
  if (next === 'keep') run.checks.push(note);
  else goBack();
  return next === 'again';
};

/** The step that finds a model. */
export const askModel = async (run: SetupRun, prompts: Prompts): Promise<void> => {
  while (await once(run, prompts));
};
