import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { printable } from '../../../lib/printable.ts';
import { ToolError } from '../contract.ts';
import type { ToolContext } from '../contract.ts';
import { changedLines } from './changed-lines.ts';
import type { FileAccess, FileToolsDeps, Place } from './file-access.ts';
import { fileProblem, systemCode } from './file-problem.ts';
import { removeFile, stageFile } from './replace-file.ts';
import { findRealPath } from './resolve-path.ts';
import { sameStamp, stampOf } from './seen-files.ts';
import { newSyntaxProblems } from './syntax-check.ts';

/** A file as it was when a change to it was thought out. */
export interface Before {
  readonly stats: BigIntStats;
  /** Nothing for a file that is too large to keep. */
  readonly bytes: Uint8Array | undefined;
  /** Nothing when it is no text. */
  readonly text: string | undefined;
}

export interface Change {
  readonly place: Place;
  /** Nothing when there is no file yet. */
  readonly before: Before | undefined;
  /** Nothing removes the file. */
  readonly after: { readonly bytes: Uint8Array; readonly text: string } | undefined;
  /** A new file gets the mode of this one. */
  readonly like?: BigIntStats;
}

export interface ChangeRun {
  readonly tool: string;
  readonly deps: FileToolsDeps;
  readonly access: FileAccess;
  readonly context: ToolContext;
  readonly signal: AbortSignal;
}

const maxShownLines = 30;
const maxShownChars = 1500;

/** What a person is asked about: the file, what changes in it, and a number that binds the answer to exactly this change. */
const subjectOf = ({ place, before, after }: Change, redact: (text: string) => string): string => {
  if (after === undefined) return `delete ${place.real}`;
  const changes = redact(printable(changedLines(before?.text ?? '', after.text, maxShownLines)));
  const shown = changes.length <= maxShownChars ? changes : `${changes.slice(0, maxShownChars).toWellFormed()}…`;
  return `write ${place.real}\n${shown}\nsha256 ${createHash('sha256').update(after.bytes).digest('hex').slice(0, 16)}`;
};

const askFirst = async (changes: readonly Change[], { tool, deps, context, signal }: ChangeRun): Promise<void> => {
  for (const change of changes) {
    const { permission, shown } = change.place;
    if (permission.type !== 'ask') continue;
    const verdict = await deps.approve({ tool, subject: subjectOf(change, (text) => deps.redact(text)), reasons: [permission.reason], pattern: permission.pattern }, context, signal);
    if (!verdict.allowed) throw new ToolError('unavailable', `${shown} ${permission.reason}. That was not approved (${verdict.reason}). Nothing was written.`);
  }
};

const statsNow = async (real: string): Promise<BigIntStats | undefined> => {
  try {
    return await lstat(real, { bigint: true });
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw fileProblem(error, real);
  }
};

/** Between the thought and the deed a person may have been asked, or somebody else may have been quicker. */
const checkUnchanged = async ({ place, before }: Change): Promise<void> => {
  const { real } = await findRealPath(place.lexical);
  const now = real === place.real ? await statsNow(real) : undefined;
  const same = real === place.real && (before === undefined ? now === undefined : now !== undefined && sameStamp(stampOf(now), stampOf(before.stats)));
  if (!same) throw new ToolError('failed', `${place.shown} was changed by somebody else at this moment. Nothing was written; read it again.`);
};

interface Deed {
  readonly change: Change;
  commit(): Promise<void>;
  discard(): Promise<void>;
}

const prepare = async (change: Change): Promise<Deed> => {
  const { place, before, after, like } = change;
  if (after === undefined) return { change, commit: () => removeFile(place.real), discard: async () => undefined };
  const staged = await stageFile(place.real, after.bytes, before?.stats ?? like);
  return { change, ...staged };
};

const undo = async ({ place, before }: Change): Promise<void> => {
  if (before === undefined) return removeFile(place.real);
  if (before.bytes === undefined) throw new ToolError('failed', `${place.shown} cannot be put back.`);
  await (await stageFile(place.real, before.bytes, before.stats)).commit();
};

/** All or nothing: what was done is undone when a later deed fails. */
const perform = async (deeds: readonly Deed[]): Promise<void> => {
  for (const [index, deed] of deeds.entries()) {
    try {
      await deed.commit();
    } catch (error) {
      await Promise.all(deeds.slice(index + 1).map((later) => later.discard()));
      for (const done of deeds.slice(0, index).toReversed()) await undo(done.change);
      throw error;
    }
  }
};

const remember = async ({ place, after }: Change, { deps, context }: ChangeRun): Promise<void> => {
  const stats = after === undefined ? undefined : await statsNow(place.real);
  if (stats === undefined) deps.state.seen.forget(context.sessionId, place.real);
  else {
    const redacted = deps.state.seen.get(context.sessionId, place.real)?.redacted ?? false;
    deps.state.seen.set(context.sessionId, place.real, { stamp: stampOf(stats), parts: new Map(), redacted });
  }
};

/** What the model should know about a change that was made, one line each. */
const notesOn = ({ place, before, after }: Change, { deps, context }: ChangeRun): readonly string[] => {
  const seen = deps.state.seen.get(context.sessionId, place.real);
  const stale = before !== undefined && seen !== undefined && !sameStamp(seen.stamp, stampOf(before.stats));
  const problems = after === undefined ? [] : newSyntaxProblems(place.real, before?.text, after.text);
  return [
    ...(stale ? [`Warning: ${place.shown} had been changed by somebody else since you read it. Read it again to see whether your change still fits.`] : []),
    ...problems.slice(0, 5).map((problem) => `Warning: ${place.shown} is no longer well-formed: ${problem}`),
  ];
};

/**
 * Makes all of the changes or none. Asks a person where the place demands it, before anything is written. The locks of all places are held by
 * the caller. Answers what the model should know.
 */
export const applyChanges = async (changes: readonly Change[], run: ChangeRun): Promise<readonly string[]> => {
  await askFirst(changes, run);
  run.signal.throwIfAborted();
  for (const change of changes) await checkUnchanged(change);
  const deeds: Deed[] = [];
  try {
    for (const change of changes) deeds.push(await prepare(change));
  } catch (error) {
    await Promise.all(deeds.map((deed) => deed.discard()));
    throw error;
  }
  await perform(deeds);
  const notes = changes.flatMap((change) => notesOn(change, run));
  for (const change of changes) await remember(change, run);
  return notes;
};
