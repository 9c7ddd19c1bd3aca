import { z } from 'zod';
import { problemAt, writtenPath } from '../problem.ts';
import type { Problem, SettingPath } from '../problem.ts';
import { factsOf, schemaAt, variableName } from '../schema.ts';
import { substitute } from '../text/substitute.ts';
import { soundsSecret } from '../variables.ts';
import type { Variables } from '../variables.ts';
import { issueText } from './issue-text.ts';
import { nearest } from './nearest.ts';
import { descend, emptyMap, mapScalars, toPlain } from './setting-node.ts';
import type { SettingNode } from './setting-node.ts';
import { settle } from './settle.ts';

export interface ReadContext {
  readonly variables: Variables;
  /** False where variables do not stand in for settings (accounts beyond the default one); `${NAME}` works everywhere. */
  readonly overlay: boolean;
  readonly platform?: string;
  readonly path: SettingPath;
}

/** Puts variables into the texts of a file. What comes out of a variable that sounds like a credential is a secret. */
export const fillIn = (node: SettingNode, variables: Variables, problems: Problem[]): SettingNode =>
  mapScalars(node, (scalar) => {
    if (typeof scalar.value !== 'string') return scalar;
    const { text, used, unset } = substitute(scalar.value, (name) => variables.get(name)?.value);
    if (unset.length > 0) {
      const fault = unset.map((name) => variables.fault(name)?.message).find((text) => text !== undefined);
      const unsetText = unset.length === 1 ? `the variable ${unset[0]} is not set; set it, or write \${${unset[0]}:-default}` : `the variables ${unset.join(', ')} are not set`;
      problems.push(problemAt(scalar.at, writtenPath(scalar.at, []), { code: 'unset_variable', message: fault ?? unsetText }));
    }
    return { ...scalar, value: text, ...(used.length > 0 && { filled: true }), ...(used.some(soundsSecret) && { secret: true }) };
  });

export interface SettledSetting {
  /** Undefined when nothing was written and no variable is set. */
  readonly node: SettingNode | undefined;
  readonly problems: readonly Problem[];
}

export const settleSetting = (written: SettingNode | undefined, schema: z.core.$ZodType, context: ReadContext): SettledSetting => {
  const problems: Problem[] = [];
  const filled = written === undefined ? undefined : fillIn(written, context.variables, problems);
  const node = settle(filled, { schema, path: context.path }, { variables: context.overlay ? context.variables : undefined, secrets: context.variables.secrets, platform: context.platform, problems });
  return { node, problems };
};

export type CheckedSetting<Schema extends z.core.$ZodType> =
  | { readonly ok: true; readonly value: z.output<Schema> }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Lets the schema judge a settled setting. */
export const checkSetting = <Schema extends z.core.$ZodType>(node: SettingNode | undefined, schema: Schema, context: ReadContext): CheckedSetting<Schema> => {
  const parsed = z.safeParse(schema, node === undefined ? absentValue(schema) : toPlain(node), { error: issueText });
  if (parsed.success) return { ok: true, value: parsed.data };
  const root = node ?? emptyMap({ kind: 'default' });
  return { ok: false, problems: parsed.error.issues.map((issue) => problemOf(issue, { root, schema, context })) };
};

/** A mapping that nobody wrote is an empty one, so that its keys have their defaults. */
const absentValue = (schema: z.core.$ZodType): unknown => {
  const facts = factsOf(schema);
  return !facts.optional && facts.core._zod.def.type === 'object' ? {} : undefined;
};

interface Checked {
  readonly root: SettingNode;
  readonly schema: z.core.$ZodType;
  readonly context: ReadContext;
}

const problemOf = (issue: z.core.$ZodIssue, checked: Checked): Problem => {
  const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
  const { node, rest } = descend(checked.root, path);
  const found = path.slice(0, path.length - rest.length);
  const shown = [...writtenPath(node.at, [...checked.context.path, ...found]), ...rest];
  if (rest.length > 0) return problemAt(node.at, shown, { code: 'missing', message: `${issue.message}${variableHint(path, checked)}` });
  const suggestion = issue.code === 'invalid_value' && node.kind === 'scalar' ? nearest(String(node.value), issue.values.map(String)) : undefined;
  return problemAt(node.at, shown, { code: 'invalid', message: withoutValue(issue.message, node), suggestion });
};

const variableHint = (path: SettingPath, { schema, context }: Checked): string => {
  const setting = schemaAt(schema, path);
  const env = setting === undefined || !context.overlay ? undefined : factsOf(setting).env;
  return env === undefined ? '' : `; set it here or as ${variableName(env, context.platform)}`;
};

/** A schema's own message may repeat the value; of a secret it must not. */
const withoutValue = (message: string, node: SettingNode): string => {
  if (node.kind !== 'scalar' || node.secret !== true) return message;
  const value = String(node.value);
  return value.length > 2 && message.includes(value) ? 'is not valid' : message;
};

/** One complaint per setting: what follows from a reported mistake, there or above, is not reported again. */
export const onePerSetting = (problems: readonly Problem[]): readonly Problem[] => {
  const seen = new Set<string>();
  const follows = ({ code, path }: Problem): boolean => code === 'missing' && problems.some((other) => other.code === 'invalid' && path.startsWith(`${other.path}.`));
  return problems.filter((problem) => !seen.has(problem.path) && !follows(problem) && seen.add(problem.path));
};
