import type { MediaNotes } from '../../store/messages/media-notes.ts';
import { newCompleteText } from './complete-text.ts';
import type { CompleteText } from './complete-text.ts';
import type { ModelProvider, ModelRoute } from './contract.ts';
import { addressOf, providerFor } from './endpoints/create-provider.ts';
import type { EndpointAddress, EndpointChoice, ProviderDeps } from './endpoints/create-provider.ts';
import type { ModelLists } from './endpoints/model-lists.ts';
import { factsOf } from './endpoints/providers.ts';
import type { ProviderName } from './endpoints/providers.ts';
import { knownContextTokens } from './facts/known-models.ts';
import { parseModelName } from './facts/model-name.ts';
import { newDescribeImages } from './media/describe-images.ts';
import { defaultModel } from './options.ts';
import type { AuxiliaryOptions, AuxiliaryTask, ModelSettings } from './options.ts';

export interface ModelsDeps extends Omit<ProviderDeps, 'imageInput' | 'describeImages'> {
  /** Where it is kept what images show; without it models that cannot look at images only read their names. */
  readonly notes?: MediaNotes;
  /** What endpoints say about their models; without it only what is known by name counts. */
  readonly lists?: ModelLists;
  readonly random?: () => number;
}

export interface TaskEndpoint extends EndpointAddress {
  readonly model: string;
  readonly timeoutMs: number;
}

/** Everything that can be asked under one configuration. Keys that rest and windows that were learnt are remembered here. */
export interface Models {
  /** Who is asked first. Its provider also takes names such as `anthropic:claude-sonnet-5-5`. */
  readonly main: ModelRoute;
  /** Who answers the rest of a turn when `main` cannot. */
  readonly fallbacks: readonly ModelRoute[];
  /** For smaller jobs. The main model does what has no model of its own, and what its own model fails at. */
  completeText(task: AuxiliaryTask): CompleteText;
  /** For jobs that are no texts, such as transcription; undefined for a task without an endpoint of its own. */
  endpointFor(task: AuxiliaryTask): TaskEndpoint | undefined;
  /** How much a model can read at once: as learnt, as configured, as its endpoint says, as known, or as usual there. */
  contextTokens(model?: string): number;
  /** To be told when a refusal says how much fits (`error.facts.windowTokens`). */
  learnWindow(model: string, tokens: number): void;
  /** Asks the main endpoint how much its model reads, where nobody knows. Never rejects. */
  lookUpWindow(signal: AbortSignal): Promise<void>;
}

/** A job that fails is done by the main model instead; waiting long is for turns. */
const textRetries = 1;
const usualTimeoutMs = 120_000;
const demoContextTokens = 128_000;

const written = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

/** Answers for whichever endpoint the name of the model names. Endpoints are made once. */
const newSwitchboard = (settings: ModelSettings, deps: ProviderDeps): ModelProvider => {
  const main = providerFor(settings.model, settings.model, deps);
  const others = new Map<string, ModelProvider>();
  return {
    name: main.name,
    stream(request, signal) {
      const { provider, model } = parseModelName(request.model);
      if (provider === undefined || provider === settings.model.provider) return main.stream({ ...request, model }, signal);
      const other = others.get(provider) ?? providerFor({ provider }, settings.model, deps);
      others.set(provider, other);
      return other.stream({ ...request, model }, signal);
    },
  };
};

/** An address without a name is a `custom` endpoint; neither is the main one. */
const choiceOf = (options: AuxiliaryOptions): EndpointChoice | undefined => {
  const { provider } = options;
  if (provider !== 'auto') return { ...options, provider };
  return written(options.base_url) === undefined ? undefined : { ...options, provider: 'custom' };
};

const routeFor = (options: AuxiliaryOptions | undefined, settings: ModelSettings, own: { readonly main: ModelRoute; readonly deps: ProviderDeps }): ModelRoute | undefined => {
  if (options === undefined) return undefined;
  const model = written(options.model);
  const choice = choiceOf(options);
  if (choice !== undefined) return { provider: providerFor(choice, settings.model, own.deps), model: model ?? own.main.model };
  return model === undefined ? undefined : { provider: own.main.provider, model };
};

/** What does a job that is no text where nobody names a model for it. */
const usualModel = (task: AuxiliaryTask, provider: ProviderName): string => {
  if (task === 'speech') return 'gpt-4o-mini-tts';
  if (task !== 'transcription') return '';
  return provider === 'groq' ? 'whisper-large-v3-turbo' : provider === 'mistral' ? 'voxtral-mini-latest' : 'whisper-1';
};

