import { randomUUID } from 'node:crypto';
import type { ToolCall } from '../../../core/transcript.ts';
import { countOf, listOf, recordOf, textOf } from './json-fields.ts';

interface Draft {
  readonly index: number | undefined;
  id: string;
  name: string;
  /** Joined at the end: arguments may come in thousands of pieces. */
  readonly pieces: string[];
  extra: unknown;
}

/** Puts the tool calls of one answer together from the pieces in which a stream delivers them. */
export interface ToolCallAssembly {
  /** Takes the `tool_calls` list of a delta, or of a `whole` message in which every entry is a call of its own. */
  take(list: unknown, whole: boolean): void;
  /** In the order in which they began, each with an id of its own. */
  calls(): readonly ToolCall[];
  /** What the server put beside its calls and wants back, by their ids; undefined when there was nothing. */
  extras(): Readonly<Record<string, unknown>> | undefined;
}

const argumentsText = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

export const newToolCallAssembly = (): ToolCallAssembly => {
  const drafts: Draft[] = [];

  /** Some servers number every call 0, some leave number and id out: then a new id, or a name after arguments, begins a new call. */
  const draftFor = (index: number | undefined, id: string, name: string): Draft => {
    const known = index === undefined ? drafts.at(-1) : drafts.findLast((draft) => draft.index === index);
    const otherId = known !== undefined && id !== '' && known.id !== '' && known.id !== id;
    const begunAnew = known !== undefined && index === undefined && id === '' && name !== '' && known.pieces.length > 0;
    if (known !== undefined && !otherId && !begunAnew) return known;
    const draft: Draft = { index, id, name: '', pieces: [], extra: undefined };
    drafts.push(draft);
    return draft;
  };

  return {
    take(list, whole) {
      for (const [position, entry] of (listOf(list) ?? []).entries()) {
        const call = recordOf(entry);
        if (call === undefined) continue;
        const details = recordOf(call['function']);
        const id = textOf(call['id']) ?? '';
        const name = textOf(details?.['name']) ?? '';
        const draft = draftFor(whole ? position : countOf(call['index']), id, name);
        if (draft.id === '') draft.id = id;
        // Some servers repeat the whole name in every piece.
        if (name !== draft.name) draft.name += name;
        const piece = argumentsText(details?.['arguments']);
        if (piece !== '') draft.pieces.push(piece);
        draft.extra = call['extra_content'] ?? draft.extra;
      }
    },
    calls() {
      const ids = new Set<string>();
      return drafts.map((draft) => {
        if (draft.id === '' || ids.has(draft.id)) draft.id = `call_${randomUUID().replaceAll('-', '')}`;
        ids.add(draft.id);
        return { id: draft.id, name: draft.name, arguments: draft.pieces.join('') };
      });
    },
    extras() {
      const found = drafts.filter(({ extra }) => extra !== undefined);
      return found.length === 0 ? undefined : Object.fromEntries(found.map(({ id, extra }) => [id, extra]));
    },
  };
};
