import { isAbsolute, join, resolve } from 'node:path';
import type { AgentOptions } from '../../routing/options.ts';
import { mainAgent } from '../../routing/select-agent.ts';
import type { GatewaySettings } from '../settings.ts';

/** Where an agent keeps what is its own: its words about itself, memory, skills and secrets. */
export const homeOfAgent = (home: string, id: string, options: AgentOptions | undefined): string => {
  if (options?.home_dir !== undefined) return isAbsolute(options.home_dir) ? options.home_dir : resolve(home, options.home_dir);
  return id === mainAgent ? home : join(home, 'profiles', id);
};

/** The settings as they hold for one agent: its own model and tools in place of the general ones. `variable` reads its own secrets. */
export const settingsOfAgent = (settings: GatewaySettings, id: string, variable: (name: string) => string | undefined): GatewaySettings => {
  const own = settings.agents[id];
  if (own === undefined) return settings;
  const key = own.api_key_env === undefined ? undefined : variable(own.api_key_env);
  // Another endpoint never gets the key of the general one.
  const elsewhere = own.provider !== undefined || own.base_url !== undefined;
  const { api_key: _key, api_keys: _keys, base_url: _url, ...keyless } = settings.model;
  const model: GatewaySettings['model'] = {
    ...(elsewhere ? keyless : settings.model),
    ...(own.provider !== undefined && { provider: own.provider }),
    ...(own.model !== undefined && { default: own.model }),
    ...(own.base_url !== undefined && { base_url: own.base_url }),
    ...(key !== undefined && { api_key: key }),
  };
  const choice = { ...(own.enabled_toolsets !== undefined && { toolsets: own.enabled_toolsets }), disabled_toolsets: own.disabled_toolsets ?? [] };
  const tools = own.enabled_toolsets === undefined && own.disabled_toolsets === undefined ? settings.tools : { ...settings.tools, agents: { ...settings.tools.agents, [id]: choice } };
  return { ...settings, model, tools };
};
