import { readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../../core/errors.ts';
import type { ChatType } from '../../core/message.ts';
import { noUsage } from '../../core/transcript.ts';
import { importSession } from '../../store/imported-session.ts';
import type { ImportedSession } from '../../store/imported-session.ts';
import type { Store } from '../../store/store.ts';
import { isThere } from '../copy-folder.ts';
import { importMemories, importOne, namesIn, skillFolders } from '../import-pieces.ts';
import type { FilesOptions } from '../import-pieces.ts';
import { tryOut } from '../try-out.ts';
import { readLines, readTranscript } from './read-transcript.ts';

export interface OpenclawImport extends FilesOptions {
  readonly store: Store;
  /** As its configuration names it. */
  readonly workspace: string | undefined;
}

/** Throws a `ConfigError` for a folder that is no state folder of OpenClaw. */
export const checkOpenclawHome = async (folder: string): Promise<void> => {
  if (!(await isThere(join(folder, 'openclaw.json'))) && !(await isThere(join(folder, 'agents')))) throw new ConfigError(`${folder} is not a folder of OpenClaw: it has neither an openclaw.json nor an agents folder. It is mostly ~/.openclaw.`);
};

const pad = (value: number): string => String(value).padStart(2, '0');

/** The same for the same conversation whenever it is read, and in the form that ids have here. */
const idOf = (foreignId: string, startedAtMs: number): string => {
  const date = new Date(startedAtMs);
  const hex = foreignId.replaceAll(/[^0-9a-f]/gi, '').slice(0, 8).toLowerCase().padEnd(8, '0');
  return `${date.getUTCFullYear()}${pad(date.getUTCMonth() + 1)}${pad(date.getUTCDate())}_${pad(date.getUTCHours())}${pad(date.getUTCMinutes())}${pad(date.getUTCSeconds())}_${hex}`;
};

const chatTypes: Readonly<Record<string, ChatType>> = { direct: 'dm', dm: 'dm', group: 'group', channel: 'channel', thread: 'thread' };

interface Place {
  readonly account: string;
  readonly chatType: ChatType;
  readonly userId: string | undefined;
}

/** `agent:main:telegram:direct:7`; everything that is not of a channel was said to the owner's own assistant. */
const placeOf = (key: string | undefined): Place => {
  const [, channel, type, id] = /^agent:[^:]+:([a-z]+):(direct|dm|group|channel|thread):([^:]+)/.exec(key ?? '') ?? [];
  if (channel === undefined) return { account: 'local', chatType: 'dm', userId: 'owner' };
  const chatType = chatTypes[type ?? ''] ?? 'group';
  return { account: channel, chatType, userId: chatType === 'dm' ? id : undefined };
};

const keysOf = async (folder: string): Promise<ReadonlyMap<string, string>> => {
  const path = join(folder, 'sessions.json');
  if (!(await isThere(path))) return new Map();
  const index = JSON.parse(await readFile(path, 'utf8')) as Readonly<Record<string, { readonly sessionId?: string } | undefined>>;
  return new Map(Object.entries(index).flatMap(([key, entry]) => (entry?.sessionId === undefined ? [] : [[entry.sessionId, key]])));
};

const importOneSession = async (path: string, about: { readonly foreignId: string; readonly agent: string; readonly key: string | undefined }, options: OpenclawImport): Promise<'taken' | 'known' | 'empty'> => {
  const lines = readLines(await readFile(path, 'utf8'));
  const startedAtMs = lines.find(({ atMs }) => atMs !== undefined)?.atMs ?? 0;
  const messages = readTranscript(lines, startedAtMs);
  if (messages.length === 0) return 'empty';
  const session: ImportedSession = { id: idOf(about.foreignId, startedAtMs), agent: about.agent, ...placeOf(about.key), title: undefined, model: undefined, parentId: undefined, createdAtMs: startedAtMs, endedAtMs: undefined, endReason: undefined, usage: noUsage, binding: undefined };
  const work = (tx: Parameters<typeof importSession>[0]) => importSession(tx, session, messages);
  const done = options.dryRun ? await tryOut(options.store, work) : await options.store.write(work);
  return done === undefined ? 'known' : 'taken';
};

const importSessions = async (folder: string, options: OpenclawImport): Promise<void> => {
  const tally = { taken: 0, known: 0, empty: 0 };
  for (const agent of await namesIn(join(folder, 'agents'))) {
    const place = join(folder, 'agents', agent, 'sessions');
    if (!(await isThere(place))) continue;
    const keys = await keysOf(place);
    const names = (await readdir(place)).filter((name) => name.endsWith('.jsonl') && !name.endsWith('.trajectory.jsonl'));
    for (const name of names.toSorted()) {
      const foreignId = name.slice(0, -'.jsonl'.length);
      tally[await importOneSession(join(place, name), { foreignId, agent, key: keys.get(foreignId) }, options)] += 1;
    }
    const inDatabase = (await readdir(join(folder, 'agents', agent), { recursive: true })).filter((name) => name.endsWith('.sqlite'));
    if (inDatabase.length > 0) options.report.add({ area: 'sessions', fate: 'left', what: `agents/${agent}: ${inDatabase.join(', ')}`, why: 'newer versions keep conversations in a database whose form is not published; export them there as JSONL' });
  }
  if (tally.taken > 0) options.report.add({ area: 'sessions', fate: 'taken', what: `conversations: ${tally.taken}; /resume goes on with one` });
  if (tally.known > 0) options.report.add({ area: 'sessions', fate: 'known', what: `conversations: ${tally.known}` });
};

/** Points and paragraphs of a text without entries, each by itself; headings are left out. */
const entriesOfText = (text: string): readonly string[] =>
  text
    .replaceAll(/^---\n[^]*?\n---\n/g, '')
    .split(/\n\s*\n|\n(?=\s*[-*]\s)/)
    .map((part) => part.split('\n').filter((line) => !/^\s*(?:#|<!--|---\s*$)/.test(line)).join('\n').replace(/^\s*[-*]\s+/, '').trim())
    .filter((part) => part !== '');

const workspaceOf = (folder: string, named: string | undefined): string => {
  if (named === undefined) return join(folder, 'workspace');
  return named === '~' || named.startsWith('~/') ? join(homedir(), named.slice(1)) : named;
};

const importFiles = async (folder: string, options: OpenclawImport): Promise<void> => {
  const workspace = workspaceOf(folder, options.workspace);
  const { home, report } = options;
  if (await isThere(join(workspace, 'SOUL.md'))) await importOne(join(workspace, 'SOUL.md'), join(home, 'SOUL.md'), { area: 'files', what: 'SOUL.md' }, options);
  const asText = { ...options, entriesOf: entriesOfText };
  await importMemories(join(workspace, 'MEMORY.md'), { path: join(home, 'memories', 'MEMORY.md'), limitChars: options.memoryChars }, asText);
  await importMemories(join(workspace, 'USER.md'), { path: join(home, 'memories', 'USER.md'), limitChars: options.userChars }, asText);
  for (const place of [join(folder, 'skills'), join(workspace, 'skills')]) for (const name of await skillFolders(place)) if (name !== '') await importOne(join(place, name), join(home, 'skills', name), { area: 'skills', what: name }, options);
  const rest = (await namesIn(workspace)).filter((name) => !['SOUL.md', 'MEMORY.md', 'USER.md', 'skills'].includes(name));
  if (rest.length > 0) report.add({ area: 'files', fate: 'left', what: `workspace: ${rest.join(', ')}`, why: 'copy what you need into the workspace folder of this home' });
};

/** Takes over the main things of an OpenClaw: conversations, who the agent is, what it remembers, skills. Its folder is only read. A second run takes nothing twice. */
export const importOpenclaw = async (folder: string, options: OpenclawImport): Promise<void> => {
  await importFiles(folder, options);
  await importSessions(folder, options);
  for (const name of ['cron', 'credentials', 'hooks']) if (await isThere(join(folder, name))) options.report.add({ area: 'files', fate: 'left', what: name, why: name === 'cron' ? 'make jobs anew with hermes cron add' : name === 'credentials' ? 'log in anew; people are let in by pairing' : 'hooks are written for the program they run in' });
};
