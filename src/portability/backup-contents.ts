import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import { basename, join } from 'node:path';
import { manifestName } from './manifest.ts';

export interface FoundFile {
  /** Relative to the home, with forward slashes. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly mode: number;
  readonly mtimeMs: number;
}

export interface ContentRules {
  /** Credentials in files: `.env` and logins. */
  readonly secrets: boolean;
  /** Absolute paths of files that the configuration names as holding a secret. */
  readonly secretFiles?: readonly string[];
  /** Newest files that people sent, up to so much; 0 for none. */
  readonly mediaBytes: number;
  readonly workspace: boolean;
}

export interface Contents {
  readonly files: readonly FoundFile[];
  /** What is not in it, in words. */
  readonly leftOut: readonly string[];
}

/** What a running gateway makes anew, what is copied in another way, and what are backups themselves. */
const passing = new Set(['backups', 'cache', 'processes', 'gateway.db', 'gateway.db-wal', 'gateway.db-shm', 'gateway.lock', 'gateway.lock-journal', 'gateway.lock-config', 'gateway.lock-next', 'gateway.pid', 'gateway.sock', 'gateway-config.json', 'gateway-starts.json', 'gateway-starting.json', '.gateway-restart.json', '.gateway-after-turn.json', '.load-database']);
const secret = new Set(['.env', 'mcp-tokens', 'auth.json', 'secrets']);
/** What was in these files before they were changed. */
const earlierConfig = /^(?:\.env|config\.yaml)\..*\.bak$/;

/** Of all logs the one that is kept for good. */
export const auditLog = 'logs/audit.log';

/** A part of the home that is taken or left as one; each agent's folder has parts of its own. */
export const partOf = (path: string): string => {
  const [first = '', second, third] = path.split('/');
  return first === 'profiles' && second !== undefined && third !== undefined ? `${first}/${second}/${third}` : first;
};

const nameOf = (part: string): string => part.split('/').at(-1) ?? part;

/** Files as `hermes backup` names them, wherever somebody has them put: with each that holds the earlier ones they would double. */
export const backupName = /^hermes-\d{8}T\d{9}Z\.tar\.gz$/;

const isUnfinished = (name: string): boolean => name.endsWith('.tmp') || name.startsWith('.partial-') || name.startsWith('.restore-') || name === '.restoring';

/** What a restore has replaced and kept. */
const isReplaced = (part: string): boolean => /^replaced-\d{8}T\d{9}Z$/.test(part);

interface Walk {
  readonly home: string;
  readonly rules: ContentRules;
  readonly files: FoundFile[];
  readonly media: FoundFile[];
  readonly leftOut: Set<string>;
  /** Where the files that hold a secret really are. */
  readonly secretPlaces: ReadonlySet<string>;
}

/** Undefined for what has gone since it was listed. */
const unlessGone = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT') throw error;
};

