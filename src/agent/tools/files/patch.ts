import { z } from 'zod';
import { ToolError } from '../contract.ts';
import type { Tool } from '../contract.ts';
import { defineTool } from '../define-tool.ts';
import { applyChanges } from './apply-changes.ts';
import type { ChangeRun } from './apply-changes.ts';
import { changedLines } from './changed-lines.ts';
import { newFileAccess } from './file-access.ts';
import type { FileToolsDeps } from './file-access.ts';
import { findPlaces, replaceSpots } from './find-places.ts';
import type { Found } from './find-places.ts';
import { loadText } from './load-before.ts';
import { looksNumbered, numberedRefusal } from './numbered-text.ts';
import { patchFiles } from './patch-files.ts';
import { encodeText } from './text-codec.ts';

const args = z.object({
  mode: z.enum(['replace', 'patch']).default('replace').describe('`replace` changes one place of one file; `patch` changes several places or files at once.'),
  path: z.string().optional().describe('replace: the file.'),
  old_string: z.string().optional().describe('replace: the text to find, with enough around it to be unique.'),
  new_string: z.string().optional().describe('replace: what takes its place; empty to delete it.'),
  replace_all: z.boolean().default(false).describe('replace: change every place instead of demanding that there is one.'),
  patch: z.string().optional().describe(
    'patch: "*** Begin Patch", then for each file "*** Update File: path" ("*** Move to: path" may follow), "*** Add File: path" or "*** Delete File: path", then "*** End Patch". Updates have parts that begin with "@@", optionally followed by a line of the file above the change; their lines begin with a space (unchanged), "-" or "+". Added files have only "+" lines.',
  ),
});
type PatchArgs = z.output<typeof args>;

interface Replacement {
  readonly path: string;
  readonly old: string;
  readonly replacement: string;
  readonly all: boolean;
}

const replacementOf = (given: PatchArgs): Replacement => {
  const { path, old_string: old, new_string: replacement, replace_all: all } = given;
  if (path === undefined || old === undefined || replacement === undefined) throw new ToolError('bad_arguments', 'Mode replace needs path, old_string and new_string.');
  if (old === '') throw new ToolError('bad_arguments', 'old_string is empty. To write a whole file use write_file.');
  if (old === replacement) throw new ToolError('bad_arguments', 'old_string and new_string are the same.');
  if (!replacement.isWellFormed()) throw new ToolError('bad_arguments', 'new_string has halves of characters in it. Send it again.');
  if (looksNumbered(old, path)) throw new ToolError('bad_arguments', numberedRefusal('old_string'));
  if (looksNumbered(replacement, path)) throw new ToolError('bad_arguments', numberedRefusal('new_string'));
  return { path, old: old.replaceAll('\r\n', '\n'), replacement: replacement.replaceAll('\r\n', '\n'), all };
};

const notFound = (found: Exclude<Found, { type: 'found' }>, shown: string): ToolError => {
  switch (found.type) {
    case 'ambiguous': {
      const overlooking = found.how === undefined ? '' : ` (not counting ${found.how})`;
      return new ToolError('failed', `old_string occurs ${found.count} times in ${shown}${overlooking}: lines ${found.lines.join(', ')}${found.count > found.lines.length ? ', …' : ''}. Give more of the text around the one you mean, or set replace_all.`);
    }
    case 'too_many':
      return new ToolError('failed', `old_string occurs too often in ${shown}.`);
    case 'missing': {
      const hint = found.nearest === undefined ? '' : ` The nearest is line ${found.nearest.line}: ${JSON.stringify(found.nearest.text)}.`;
      return new ToolError('failed', `old_string is not in ${shown}.${hint} Read the file again and copy the text exactly, without line numbers.`);
    }
    default:
      return found satisfies never;
  }
};

const maxShownLines = 40;

const replaceInFile = async (wanted: Replacement, run: ChangeRun): Promise<string> => {
  const { access, deps, signal } = run;
  const { real } = await access.locate(wanted.path, 'write');
  return deps.state.locks.run([real], signal, async () => {
    const located = await access.locate(wanted.path, 'write');
    if (located.real !== real) throw new ToolError('failed', `${located.shown} was replaced by a link at this moment. Nothing was written; try again.`);
    const { place, before, decoded } = await loadText(access, located);
    const found = findPlaces(decoded.text, wanted);
    if (found.type !== 'found') throw notFound(found, place.shown);
    const text = replaceSpots(decoded.text, found.spots);
    const notes = await applyChanges([{ place, before, after: { text, bytes: encodeText(text, decoded) } }], run);
    const count = found.spots.length === 1 ? '1 place' : `${found.spots.length} places`;
    const overlooked = found.how === undefined ? [] : [`It was found by overlooking ${found.how}. Check the change:`, changedLines(decoded.text, text, maxShownLines)];
    return [`Changed ${count} in ${place.shown}.`, ...overlooked, ...notes].join('\n');
  });
};

export const patch = (deps: FileToolsDeps): Tool =>
  defineTool({
    name: 'patch',
    description: 'Changes parts of text files. Finds the old text even when white space or quotes differ a little, and refuses when it is not clear which place is meant. A patch over several files is applied whole or not at all. Use it instead of sed or awk.',
    args,
    async run(given, context, signal) {
      const replacement = given.mode === 'replace' ? replacementOf(given) : undefined;
      if (replacement === undefined && given.patch === undefined) throw new ToolError('bad_arguments', 'Mode patch needs the argument patch.');
      const run: ChangeRun = { tool: 'patch', deps, access: await newFileAccess(deps, context), context, signal };
      return replacement === undefined ? patchFiles(given.patch ?? '', run) : replaceInFile(replacement, run);
    },
  });
