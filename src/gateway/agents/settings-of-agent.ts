import type { GatewaySettings } from '../settings.ts';

type ModelSettings = GatewaySettings['model'];

/**
 * The model of one agent. An endpoint that the agent names itself never gets a key that was given for another one, and a key that the agent
 * names and does not have is not replaced by anybody else's.
 */
const modelOfAgent = (general: ModelSettings, own: GatewaySettings['agents'][string], variable: (name: string) => string | undefined): ModelSettings => {
  const provider = own.provider ?? general.provider;
  const key = own.api_key_env === undefined ? undefined : variable(own.api_key_env);
  const atOther = own.base_url !== undefined && own.base_url !== general.base_url;
  const { api_key: _key, api_keys: _keys, base_url: _url, ...keyless } = general;
  const elsewhere = provider !== general.provider || atOther;
  const { base_url } = general;
  const ownKeyOnly = own.api_key_env !== undefined || atOther;
  const usual = provider === 'demo' ? undefined : general.endpoints[provider];
  return {
    ...(elsewhere ? keyless : ownKeyOnly ? { ...keyless, ...(base_url !== undefined && { base_url }) } : general),
    provider,
    ...(own.model !== undefined && { default: own.model }),
    ...(own.base_url !== undefined && { base_url: own.base_url }),
    ...(key !== undefined && { api_key: key }),
    ...(ownKeyOnly && usual !== undefined && { endpoints: { ...general.endpoints, [provider]: { ...usual, api_key: undefined } } }),
  };
};

/** The settings as they hold for one agent: its own model and tools in place of the general ones. `variable` reads its own secrets. */
export const settingsOfAgent = (settings: GatewaySettings, id: string, variable: (name: string) => string | undefined): GatewaySettings => {
  const own = settings.agents[id];
  if (own === undefined) return settings;
  const choice = { ...(own.enabled_toolsets !== undefined && { toolsets: own.enabled_toolsets }), disabled_toolsets: own.disabled_toolsets ?? [] };
  const tools = own.enabled_toolsets === undefined && own.disabled_toolsets === undefined ? settings.tools : { ...settings.tools, agents: { ...settings.tools.agents, [id]: choice } };
  return { ...settings, model: modelOfAgent(settings.model, own, variable), tools };
};
