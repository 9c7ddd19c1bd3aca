import { join } from 'node:path';
import { isThere } from '../copy-folder.ts';
import { importMemories, importOne, namesIn, reportLinks, skillFolders } from '../import-pieces.ts';
import type { FilesOptions } from '../import-pieces.ts';
import type { ImportReport } from '../import-report.ts';

/** Names of the home that the other parts of an import deal with, and those that mean nothing to anybody else. */
const dealtWith = new Set(['config.yaml', 'state.db', 'pairing', 'cron', 'memories', 'skills', 'hooks', 'scripts', 'SOUL.md', 'BOOT.md', 'AGENTS.md', 'sessions', 'profiles', 'auth.json', 'platforms']);
/** What is left for a reason of its own. */
const reasons: Readonly<Record<string, string>> = {
  'mcp-tokens': 'log in to MCP servers anew: hermes mcp login',
  plugins: 'plugins are written for the program they run in',
  'webhook_subscriptions.json': 'let programs call the agent anew: hermes webhook',
  workspace: 'copy what you need into the workspace folder of this home',
};
const passing = /^(?:logs?|cache|active_profile|.*\.(?:log|lock|pid|db-wal|db-shm|sock|tmp)|gateway_state\.json|channel_directory\.json|processes\.json|.*_cache(?:\.json)?|bin|tmp|sandboxes)$/;

const reportRest = async (folder: string, report: ImportReport): Promise<void> => {
  const names = await namesIn(folder);
  const rest = names.filter((name) => !dealtWith.has(name) && !passing.test(name) && reasons[name] === undefined);
  for (const name of names) if (reasons[name] !== undefined) report.add({ area: 'files', fate: 'left', what: name, why: reasons[name] });
  if (rest.length > 0) report.add({ area: 'files', fate: 'left', what: rest.join(', '), why: 'this gateway has no use for them' });
  for (const name of await namesIn(join(folder, 'profiles'))) report.add({ area: 'files', fate: 'left', what: `profiles/${name}`, why: `it is a home of its own; make an agent for it (hermes agent add ${name}) and run: hermes import hermes ${join(folder, 'profiles', name)} --agent ${name}` });
};

/** Takes over what the original keeps in plain files: who the agent is, what it remembers, what it was taught, hooks and scripts. */
export const importFiles = async (folder: string, options: FilesOptions): Promise<void> => {
  const { home } = options;
  for (const name of ['SOUL.md', 'BOOT.md', 'AGENTS.md']) if (await isThere(join(folder, name))) await importOne(join(folder, name), join(home, name), { area: 'files', what: name }, options);
  await importMemories(join(folder, 'memories', 'MEMORY.md'), { path: join(home, 'memories', 'MEMORY.md'), limitChars: options.memoryChars }, options);
  await importMemories(join(folder, 'memories', 'USER.md'), { path: join(home, 'memories', 'USER.md'), limitChars: options.userChars }, options);
  for (const name of await skillFolders(join(folder, 'skills'))) if (name !== '') await importOne(join(folder, 'skills', name), join(home, 'skills', name), { area: 'skills', what: name }, options);
  for (const area of ['hooks', 'scripts']) for (const name of await namesIn(join(folder, area))) await importOne(join(folder, area, name), join(home, area, name), { area, what: name }, options);
  for (const area of ['skills', 'hooks', 'scripts']) await reportLinks(join(folder, area), area, options.report);
  await reportRest(folder, options.report);
};
