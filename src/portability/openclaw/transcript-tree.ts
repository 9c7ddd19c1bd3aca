import type { TranscriptLine } from './read-transcript.ts';

/** Lines that move the end of the conversation when they are added. */
const steps = new Set(['message', 'thinking_level_change', 'model_change', 'compaction', 'reset', 'branch_summary', 'custom', 'custom_message', 'label', 'session_info']);

const nameIn = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/**
 * A transcript is a tree, and the conversation is the way from its end to its root. Its end is the newest line, unless a `leaf` line names another. Lines that say
 * nothing of what they follow, or name what is not there, follow the one that was the end then.
 */
export const activeLines = (lines: readonly TranscriptLine[]): ((line: TranscriptLine) => boolean) => {
  const parents = new Map<string, string | null>();
  let end: string | null = null;
  let isTree = false;
  for (const { id, type, line } of lines) {
    if (id === undefined || type === 'session') continue;
    const named = Object.hasOwn(line, 'parentId');
    const above = nameIn(type === 'leaf' ? line['targetId'] : line['parentId']);
    const isKnown = above === null || parents.has(above);
    if (type === 'leaf' && !isKnown) continue;
    parents.set(id, named && isKnown ? above : end);
    if (type === 'leaf') end = above;
    else if (steps.has(type) && line['appendMode'] !== 'side') end = id;
    isTree ||= named;
  }
  if (!isTree) return () => true;
  const way = new Set<string>();
  for (let id = end; id !== null && !way.has(id); id = parents.get(id) ?? null) way.add(id);
  return ({ id }) => id === undefined || way.has(id);
};
