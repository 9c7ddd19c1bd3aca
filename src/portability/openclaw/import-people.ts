import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { importPairing } from '../../store/foreign/imported-session.ts';
import type { OpenclawSharedState } from '../../store/foreign/openclaw-state.ts';
import { namesIn } from '../import-pieces.ts';
import type { ImportReport } from '../import-report.ts';
import { at, parsed } from '../plain-json.ts';
import type { Attempt } from '../try-out.ts';
import { accountName, bareId, channels } from './channels.ts';

interface Admitted {
  readonly channel: string;
  readonly account: string | undefined;
  readonly id: string;
  readonly atMs: number;
}

/** `telegram-allowFrom.json`, and `telegram-work-allowFrom.json` for an account with a name. */
const fileShape = new RegExp(`^(${Object.keys(channels).join('|')})(?:-(.+))?-allowFrom\\.json$`);

const peopleInFiles = async (folder: string): Promise<readonly Admitted[]> => {
  const people: Admitted[] = [];
  for (const name of await namesIn(join(folder, 'credentials'))) {
    const [, channel, account] = fileShape.exec(name) ?? [];
    if (channel === undefined) continue;
    const path = join(folder, 'credentials', name);
    const list = at(parsed(await readFile(path, 'utf8')), 'allowFrom');
    const { mtimeMs } = await stat(path);
    for (const id of Array.isArray(list) ? list : []) people.push({ channel, account, id: String(id), atMs: Math.round(mtimeMs) });
  }
  return people;
};

const peopleInDatabase = (state: OpenclawSharedState | undefined): readonly Admitted[] =>
  (state?.people() ?? []).map((row) => ({ channel: String(row['channel_key']), account: row['account_id'] === null ? undefined : String(row['account_id']), id: String(row['entry']), atMs: Number(row['updated_at']) || 0 }));

/** Lets in whom OpenClaw has let in by a code. Codes that nobody has approved yet are not taken: they last an hour. */
export const importPeople = async (folder: string, options: { readonly attempt: Attempt; readonly report: ImportReport; readonly shared: OpenclawSharedState | undefined }): Promise<void> => {
  const { attempt, report } = options;
  const done = new Set<string>();
  for (const person of [...peopleInDatabase(options.shared), ...(await peopleInFiles(folder))]) {
    const account = accountName(person.channel, person.account);
    const userId = bareId(person.channel, person.id);
    const what = `${userId} on ${account}`;
    if (done.has(what)) continue;
    done.add(what);
    const facts = channels[person.channel];
    if (facts === undefined || !facts.person.test(userId)) {
      report.add({ area: 'people', fate: 'left', what, why: facts === undefined ? 'there is no such platform here' : 'people are let in by their ids here' });
      continue;
    }
    const isNew = await attempt((tx) => importPairing(tx, { account, userId, userName: null, approvedAtMs: person.atMs }));
    report.add({ area: 'people', fate: isNew ? 'taken' : 'known', what });
  }
};
