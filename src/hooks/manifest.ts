import { parseDocument } from 'yaml';
import { z } from 'zod';
import { eventFamily, hookEvents, isDecidable, isEventPattern } from './events.ts';

/** Says nothing that we would have to obey. */
const remarks = { version: z.unknown(), author: z.unknown(), license: z.unknown(), homepage: z.unknown(), tags: z.unknown() };

const known = Object.keys(hookEvents).join(', ');

const manifest = z.strictObject({
  name: z.string().trim().min(1).max(100).optional(),
  description: z.string().trim().max(2000).default(''),
  events: z.array(z.string().trim().refine(isEventPattern, { error: ({ input }) => `${JSON.stringify(input)} is no event; there are ${known}` })).min(1, 'name at least one event'),
  kind: z.enum(['decide', 'observe']).default('decide'),
  timeout: z.number().min(0.1).max(300).optional(),
  on_failure: z.enum(['pass', 'block']).default('pass'),
  enabled: z.boolean().default(true),
  ...remarks,
}).partial(Object.fromEntries(Object.keys(remarks).map((key) => [key, true])) as Record<keyof typeof remarks, true>);

/** What `HOOK.yaml` says. */
export interface HookManifest {
  readonly name?: string | undefined;
  readonly description: string;
  /** Names of events, `<kind>:*` or `*`. */
  readonly events: readonly string[];
  /** `decide`: answers to events that can be decided are waited for and obeyed. `observe`: nobody waits, whatever it answers. */
  readonly kind: 'decide' | 'observe';
  /** Seconds. */
  readonly timeout?: number | undefined;
  /** What happens when a decision cannot be had: as if there were no hook, or as if it had refused. */
  readonly on_failure: 'pass' | 'block';
  readonly enabled: boolean;
}

const longestDecisionMs = 10_000;
const usualDecisionMs = 2_000;
const usualObservationMs = 30_000;

/** How long a call may take. People wait for decisions, so those have less time. */
export const timeoutOf = ({ timeout, kind }: Pick<HookManifest, 'timeout' | 'kind'>, event: string): number => {
  const decides = kind === 'decide' && isDecidable(event);
  if (timeout === undefined) return decides ? usualDecisionMs : usualObservationMs;
  return decides ? Math.min(timeout * 1000, longestDecisionMs) : timeout * 1000;
};

/** Whether somebody waits for what the hook says about some event. */
export const mayDecide = ({ kind, events }: Pick<HookManifest, 'kind' | 'events'>): boolean =>
  kind === 'decide' && events.some((pattern) => pattern === '*' || pattern === 'message:*' || pattern === 'command:*' || (eventFamily(pattern) !== undefined && isDecidable(pattern)));

const mostAliases = 10;

const readYaml = (text: string): { readonly value: unknown } | { readonly problem: string } => {
  const document = parseDocument(text, { prettyErrors: true });
  const [error] = document.errors;
  if (error !== undefined) return { problem: `HOOK.yaml is not YAML: ${error.message.split('\n', 1)[0] ?? ''}` };
  try {
    return { value: document.toJS({ maxAliasCount: mostAliases }) };
  } catch (cause) {
    return { problem: `HOOK.yaml refers to itself too often: ${cause instanceof Error ? cause.message : String(cause)}` };
  }
};

/** The manifest, or what is wrong with it. */
export const readManifest = (text: string): HookManifest | { readonly problem: string } => {
  const yaml = readYaml(text);
  if ('problem' in yaml) return yaml;
  const read = manifest.safeParse(yaml.value);
  if (read.success) return read.data;
  const issues = read.error.issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`));
  return { problem: `HOOK.yaml: ${issues.join('; ')}` };
};
