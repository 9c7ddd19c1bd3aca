import { ApiError } from '../api-error.ts';
import type { ClientFunction } from '../tools.ts';
import type { ResponseRequest } from './request.ts';

const joint = '__';
const mostChars = 64;

/** Models know no namespaces: to them a function of one has a longer name. */
export const innerName = (namespace: string | null | undefined, name: string): string => (namespace === undefined || namespace === null ? name : `${namespace}${joint}${name}`);

/** The function as the client knows it. */
export const outerName = (inner: string, namespaces: readonly string[]): { readonly name: string; readonly namespace?: string } => {
  const namespace = namespaces.find((each) => inner.startsWith(`${each}${joint}`));
  return namespace === undefined ? { name: inner } : { name: inner.slice(namespace.length + joint.length), namespace };
};

export const namespacesOf = ({ tools }: ResponseRequest): readonly string[] => (tools ?? []).flatMap(({ type, name }) => (type === 'namespace' && name !== undefined ? [name] : []));

const named = <T extends { readonly name?: string | undefined }>(tool: T, namespace?: string): T & { readonly name: string } => {
  if (tool.name === undefined) throw new ApiError(400, 'A function needs a name.', { code: 'missing_required_parameter', param: 'tools' });
  const name = innerName(namespace, tool.name);
  if (name.length > mostChars) throw new ApiError(400, `'${namespace}' and '${tool.name}' are together longer than ${mostChars - joint.length} characters.`, { code: 'invalid_value', param: 'tools' });
  return { ...tool, name };
};

/** The functions that a client brings, those of its namespaces among them. Tools of other kinds are the server's business, and the agent has its own. */
export const functionsOf = ({ tools }: ResponseRequest): readonly ClientFunction[] =>
  (tools ?? []).flatMap((tool) => {
    if (tool.type === 'function') return [named(tool)];
    return tool.type === 'namespace' ? (tool.tools ?? []).flatMap((inside) => (inside.type === 'function' ? [named(inside, tool.name)] : [])) : [];
  });
