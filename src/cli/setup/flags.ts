import { ConfigError } from '../../core/errors.ts';

export const steps = ['model', 'platform', 'owner'] as const;

export type Step = (typeof steps)[number];

/** What can be said on the command line instead of being asked. */
export interface SetupFlags {
  readonly nonInteractive?: true;
  readonly plain?: true;
  readonly json?: true;
  readonly skipChecks?: true;
  readonly saveEnv?: true;
  readonly modelProvider?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly apiKeyEnv?: string;
  readonly platform?: string;
  readonly set: readonly string[];
  readonly allowUser: readonly string[];
  readonly invite?: true;
}

/** What `--set` asks for: `key=value`. */
export const readAssignment = (text: string): { readonly key: string; readonly value: string } => {
  const at = text.indexOf('=');
  if (at < 1) throw new ConfigError(`--set takes key=value, such as --set base_url=https://example.com, not ${at === -1 ? text.slice(0, 20) : 'a value alone'}`);
  return { key: text.slice(0, at).trim(), value: text.slice(at + 1) };
};

export const namesModel = (flags: SetupFlags): boolean => [flags.modelProvider, flags.model, flags.baseUrl, flags.apiKeyEnv].some((value) => value !== undefined);

/** Whether the command line answers anything. */
export const answersAnything = (flags: SetupFlags): boolean => namesModel(flags) || flags.platform !== undefined || flags.set.length > 0 || flags.allowUser.length > 0 || flags.invite === true;
