import { table } from '../report.ts';
import { evidenceFor } from './evidence.ts';
import type { Stored } from './stored.ts';
import type { Verdict, Violation } from './verdict.ts';
import type { World } from './world.ts';

const shownViolations = 10;

const summary = (world: World, { counts, violations }: Verdict): string => {
  const of = (kind: Violation['kind']): string => String(violations.filter((violation) => violation.kind === kind).length);
  const kills = world.kills.filter(({ signal }) => signal === 'SIGKILL').length;
  return table([
    ['messages', String(counts.messages)],
    ['commands', String(counts.commands)],
    ['kill -9', String(kills)],
    ['SIGTERM', String(world.kills.length - kills)],
    ['turns taken up again', String(counts.resumedTurns)],
    ['lost', of('lost')],
    ['doubled', of('doubled')],
    ['misplaced', of('misplaced')],
    ['out of order', of('out of order')],
    ['unasked for', of('stray')],
    ['left over', of('left over')],
    ['hung or ended by itself', of('broken')],
    ['repeats, marked, first seen too', String(counts.repeated)],
    ['repeats, marked, first not seen', String(counts.markedAlone)],
    ['given up after two lost answers', String(counts.givenUp)],
    ['set aside after three kills', String(counts.setAside)],
    ['previews without an end', String(counts.orphanPreviews)],
  ]);
};

/** The verdict for people: its numbers, and the life of what went wrong. */
export const printVerdict = (world: World, stored: Stored, { verdict, home }: { readonly verdict: Verdict; readonly home: string }): void => {
  console.log(summary(world, verdict));
  for (const violation of verdict.violations.slice(0, shownViolations)) {
    console.log(`\n  ${violation.kind}: ${violation.id ?? ''} ${violation.what}\n${evidenceFor(world, stored, violation)}`);
  }
  if (verdict.violations.length > shownViolations) console.log(`\n  and ${verdict.violations.length - shownViolations} more`);
  if (verdict.violations.length > 0) console.log(`\nThe home is kept for a look: ${home}`);
};
