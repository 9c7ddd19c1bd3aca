import { addressOf } from '../../agent/models/endpoints/create-provider.ts';
import type { EndpointAddress } from '../../agent/models/endpoints/create-provider.ts';
import { factsOf } from '../../agent/models/endpoints/providers.ts';
import type { ProviderName } from '../../agent/models/endpoints/providers.ts';
import type { Change, Draft } from './draft.ts';

/** An endpoint, and where its key is. */
export interface EndpointWish {
  readonly provider: ProviderName;
  /** When it is not the usual one of the provider. */
  readonly baseUrl?: string;
  /** The variable that holds the key, when it is not the usual one. */
  readonly keyVariable?: string;
  /** A key that was typed, to be kept in `.env`. */
  readonly key?: string;
}

export interface ModelChoice extends EndpointWish {
  readonly model: string;
}

/** For endpoints that have no usual variable. */
const anyKeyVariable = 'MODEL_API_KEY';

/** The variable in which the key is, or would be. */
export const keyVariableOf = ({ provider, keyVariable }: EndpointWish): string => keyVariable ?? factsOf(provider).keyEnv ?? anyKeyVariable;

/** The key by its usual variable needs no mention in config.yaml; any other is referred to there. */
const keyChange = (choice: EndpointWish): Change => {
  const variable = keyVariableOf(choice);
  const isMentioned = variable !== factsOf(choice.provider).keyEnv && (choice.key !== undefined || choice.keyVariable !== undefined);
  return { path: 'model.api_key', value: isMentioned ? `\${${variable}}` : undefined, inConfigOnly: true, ...(choice.key !== undefined && { keep: { name: variable, value: choice.key, comment: `Key of the model (${factsOf(choice.provider).label})` } }) };
};

/** What has to change for this model to answer. What an earlier choice left behind goes, but keys stay in `.env`. */
export const modelChanges = (choice: ModelChoice): readonly Change[] => [
  { path: 'model.provider', value: choice.provider },
  { path: 'model.default', value: choice.model },
  { path: 'model.base_url', value: choice.baseUrl === factsOf(choice.provider).baseUrl ? undefined : choice.baseUrl },
  keyChange(choice),
];

/** An address that the environment gives a provider: it is written down, since the gateway may be started without it. */
export const unusualAddress = (draft: Draft, provider: ProviderName): { readonly baseUrl?: string } => {
  const { baseUrl } = wishedAddress(draft, { provider });
  return baseUrl === '' || baseUrl === factsOf(provider).baseUrl ? {} : { baseUrl };
};

/** Where the wish leads, with the key that would be used. */
export const wishedAddress = (draft: Draft, wish: EndpointWish): EndpointAddress => {
  const loaded = draft.load();
  const key = wish.key ?? (wish.keyVariable === undefined || !loaded.ok ? undefined : loaded.variable(wish.keyVariable));
  return addressOf({ provider: wish.provider, base_url: wish.baseUrl, api_key: key }, loaded.ok ? loaded.sections.model.endpoints : {});
};
