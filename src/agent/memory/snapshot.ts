import { findingsText, scanForInjection } from '../injection-scan.ts';
import type { MemoryTarget } from './entries.ts';
import { joinEntries, sizeOfEntries } from './entries.ts';

const titles: Readonly<Record<MemoryTarget, string>> = {
  memory: '## Memory\n\nWhat you noted in earlier conversations.',
  user: '## The person\n\nWhat you noted about the person you are talking to.',
};

export const usageText = (entries: readonly string[], limitChars: number): string => {
  const size = sizeOfEntries(entries);
  return `${Math.round((size / limitChars) * 100)}% used: ${size.toLocaleString('en-GB')} of ${limitChars.toLocaleString('en-GB')} characters`;
};

/** An entry that speaks like an attacker stays in the file, for the owner to look at, and out of the model's sight. */
const shown = (entry: string): string => {
  const findings = scanForInjection(entry, 'strict');
  return findings.length === 0 ? entry : `[An entry is left out because it ${findingsText(findings)}.]`;
};

/** Memories as they stand in the prompt; undefined when there are none. The same entries give the same bytes. */
export const memoryBlock = (target: MemoryTarget, entries: readonly string[], limitChars: number): string | undefined =>
  entries.length === 0 ? undefined : `${titles[target]} Entries are separated by §. ${usageText(entries, limitChars)}.\n\n${joinEntries(entries.map(shown))}`;
