import type { BigIntStats } from 'node:fs';
import { ToolError } from '../contract.ts';
import { applyChanges } from './apply-changes.ts';
import type { Before, Change, ChangeRun } from './apply-changes.ts';
import { applyHunks } from './apply-hunks.ts';
import type { Place } from './file-access.ts';
import { loadBefore, loadText } from './load-before.ts';
import { parsePatch } from './parse-patch.ts';
import type { FilePatch } from './parse-patch.ts';
import { encodeText } from './text-codec.ts';
import type { TextForm } from './text-codec.ts';

/** A file on its way through a patch. */
interface Draft {
  readonly place: Place;
  readonly before: Before | undefined;
  readonly form: TextForm;
  /** Nothing while there is no such file. */
  readonly text: string | undefined;
  readonly like?: BigIntStats;
}

type Drafts = Map<string, Draft>;

const plainForm: TextForm = { bom: false, crlf: false };

const draftOf = async (place: Place, drafts: Drafts, { access }: ChangeRun): Promise<Draft> => {
  const draft = drafts.get(place.real);
  if (draft !== undefined) return draft;
  if (!place.exists) return { place, before: undefined, form: plainForm, text: undefined };
  const loaded = await loadText(access, place);
  return { place: loaded.place, before: loaded.before, form: loaded.decoded, text: loaded.decoded.text };
};

const failed = (shown: string, what: string): ToolError => new ToolError('failed', `${shown} ${what} Nothing was written.`);

const update = async (patch: Extract<FilePatch, { type: 'update' }>, drafts: Drafts, run: ChangeRun): Promise<string> => {
  const place = await run.access.locate(patch.path, 'write');
  const draft = await draftOf(place, drafts, run);
  if (draft.text === undefined) throw failed(place.shown, 'does not exist, so it cannot be updated.');
  const text = applyHunks(draft.text, patch.hunks, place.shown);
  if (patch.moveTo === undefined) {
    drafts.set(place.real, { ...draft, text });
    return `changed ${place.shown}`;
  }
  const target = await run.access.locate(patch.moveTo, 'write');
  const there = await draftOf(target, drafts, run);
  if (there.text !== undefined) throw failed(target.shown, 'exists already, so nothing can be moved there.');
  drafts.set(place.real, { ...draft, text: undefined });
  drafts.set(target.real, { ...there, form: draft.form, text, ...(draft.before !== undefined && { like: draft.before.stats }) });
  return `moved ${place.shown} to ${target.shown}`;
};

const draftPatch = async (patch: FilePatch, drafts: Drafts, run: ChangeRun): Promise<string> => {
  switch (patch.type) {
    case 'update':
      return update(patch, drafts, run);
    case 'add': {
      const place = await run.access.locate(patch.path, 'write');
      const known = drafts.get(place.real);
      if (known === undefined ? place.exists : known.text !== undefined) throw failed(place.shown, 'exists already. Use "*** Update File: ", or write_file to replace it.');
      drafts.set(place.real, { place, before: known?.before, form: plainForm, text: patch.text });
      return `added ${place.shown}`;
    }
    case 'delete': {
      const place = await run.access.locate(patch.path, 'write');
      const known = drafts.get(place.real);
      if (known === undefined ? !place.exists : known.text === undefined) throw failed(place.shown, 'does not exist, so it cannot be deleted.');
      const loaded = known ?? { ...(await loadBefore(run.access, place)), form: plainForm };
      if (loaded.before !== undefined && loaded.before.bytes === undefined) throw failed(place.shown, 'is too large to be deleted here.');
      drafts.set(place.real, { place: loaded.place, before: loaded.before, form: loaded.form, text: undefined });
      return `deleted ${place.shown}`;
    }
    default:
      return patch satisfies never;
  }
};

const changeOf = ({ place, before, form, text, like }: Draft): Change => ({
  place,
  before,
  after: text === undefined ? undefined : { text, bytes: encodeText(text, form) },
  ...(like !== undefined && { like }),
});

const pathsOf = (patch: FilePatch): readonly string[] => (patch.type === 'update' && patch.moveTo !== undefined ? [patch.path, patch.moveTo] : [patch.path]);

/** Applies a patch to all of its files or to none. */
export const patchFiles = async (text: string, run: ChangeRun): Promise<string> => {
  const patches = parsePatch(text);
  const places = await Promise.all(patches.flatMap(pathsOf).map((path) => run.access.locate(path, 'write')));
  const locked = new Set(places.map(({ real }) => real));
  return run.deps.state.locks.run([...locked], run.signal, async () => {
    const drafts: Drafts = new Map();
    const done: string[] = [];
    for (const patch of patches) done.push(await draftPatch(patch, drafts, run));
    if ([...drafts.keys()].some((real) => !locked.has(real))) throw new ToolError('failed', 'A path of the patch was replaced by a link at this moment. Nothing was written; try again.');
    const changes = [...drafts.values()].filter(({ before, text: after }) => before !== undefined || after !== undefined).map(changeOf);
    const notes = await applyChanges(changes, run);
    return [`${done.join('\n')}`, ...notes].join('\n');
  });
};
