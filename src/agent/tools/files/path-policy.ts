import { sep } from 'node:path';
import { namePattern, partOfHome } from './part-of-home.ts';
import { credentialFilesOfUser, credentialFolders, credentialNames, deniedFolders, foldersOfOthers, harmlessNames, reasonsInHome, startupFilesAnywhere, startupFilesOfUser, systemFolders } from './protected-paths.ts';

export type FileUse = 'read' | 'write';

/** `denied` is never lifted; `ask` needs a person's word, and `pattern` is the class that a lasting approval covers. */
export type FileVerdict =
  | { readonly type: 'allowed' }
  | { readonly type: 'denied'; readonly reason: string }
  | { readonly type: 'ask'; readonly reason: string; readonly pattern: string };

/** What the file tools of one agent may touch during one call. Every folder is absolute and real: no link is left in its path. */
export interface PathPolicy {
  /** The gateway's home, and the home of the agent that acts; for the main agent they are one. */
  readonly home: string;
  readonly agentHome: string;
  /** Homes of the other agents, wherever they lie. */
  readonly otherHomes?: readonly string[];
  readonly userHome: string;
  readonly writable: readonly string[];
  readonly readable: readonly string[];
  /** When set, nothing is written outside it, whatever else is allowed. */
  readonly writeOnlyIn?: string;
}

/** A path as it was written, made absolute, and where it really leads. */
export interface TwoPaths {
  readonly lexical: string;
  readonly real: string;
}

const isPlain = /^[\x20-\x7e]*$/;
const invisible = /\p{Default_Ignorable_Code_Point}/gu;

/** One form for every spelling that some file system takes for the same name: case, compatibility letters, invisible characters, trailing dots. */
export const foldPath = (path: string): string => {
  const plain = (isPlain.test(path) ? path : path.normalize('NFKC').replaceAll(invisible, '')).toLowerCase();
  return (sep === '\\' ? plain.replaceAll('\\', '/') : plain).replaceAll(/[. ]+(?=\/|$)/g, (dots, at: number, all: string) => (at === 0 || all[at - 1] === '/' ? dots : ''));
};

/** Both paths absolute; a folder is inside itself. */
export const isInside = (folder: string, path: string, separator: string = sep): boolean =>
  path === folder || path.startsWith(folder.endsWith(separator) ? folder : folder + separator);

const isInsideFolded = (folder: string, path: string): boolean => isInside(folder, path, '/');

const credentialName = namePattern(credentialNames);
const harmlessName = namePattern(harmlessNames);

const below = (folder: string, folded: string): string | undefined => (folded !== folder && isInsideFolded(folder, folded) ? folded.slice(folder.length + (folder.endsWith('/') ? 0 : 1)) : undefined);
const among = (relative: string | undefined, names: readonly string[]): boolean => relative !== undefined && names.some((name) => isInsideFolded(name, relative));
const anywhere = (folded: string, names: readonly string[]): boolean => names.some((name) => `${folded}/`.includes(`/${name}/`));

const holdsCredentials = (folded: string, policy: PathPolicy): boolean => {
  const name = folded.slice(folded.lastIndexOf('/') + 1);
  return (credentialName.test(name) && !harmlessName.test(name)) || anywhere(folded, credentialFolders) || among(below(foldPath(policy.userHome), folded), credentialFilesOfUser);
};

const denied = (reason: string): FileVerdict => ({ type: 'denied', reason });
const ask = (reason: string, pattern: string): FileVerdict => ({ type: 'ask', reason, pattern });

/** Folders that were opened up below a home: there the home's own rules end. */
const openedBelow = (home: string, use: FileUse, policy: PathPolicy): readonly string[] =>
  (use === 'read' ? [...policy.writable, ...policy.readable] : policy.writable).filter((root) => root !== home && root !== policy.home && root !== policy.agentHome && isInside(home, root));

const inHome = (path: string, use: FileUse, policy: PathPolicy): FileVerdict | undefined => {
  const folded = foldPath(path);
  if (policy.otherHomes?.some((other) => isInsideFolded(foldPath(other), folded)) === true) return denied('belongs to another agent');
  const home = [policy.agentHome, policy.home].find((each) => isInsideFolded(foldPath(each), folded));
  if (home === undefined) return undefined;
  const relative = below(foldPath(home), folded) ?? '';
  if (['secret', 'private'].includes(partOfHome(relative))) return denied('belongs to the gateway alone');
  if (openedBelow(home, use, policy).some((root) => isInside(root, path))) return undefined;
  if (home !== policy.agentHome) return denied('belongs to the gateway, not to this agent');
  if (among(relative, foldersOfOthers)) return denied('belongs to another agent or conversation');
  if (use === 'read') return undefined;
  const first = relative.split('/')[0] ?? '';
  return ask(reasonsInHome[first] ?? "changes the gateway's own files", `write ${first === '' ? 'home' : first}`);
};

/** What a place is by itself, whether or not it lies in an allowed folder. Nothing when it is like any other. */
export const classifyPath = (path: string, use: FileUse, policy: PathPolicy): FileVerdict | undefined => {
  const folded = foldPath(path);
  if (deniedFolders.some((folder) => isInsideFolded(folder, folded))) return denied('is a place of the system that file tools never touch');
  if (holdsCredentials(folded, policy)) return denied('holds credentials, which file tools never touch');
  const home = inHome(path, use, policy);
  if (home !== undefined || use === 'read') return home;
  if (systemFolders.some((folder) => isInsideFolded(folder, folded))) return ask('changes the system', 'write system files');
  if (among(below(foldPath(policy.userHome), folded), startupFilesOfUser) || anywhere(folded, startupFilesAnywhere)) return ask('changes what other programs run by themselves', 'write startup files');
  return undefined;
};

const inRoots = (real: string, use: FileUse, policy: PathPolicy): FileVerdict | undefined => {
  const roots = use === 'read' ? [...policy.writable, ...policy.readable] : policy.writable;
  if (!roots.some((root) => isInside(root, real))) {
    const readOnly = use === 'write' && policy.readable.some((root) => isInside(root, real));
    return denied(readOnly ? 'may only be read' : `is outside the folders that file tools may use (${policy.writable.join(', ')}). The owner can add folders with \`files.roots\``);
  }
  if (use === 'write' && policy.writeOnlyIn !== undefined && !isInside(policy.writeOnlyIn, real)) return denied(`is outside ${policy.writeOnlyIn}, the only folder that may be written (\`files.write_root\`)`);
  return undefined;
};

/** Decides on the path as written and on where it leads; the stricter verdict holds. Whatever lies outside the allowed folders is denied. */
export const decidePath = ({ lexical, real }: TwoPaths, use: FileUse, policy: PathPolicy): FileVerdict => {
  const verdicts = [classifyPath(lexical, use, policy), classifyPath(real, use, policy), inRoots(real, use, policy)].filter((verdict) => verdict !== undefined);
  return verdicts.find(({ type }) => type === 'denied') ?? verdicts.find(({ type }) => type === 'ask') ?? { type: 'allowed' };
};
