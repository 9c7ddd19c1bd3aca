import { createHash } from 'node:crypto';

/** The longest name that every provider takes. */
const maxNameChars = 64;

/** A tool as its server calls it. */
export interface ServerTool {
  readonly server: string;
  readonly tool: string;
}

const safe = (text: string): string => text.replaceAll(/[^A-Za-z0-9_]/g, '_');

const fingerprint = ({ server, tool }: ServerTool): string => createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, 8);

const marked = (name: string, of: ServerTool): string => `${name.slice(0, maxNameChars - 9)}_${fingerprint(of)}`;

const plainName = (of: ServerTool): string => {
  const name = `mcp_${safe(of.server)}_${safe(of.tool)}`;
  return name.length > maxNameChars ? marked(name, of) : name;
};

const byPlace = (a: ServerTool, b: ServerTool): number => (a.server === b.server ? compare(a.tool, b.tool) : compare(a.server, b.server));

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * What the model calls each tool: `mcp_<server>_<tool>`, in an order and with names that depend on the tools alone. Where two come out the same,
 * the first in that order keeps the name and the others carry a mark of their own.
 */
export const toolNames = <T extends ServerTool>(tools: readonly T[]): readonly { readonly name: string; readonly of: T }[] => {
  const taken = new Set<string>();
  return tools.toSorted(byPlace).map((of) => {
    const plain = plainName(of);
    let name = plain;
    for (let again = 0; taken.has(name); again += 1) name = marked(plain, { server: of.server, tool: `${of.tool}\0${again}` });
    taken.add(name);
    return { name, of };
  });
};
