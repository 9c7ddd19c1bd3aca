import { injectionPatterns } from './injection-patterns.ts';
import type { ScanScope } from './injection-patterns.ts';

/** Something in a text that wants to steer the agent. */
export interface Finding {
  readonly id: string;
  readonly meaning: string;
}

const maxScannedChars = 65_536;

const strictness: Readonly<Record<ScanScope, number>> = { all: 0, context: 1, strict: 2 };

/** Marks that reorder text, characters without width, and letters of the invisible alphabet, but not what joins emoji or the letters of a script. */
const invisible = /[\u00AD\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u2064\u2066-\u206F\uFEFF\u{E0000}-\u{E007F}]+/u;
/** The flags of England, Scotland and Wales are spelt with invisible letters. */
const flags = /\u{1F3F4}[\u{E0061}-\u{E007A}]{1,6}\u{E007F}/gu;
const joiners = /[\u200C\u200D]/g;

const hidden: Finding = { id: 'invisible_text', meaning: 'has characters that cannot be seen' };

/** What a reader would take the text for. */
const readable = (text: string): string => text.split(invisible).join('').replace(joiners, '').normalize('NFKC').replace(/[^\S\n]+/g, ' ');

/**
 * Everything suspicious in a text, as far as it was looked at: its first 65,536 characters. A finding is a reason for care, no proof, and no finding is no proof
 * either: whatever comes from outside is also marked as such.
 */
export const scanForInjection = (text: string, scope: ScanScope): readonly Finding[] => {
  const head = text.slice(0, maxScannedChars).replace(/^\uFEFF/, '').replace(flags, '');
  const seen = readable(head);
  const flat = seen.replaceAll('\n', ' ').replace(/ {2,}/g, ' ');
  const findings = injectionPatterns
    .filter((pattern) => strictness[pattern.scope] <= strictness[scope] && (pattern.shape.test(seen) || pattern.shape.test(flat)))
    .map(({ id, meaning }) => ({ id, meaning }));
  return invisible.test(head) ? [hidden, ...findings] : findings;
};

/** The findings in words, for people and for the model: `tells the agent to drop its instructions (ignore_previous)`. */
export const findingsText = (findings: readonly Finding[]): string => {
  const [first, ...others] = findings.slice(0, 3).map(({ id, meaning }) => `${meaning} (${id})`);
  return [first, ...others].join(', ');
};

/** Takes the place of a text that must not be followed. */
export const blockedNotice = (name: string, findings: readonly Finding[]): string => `[${name} is left out because it ${findingsText(findings)}. The owner has to look at it.]`;
