import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { namesIn } from '../../lib/keep-newest.ts';
import { importPairing } from '../../store/foreign/imported-session.ts';
import type { ImportReport } from '../import-report.ts';
import { isRecord, parsed } from '../plain-json.ts';
import type { Attempt } from '../try-out.ts';

interface Person {
  readonly account: string;
  readonly userId: string;
  readonly userName: string | null;
  readonly approvedAtMs: number;
}

/** Seconds, or a date in words. */
const approvedAt = (value: unknown): number => {
  if (typeof value === 'number') return Math.round(value * 1000);
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isFinite(ms) ? ms : 0;
};

const approvedIn = async (folder: string, report: ImportReport): Promise<readonly Person[]> => {
  const people: Person[] = [];
  for (const name of await namesIn(folder)) {
    const [, account] = /^([\w@-]+)-approved\.json$/.exec(name) ?? [];
    if (account === undefined) continue;
    const list = parsed((await readFile(join(folder, name), 'utf8')).replace(/^\uFEFF/, ''));
    if (!isRecord(list)) {
      report.add({ area: 'people', fate: 'left', what: name, why: 'it is not the list of people that it should be' });
      continue;
    }
    for (const [userId, facts] of Object.entries(list)) {
      const known = isRecord(facts) ? facts : {};
      people.push({ account, userId, userName: typeof known['user_name'] === 'string' && known['user_name'] !== '' ? known['user_name'] : null, approvedAtMs: approvedAt(known['approved_at']) });
    }
  }
  return people;
};

/** Lets in whom the original had let in by a code. Codes that nobody has used yet are not taken: they last an hour. */
export const importPeople = async (folder: string, options: { readonly attempt: Attempt; readonly report: ImportReport }): Promise<void> => {
  const { attempt, report } = options;
  const people = [...(await approvedIn(join(folder, 'platforms', 'pairing'), report)), ...(await approvedIn(join(folder, 'pairing'), report))];
  for (const person of people) {
    const isNew = await attempt((tx) => importPairing(tx, person));
    report.add({ area: 'people', fate: isNew ? 'taken' : 'known', what: `${person.userName ?? person.userId} (${person.userId}) on ${person.account}` });
  }
};
