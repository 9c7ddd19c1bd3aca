import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../lib/clock.ts';

/** What is delivered nowhere but kept: a file of its own for each, `<home>/cron/output/<name>/<time>-<number>.md`. Answers its path. */
export const keepLocally = async (home: string, kept: { readonly name: string; readonly title: string; readonly text: string }, clock: Clock): Promise<string> => {
  const folder = join(home, 'cron', 'output', kept.name.replaceAll(/[^\w.-]/g, '_').replace(/^\.+/, '_').slice(0, 80) || 'misc');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const time = new Date(clock.now()).toISOString();
  const path = join(folder, `${time.slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '_')}-${randomBytes(3).toString('hex')}.md`);
  await writeFile(path, `# ${kept.title.replaceAll(/\s+/g, ' ')}\n\n${time}\n\n---\n\n${kept.text}\n`, { mode: 0o600, flag: 'wx' });
  return path;
};
