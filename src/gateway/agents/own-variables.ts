import type { Redactor } from '../../lib/redact.ts';
import { mainAgent } from '../../routing/select-agent.ts';
import type { GatewaySettings } from '../settings.ts';

/** The variables that one `.env` sets, and nothing of any other file or of the environment. */
export interface OwnVariables {
  readonly path: string;
  /** Another number means that something may have changed. */
  readonly version: number;
  get(name: string): string | undefined;
  /** Looks whether the file has changed; answers what is wrong with it. */
  refresh(): Promise<readonly string[]>;
}

/** What whoever starts the gateway can tell about variables. */
export interface VariablesOutside {
  /** Makes every value known to the redactor before it can be had. */
  openVariables?(path: string, redactor: Redactor): OwnVariables;
  /** A variable of the process itself, which belongs to no agent. */
  environment?(name: string): string | undefined;
}

/** What programs of an agent get of its own variables: those that the owner lets through, and never the key of its model. The main agent's file holds the secrets of the gateway as well. */
export const passedVariables = ({ terminal, agents }: Pick<GatewaySettings, 'terminal' | 'agents'>, id: string, variables: OwnVariables): Readonly<Record<string, string>> => {
  if (id === mainAgent) return {};
  const passed = terminal.env_passthrough.filter((name) => name !== agents[id]?.api_key_env);
  return Object.fromEntries(passed.flatMap((name) => (variables.get(name) === undefined ? [] : [[name, variables.get(name) ?? '']])));
};

/** Where nobody can read files. */
export const noVariables = (path: string): OwnVariables => ({ path, version: 0, get: () => undefined, refresh: () => Promise.resolve([]) });
