import type { z } from 'zod';
import { accountSchema } from '../read-accounts.ts';
import type { PlatformFacts } from '../read-accounts.ts';
import { factsOf, schemaAt, variableName } from '../schema.ts';
import type { Section } from '../section.ts';

export interface FoundSetting {
  readonly schema: z.core.$ZodType;
  readonly secret: boolean;
  /** The variable that stands in for it, where one does. */
  readonly variable: string | undefined;
}

/** `platforms.telegram.token` as its keys; a dot inside a key is written `\.`. */
export const splitPath = (path: string): readonly string[] => path.split(/(?<!\\)\./).map((step) => step.replaceAll('\\.', '.'));

/** What the schemas say about a path of config.yaml, in all the places where a setting may stand; undefined for one they do not know. */
export const findSetting = (path: readonly string[], sections: readonly Section[], platforms: readonly PlatformFacts[]): FoundSetting | undefined => {
  const section = sections.find(({ name }) => name === path[0]);
  const found = section && describe(section.schema, path.slice(1), { platform: undefined, hasVariables: true });
  if (found !== undefined) return found;
  if (path[0] === 'gateway') return findSetting(path.slice(1), sections, platforms);
  const [name, ...rest] = path[0] === 'platforms' ? path.slice(1) : path;
  const platform = platforms.find((candidate) => candidate.name === name);
  if (platform === undefined) return undefined;
  const isFurther = rest[0] === 'accounts';
  const inside = rest.slice(isFurther ? 2 : 0);
  return describe(accountSchema(platform), inside[0] === 'extra' ? inside.slice(1) : inside, { platform: platform.name, hasVariables: !isFurther });
};

const describe = (root: z.core.$ZodType, path: readonly string[], owner: { readonly platform: string | undefined; readonly hasVariables: boolean }): FoundSetting | undefined => {
  const schema = schemaAt(root, path);
  if (schema === undefined) return undefined;
  const { env, secret } = factsOf(schema);
  return { schema, secret, variable: env === undefined || !owner.hasVariables ? undefined : variableName(env, owner.platform) };
};
