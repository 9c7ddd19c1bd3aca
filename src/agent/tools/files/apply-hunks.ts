import { ToolError } from '../contract.ts';
import { indentationRule, reindent } from './indentation.ts';
import type { Hunk } from './parse-patch.ts';
import { findBlock, plainLetters } from './text-lines.ts';

interface Edit {
  readonly at: number;
  readonly remove: number;
  readonly insert: readonly string[];
}

/** What may be overlooked, least first. */
const ladder: readonly ((line: string) => string)[] = [(line) => line, (line) => line.trimEnd(), (line) => plainLetters(line).trimEnd(), (line) => plainLetters(line).trim()];

const refuse = (hunk: Hunk, shown: string, what: string): ToolError => new ToolError('failed', `${shown}, part at line ${hunk.line} of the patch: ${what} Nothing was written.`);

/** All places of a block, by the first rung of the ladder that finds any. */
const placesOf = (lines: readonly string[], block: readonly string[], from: number): readonly number[] => {
  for (const plain of ladder) {
    const found = findBlock(lines, block, plain).filter((at) => at >= from);
    if (found.length > 0) return found;
  }
  return [];
};

/** The line after the last anchor. The outermost must name one line; each further one is the first of its kind below. */
const afterAnchors = (lines: readonly string[], hunk: Hunk, shown: string): number => {
  let from = 0;
  for (const [depth, anchor] of hunk.anchors.entries()) {
    const found = placesOf(lines, [anchor], from);
    if (found.length === 0) throw refuse(hunk, shown, `there is no line ${JSON.stringify(anchor)}.`);
    if (found.length > 1 && depth === 0) throw refuse(hunk, shown, `${found.length} lines are ${JSON.stringify(anchor)} (${found.slice(0, 10).map((at) => at + 1).join(', ')}). Put a further @@ line before it.`);
    from = (found[0] ?? 0) + 1;
  }
  return from;
};

const placeOf = (lines: readonly string[], block: readonly string[], at: { readonly hunk: Hunk; readonly shown: string; readonly next: number }): number => {
  const { hunk, shown, next } = at;
  const from = afterAnchors(lines, hunk, shown);
  if (block.length === 0) {
    if (hunk.atEnd || lines.length === 0) return lines.length;
    if (hunk.anchors.length > 0) return from;
    throw refuse(hunk, shown, 'new lines need a few unchanged lines around them, to say where they belong.');
  }
  const found = placesOf(lines, block, from).filter((place) => !hunk.atEnd || place + block.length === lines.length);
  const [first] = found;
  if (first === undefined) throw refuse(hunk, shown, `these lines are not there${hunk.atEnd ? ' at the end of the file' : ''}:\n${block.slice(0, 10).join('\n')}\nRead the file again.`);
  if (found.length === 1 || hunk.anchors.length > 0) return first;
  const later = found.filter((place) => place >= next);
  if (later.length === 1) return later[0] ?? first;
  throw refuse(hunk, shown, `these lines occur ${found.length} times (lines ${found.slice(0, 10).map((place) => place + 1).join(', ')}). Give more unchanged lines around the change, or an @@ line before it.`);
};

/** New lines as the file writes them: kept lines stay what they are in the file, and new ones take over its indentation. */
const editOf = (lines: readonly string[], hunk: Hunk, at: number): Edit => {
  const old = hunk.lines.filter((line) => !line.startsWith('+')).map((line) => line.slice(1));
  const rule = indentationRule(old, lines.slice(at, at + old.length));
  let taken = at;
  const insert = hunk.lines.flatMap((line) => {
    if (line.startsWith('+')) return [rule === undefined || rule.size === 0 ? line.slice(1) : reindent(line.slice(1), rule)];
    taken += 1;
    return line.startsWith('-') ? [] : [lines[taken - 1] ?? ''];
  });
  return { at, remove: old.length, insert };
};

/** The text with every part changed. Throws a `ToolError` when a part has no place, or more than one. */
export const applyHunks = (text: string, hunks: readonly Hunk[], shown: string): string => {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const edits: Edit[] = [];
  let next = 0;
  for (const hunk of hunks) {
    const block = hunk.lines.filter((line) => !line.startsWith('+')).map((line) => line.slice(1));
    const at = placeOf(lines, block, { hunk, shown, next });
    if (edits.some((edit) => at < edit.at + edit.remove && edit.at < at + block.length)) throw refuse(hunk, shown, 'it overlaps with an earlier part.');
    edits.push(editOf(lines, hunk, at));
    next = at + block.length;
  }
  const out = [...lines];
  for (const { at, remove, insert } of edits.toReversed().toSorted((a, b) => b.at - a.at)) out.splice(at, remove, ...insert);
  const joined = out.join('\n');
  return out.length > 0 && (text === '' || text.endsWith('\n')) ? `${joined}\n` : joined;
};