/** Undefined for what has gone since it was listed; a text says why a link cannot be followed. */
const followed = async (path: string, isLink: boolean): Promise<Stats | string | undefined> => {
  try {
    return await stat(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (isLink && (await lstat(path).catch(unlessGone)) !== undefined) return code === 'ENOENT' ? 'a link to nowhere' : `a link that cannot be followed: ${code}`;
    if (code === 'ENOENT') return undefined;
    throw error;
  }
};

/** A name that is no UTF-8 is listed with this in place of what cannot be read, and cannot be opened. */
const unreadable = '\uFFFD';

const isMisnamed = async (path: string): Promise<boolean> => basename(path).includes(unreadable) && (await lstat(path).catch(unlessGone)) === undefined;

/** Why a part is not taken; undefined when it is. The empty text: nobody misses it. */
const reasonAgainst = (part: string, rules: ContentRules): string | undefined => {
  const name = nameOf(part);
  if (passing.has(name) || isUnfinished(name) || isReplaced(part) || backupName.test(name)) return '';
  // The list of an archive that somebody has unpacked by hand; this one has its own.
  if (part === manifestName) return '';
  if (name === 'logs' && part !== 'logs') return '';
  if ((secret.has(name) || earlierConfig.test(name)) && !rules.secrets) return `${part} (holds secrets)`;
  if (name === 'workspace' && !rules.workspace) return `${part}/ (where the agent works; --workspace takes it along)`;
  if (name === 'state.db' || name.startsWith('state.db-')) return `${part} (belongs to the original)`;
  return undefined;
};

const addFile = async ({ home, files, media, leftOut }: Walk, path: string, isLink: boolean): Promise<void> => {
  const found = await followed(join(home, path), isLink);
  if (typeof found === 'string') leftOut.add(`${path} (${found})`);
  else if (found?.isFile() === true) (nameOf(partOf(path)) === 'media' ? media : files).push({ path, sizeBytes: found.size, mode: found.mode & 0o777, mtimeMs: found.mtimeMs });
  else if (found?.isDirectory() === true) leftOut.add(`${path} (a link to a folder elsewhere)`);
};

const placeOf = async (path: string): Promise<string> => {
  try {
    return await realpath(path);
  } catch (error) {
    // What leads nowhere holds nothing, and whoever takes it says what is wrong with it.
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return path;
    throw error;
  }
};

/** Also by another way to it: the home, or the file itself, may be a link. */
const holdsSecret = async ({ rules, secretPlaces }: Walk, path: string): Promise<boolean> =>
  rules.secretFiles?.includes(path) === true || (secretPlaces.size > 0 && secretPlaces.has(await placeOf(path)));

const visit = async (walk: Walk, folder: string): Promise<void> => {
  const listed = readdir(join(walk.home, folder), { withFileTypes: true });
  const entries = (folder === '' ? await listed : await listed.catch(unlessGone)) ?? [];
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    const isPart = partOf(path) === path && path !== 'profiles';
    const isNamed = !walk.rules.secrets && (await holdsSecret(walk, join(walk.home, path)));
    const isLog = folder === 'logs' && path !== auditLog;
    const reason = isLog ? '' : isNamed ? `${path} (holds a secret)` : isPart ? reasonAgainst(path, walk.rules) : isUnfinished(entry.name) || backupName.test(entry.name) ? '' : undefined;
    if (reason !== undefined) {
      if (reason !== '') walk.leftOut.add(reason);
      continue;
    }
    if (await isMisnamed(join(walk.home, path))) walk.leftOut.add(`${path} (its name is no UTF-8)`);
    else if (entry.isDirectory()) await visit(walk, path);
    else if (entry.isFile() || entry.isSymbolicLink()) await addFile(walk, path, entry.isSymbolicLink());
  }
};

const megabytes = (bytes: number): string => `${Math.ceil(bytes / (1024 * 1024))} MB`;

/** The newest files that fit. */
const chooseMedia = ({ media, rules, leftOut }: Walk): readonly FoundFile[] => {
  let room = rules.mediaBytes;
  const taken: FoundFile[] = [];
  const left: FoundFile[] = [];
  for (const file of media.toSorted((a, b) => b.mtimeMs - a.mtimeMs)) {
    const fits = file.sizeBytes <= room;
    if (fits) room -= file.sizeBytes;
    (fits ? taken : left).push(file);
  }
  if (left.length > 0) leftOut.add(`${left.length} of ${media.length} files in media/ (${megabytes(left.reduce((sum, file) => sum + file.sizeBytes, 0))}; --media-mb says how much is taken along)`);
  return taken;
};

/** What of a home belongs into a backup, beside the database. */
export const backupContents = async (home: string, rules: ContentRules): Promise<Contents> => {
  const secretPlaces = rules.secrets ? [] : await Promise.all((rules.secretFiles ?? []).map(placeOf));
  const walk: Walk = { home, rules, files: [], media: [], leftOut: new Set(), secretPlaces: new Set(secretPlaces) };
  await visit(walk, '');
  const files = [...walk.files, ...chooseMedia(walk)];
  return { files, leftOut: [...walk.leftOut] };
};
