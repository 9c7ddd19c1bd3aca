import { z } from 'zod';

/** Who answers as an agent, as it stands in `agent` for the main one and in `agents.<id>` for the others. */
export const agentKindFields = {
  kind: z.enum(['hermes', 'acp']).describe('`hermes`: the agent of this gateway. `acp`: another program that speaks the Agent Client Protocol').default('hermes'),
  command: z.array(z.string().min(1)).min(1).describe('With `kind: acp`: the program and its arguments, such as `[opencode, acp]`').optional(),
  cwd: z.string().trim().min(1).describe('With `kind: acp`: the folder in which it works; the workspace of the agent when left out').optional(),
  env: z.record(z.string(), z.string().meta({ secret: true })).describe('With `kind: acp`: its variables, such as keys; of the gateway’s own it gets only harmless ones').default({}),
  files: z.enum(['none', 'read', 'write']).describe('With `kind: acp`: what it may ask the gateway to do with files in its folder; its own tools are not bound by this').default('none'),
} as const;

type AgentKind = Readonly<z.output<z.ZodObject<typeof agentKindFields>>>;

/** The settings of an agent that is another program; undefined for one of ours. */
export type AcpOptions = Omit<AgentKind, 'kind' | 'command'> & { readonly command: readonly [string, ...string[]] };

export const acpOptionsOf = ({ kind, command, cwd, env, files }: AgentKind): AcpOptions | undefined => {
  const [program, ...args] = command ?? [];
  return kind === 'acp' && program !== undefined ? { command: [program, ...args], cwd, env, files } : undefined;
};

/** For `superRefine`: another program has to be named. */
export const checkAgentKind = ({ kind, command }: Pick<AgentKind, 'kind' | 'command'>, context: { addIssue(issue: { code: 'custom'; path: string[]; message: string }): void }): void => {
  if (kind === 'acp' && command === undefined) context.addIssue({ code: 'custom', path: ['command'], message: 'name the program that speaks the Agent Client Protocol, such as `[opencode, acp]`' });
  if (kind === 'hermes' && command !== undefined) context.addIssue({ code: 'custom', path: ['kind'], message: 'a `command` needs `kind: acp`' });
};
