import { createHash } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { memoryFileFor } from '../../agent/memory/places.ts';
import type { MemoryOptions } from '../../agent/memory/options.ts';
import { resultsFolder } from '../../agent/tools/spill-result.ts';
import { sessionMedia } from '../../sessions/attachments.ts';
import { outgoingPath } from '../../store/messages/outgoing-path.ts';
import { eraseMediaNotes } from '../../store/person/erase-person.ts';
import type { Person, PersonData } from '../../store/person/find-person.ts';
import type { Store } from '../../store/store.ts';
import { isThere } from '../copy-folder.ts';

export interface PersonPlaces {
  readonly home: string;
  /** Folders of all agents. */
  readonly agentHomes: readonly string[];
  readonly memory: MemoryOptions;
}

export interface PersonFiles {
  /** Files that they sent, below the home. */
  readonly media: readonly string[];
  /** Files that were made to be sent to them: pictures, long answers, spoken ones. */
  readonly outgoing: readonly string[];
  /** What agents have noted about them alone. */
  readonly memories: readonly string[];
  /** Folders and files that only the gateway has a use for: long results, output of processes. */
  readonly traces: readonly string[];
}

const filesBelow = async (folder: string): Promise<readonly string[]> => {
  if (!(await isThere(folder))) return [];
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
};

/** The profile of one person, and copies that were made of it. */
const memoriesOf = async (person: Person, { agentHomes, memory }: PersonPlaces): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const home of agentHomes) {
    const file = memoryFileFor({ home, options: { ...memory, user_profile_enabled: true, user_profile_per_person: true } }, 'user', person);
    if (file === undefined || !(await isThere(dirname(file.path)))) continue;
    const name = basename(file.path);
    const names = (await readdir(dirname(file.path))).filter((each) => each === name || each.startsWith(`${name}.bak.`));
    found.push(...names.map((each) => join(dirname(file.path), each)));
  }
  return found;
};

/** Every file that is kept for conversations alone. */
export const findSessionFiles = async (home: string, of: { readonly sessionIds: readonly string[]; readonly processIds: readonly string[] }): Promise<Pick<PersonFiles, 'media' | 'traces'>> => {
  const media = await Promise.all(of.sessionIds.map((id) => filesBelow(join(home, 'media', sessionMedia(id)))));
  const traces = [...of.sessionIds.map((id) => resultsFolder(home, id)), ...of.processIds.flatMap((id) => [join(home, 'processes', `${id}.log`), join(home, 'processes', `${id}.exit`)])];
  return { media: media.flat(), traces: await present(traces) };
};

const present = async (paths: readonly string[]): Promise<readonly string[]> => (await Promise.all(paths.map(async (path) => ((await isThere(path)) ? [path] : [])))).flat();

/** Files that a platform of ours shows in their chats, by the ids that stand in what it shows. */
const shownFiles = async (folder: string, ids: ReadonlySet<string>): Promise<readonly string[]> => {
  if (ids.size === 0 || !(await isThere(folder))) return [];
  return (await readdir(folder)).filter((name) => ids.has(name.split('.', 1)[0] ?? '')).map((name) => join(folder, name));
};

/** Below the media folder, whatever is written. */
const inside = (media: string, path: string): readonly string[] => (resolve(media, path).startsWith(media + sep) ? [resolve(media, path)] : []);

/** What was typed at the terminals of the home. */
const typed = ({ account }: Person, home: string): readonly string[] => (account === 'local' ? [join(home, 'history')] : []);

/** Every file that is kept for somebody alone. */
export const findPersonFiles = async (person: Person, data: PersonData, places: PersonPlaces): Promise<PersonFiles> => {
  const media = join(places.home, 'media');
  const own = await findSessionFiles(places.home, data);
  const attached = [...data.media.attached, ...data.shared.flatMap(({ attachments }) => attachments.map(({ path }) => path))];
  const sent = await present(attached.flatMap((path) => inside(media, path)));
  const shown = await shownFiles(join(media, person.account), data.media.shown);
  return {
    media: [...new Set([...own.media, ...sent, ...shown])],
    outgoing: await present([...new Set(data.media.outgoing.flatMap((path) => outgoingPath(media, path) ?? []))]),
    memories: await memoriesOf(person, places),
    traces: [...own.traces, ...(await present(typed(person, places.home)))],
  };
};

const eraseMedium = async (store: Store, path: string): Promise<void> => {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    // A gateway beside us has tidied it away since it was found.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const hash = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex');
  await store.write((tx) => eraseMediaNotes(tx, { ofBytes: hash(bytes), ofBase64: hash(bytes.toString('base64')) }));
  await rm(path, { force: true });
};

/** Removes them, and what was noted about what the files say or show. */
export const eraseFiles = async (store: Store, files: Pick<PersonFiles, 'media' | 'traces'> & Partial<PersonFiles>): Promise<void> => {
  for (const path of files.media) await eraseMedium(store, path);
  for (const path of [...(files.outgoing ?? []), ...(files.memories ?? []), ...files.traces]) await rm(path, { recursive: true, force: true });
};