const taskEndpoint = (task: AuxiliaryTask, settings: ModelSettings): TaskEndpoint | undefined => {
  const options = settings.auxiliary[task];
  const choice = options === undefined ? undefined : choiceOf(options);
  if (options === undefined || choice === undefined || choice.provider === 'demo') return undefined;
  const address = addressOf({ ...choice, provider: choice.provider }, settings.model.endpoints);
  return { ...address, model: written(options.model) ?? usualModel(task, choice.provider), timeoutMs: options.timeout * 1000 };
};

/** The main endpoint's address, or that of the provider which a model's name names; none for the demo. */
const addressFor = (name: string, settings: ModelSettings): { readonly address: EndpointAddress | undefined; readonly model: string } => {
  const { provider = settings.model.provider, model } = parseModelName(name);
  if (provider === 'demo') return { address: undefined, model };
  const choice = provider === settings.model.provider ? { ...settings.model, provider } : { provider };
  return { address: addressOf(choice, settings.model.endpoints), model };
};

const configuredWindow = (name: string, settings: ModelSettings): number | undefined =>
  name === defaultModel(settings.model) ? settings.model.context_length : settings.fallback_providers.find(({ model }) => model === name)?.context_length;

/** On the owner's machine a model reads what it was started with, whatever it could read. */
const knownAt = ({ provider }: EndpointAddress, model: string): number | undefined => (factsOf(provider).local === true ? undefined : knownContextTokens(model));

const expected = (address: EndpointAddress, model: string): number => knownAt(address, model) ?? factsOf(address.provider).contextTokens;

const imageDeps = ({ agent }: ModelSettings, { mediaFolder, notes, clock, log }: ModelsDeps, look: CompleteText): Pick<ProviderDeps, 'imageInput' | 'describeImages'> => ({
  ...(agent !== undefined && { imageInput: agent.image_input_mode }),
  ...(mediaFolder !== undefined && notes !== undefined && { describeImages: newDescribeImages({ mediaFolder, notes, clock, log, look }) }),
});

/** The endpoints of a configuration. Make it anew when the configuration changes. */
export const newModels = (settings: ModelSettings, given: ModelsDeps): Models => {
  const deps: ModelsDeps & ProviderDeps = { ...given, ...imageDeps(settings, given, (request, signal) => textFor('vision')(request, signal)) };
  const main: ModelRoute = { provider: newSwitchboard(settings, deps), model: defaultModel(settings.model) };
  const fallbacks = settings.fallback_providers.map((options): ModelRoute => ({ provider: providerFor(options, settings.model, deps), model: options.model ?? options.provider }));
  const texts = new Map<AuxiliaryTask, CompleteText>();
  const learnt = new Map<string, number>();

  const newText = (task: AuxiliaryTask): CompleteText => {
    const options = settings.auxiliary[task];
    const route = routeFor(options, settings, { main, deps });
    return newCompleteText({
      task,
      routes: [...(route === undefined ? [] : [route]), main, ...fallbacks],
      timeoutMs: options === undefined ? usualTimeoutMs : options.timeout * 1000,
      maxRetries: textRetries,
      clock: deps.clock,
      log: deps.log,
      ...(deps.random !== undefined && { random: deps.random }),
    });
  };

  const textFor = (task: AuxiliaryTask): CompleteText => {
    const text = texts.get(task) ?? newText(task);
    texts.set(task, text);
    return text;
  };

  const saidBy = (address: EndpointAddress, model: string): number | undefined => deps.lists?.find(address.baseUrl, model)?.contextTokens;

  return {
    main,
    fallbacks,
    completeText: textFor,
    endpointFor: (task) => taskEndpoint(task, settings),
    contextTokens(name = main.model) {
      const { address, model } = addressFor(name, settings);
      if (address === undefined) return demoContextTokens;
      return learnt.get(model) ?? configuredWindow(name, settings) ?? saidBy(address, model) ?? expected(address, model);
    },
    learnWindow: (name, tokens) => void learnt.set(parseModelName(name).model, tokens),
    async lookUpWindow(signal) {
      const { address, model } = addressFor(main.model, settings);
      if (address === undefined || deps.lists === undefined || settings.model.context_length !== undefined || knownAt(address, model) !== undefined) return;
      try {
        await deps.lists.list(address, signal);
      } catch (error) {
        deps.log.debug({ err: error, endpoint: address.provider }, 'models.list_failed');
      }
    },
  };
};
