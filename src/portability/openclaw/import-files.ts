import { join } from 'node:path';
import { isThere } from '../copy-folder.ts';
import { importMemories, importOne, namesIn, reportLinks, skillFolders } from '../import-pieces.ts';
import type { FilesOptions } from '../import-pieces.ts';

/** Points and paragraphs of a text without entries, each by itself; headings are left out. */
const entriesOfText = (text: string): readonly string[] =>
  text
    .replaceAll(/^---\n[^]*?\n---\n/g, '')
    .split(/\n\s*\n|\n(?=\s*[-*]\s)/)
    .map((part) => part.split('\n').filter((line) => !/^\s*(?:#|<!--|---\s*$)/.test(line)).join('\n').replace(/^\s*[-*]\s+/, '').trim())
    .filter((part) => part !== '');

/** What the agent finds where it works, and what it reads there without being told to. */
const working: Readonly<Record<string, string | undefined>> = { 'AGENTS.md': 'the agent reads it in every conversation', 'IDENTITY.md': undefined, 'TOOLS.md': undefined };
const dealtWith = new Set([...Object.keys(working), 'SOUL.md', 'MEMORY.md', 'memory.md', 'USER.md', 'memory', 'skills']);

export const importSkills = async (folder: string, options: FilesOptions): Promise<void> => {
  for (const name of await skillFolders(folder)) if (name !== '') await importOne(join(folder, name), join(options.home, 'skills', name), { area: 'skills', what: name }, options);
  await reportLinks(folder, 'skills', options.report);
};

/** Takes over what an agent of OpenClaw keeps in its workspace: who it is, what it remembers, what it was taught. */
export const importWorkspace = async (workspace: string, options: FilesOptions): Promise<void> => {
  const { home, report } = options;
  if (await isThere(join(workspace, 'SOUL.md'))) await importOne(join(workspace, 'SOUL.md'), join(home, 'SOUL.md'), { area: 'files', what: 'SOUL.md' }, options);
  const asText = { ...options, entriesOf: entriesOfText };
  for (const name of ['MEMORY.md', 'memory.md']) if ((await namesIn(workspace)).includes(name)) await importMemories(join(workspace, name), { path: join(home, 'memories', 'MEMORY.md'), limitChars: options.memoryChars }, asText);
  await importMemories(join(workspace, 'USER.md'), { path: join(home, 'memories', 'USER.md'), limitChars: options.userChars }, asText);
  for (const [name, why] of Object.entries(working)) if (await isThere(join(workspace, name))) await importOne(join(workspace, name), join(home, 'workspace', name), { area: 'files', what: `workspace/${name}`, ...(why !== undefined && { why }) }, options);
  for (const name of (await namesIn(join(workspace, 'memory'))).filter((each) => each.endsWith('.md'))) await importOne(join(workspace, 'memory', name), join(home, 'workspace', 'memory', name), { area: 'memories', what: `workspace/memory/${name}` }, options);
  for (const place of ['skills', join('.agents', 'skills')]) await importSkills(join(workspace, place), options);
  const rest = (await namesIn(workspace)).filter((name) => !dealtWith.has(name));
  if (rest.length > 0) report.add({ area: 'files', fate: 'left', what: `${workspace}: ${rest.join(', ')}`, why: `copy what you need into ${join(home, 'workspace')}` });
};
