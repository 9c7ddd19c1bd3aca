import type { z } from 'zod';
import { accountSchema } from './read-accounts.ts';
import type { PlatformFacts } from './read-accounts.ts';
import { factsOf, schemaAt, variableName } from './schema.ts';
import type { Section } from './section.ts';

export interface FoundSetting {
  readonly schema: z.core.$ZodType;
  readonly secret: boolean;
  /** The variable that stands in for it, where one does. */
  readonly variable: string | undefined;
}

/** `platforms.telegram.token` as its keys; a dot inside a key is written `\.`. */
export const splitPath = (path: string): readonly string[] => path.split(/(?<!\\)\./).map((step) => step.replaceAll('\\.', '.'));

/** What the schemas say about a path of config.yaml; undefined for one they do not know. */
export const findSetting = (path: readonly string[], sections: readonly Section[], platforms: readonly PlatformFacts[]): FoundSetting | undefined => {
  const [first = '', ...rest] = path[0] === 'gateway' && sections.some(({ name }) => name === path[1]) ? path.slice(1) : path;
  const section = sections.find(({ name }) => name === first);
  if (section !== undefined) return describe(section.schema, rest, { platform: undefined, hasVariables: true });
  const platform = first === 'platforms' ? platforms.find(({ name }) => name === rest[0]) : undefined;
  if (platform === undefined) return undefined;
  const isFurther = rest[1] === 'accounts';
  return describe(accountSchema(platform), rest.slice(isFurther ? 3 : 1), { platform: platform.name, hasVariables: !isFurther });
};

const describe = (root: z.core.$ZodType, path: readonly string[], owner: { readonly platform: string | undefined; readonly hasVariables: boolean }): FoundSetting | undefined => {
  const schema = schemaAt(root, path);
  if (schema === undefined) return undefined;
  const { env, secret } = factsOf(schema);
  return { schema, secret, variable: env === undefined || !owner.hasVariables ? undefined : variableName(env, owner.platform) };
};
