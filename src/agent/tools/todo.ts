import { z } from 'zod';
import type { TranscriptMessage } from '../../core/transcript.ts';
import { maxResultChars } from './bound-result.ts';
import { ToolError } from './contract.ts';
import { defineTool } from './define-tool.ts';

const maxTodos = 256;
const maxContentChars = 4_000;
/** A result that would be shortened could not be read back. */
const maxListChars = maxResultChars - 5_000;

const status = z.enum(['pending', 'in_progress', 'completed', 'cancelled']);

const todo = z.object({ id: z.string(), content: z.string(), status, parent: z.string().optional() });

/** One step of a plan that the agent has made for itself. */
export type Todo = Readonly<z.output<typeof todo>>;

/** A plan, and how often it was changed. */
export interface TodoList {
  readonly todos: readonly Todo[];
  readonly revision: number;
}

const stored = z.object({ todos: z.array(todo), revision: z.number().int().min(0) });

const name = 'todo';
const empty: TodoList = { todos: [], revision: 0 };
const noteStart = '[todo list] ';

const readList = (text: string): TodoList | undefined => {
  try {
    return stored.safeParse(JSON.parse(text)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

/** The list that a row of the transcript holds: a result of the tool, or a note that took its place. */
const listIn = (row: TranscriptMessage): TodoList | undefined => {
  if (row.role === 'tool') return row.toolName === name ? readList(row.content) : undefined;
  const line = row.content.split('\n').findLast((each) => each.startsWith(noteStart));
  return line === undefined ? undefined : readList(line.slice(noteStart.length));
};

/** The list as it stands at the end of a transcript, which is the only place where it is kept. */
export const todosFrom = (transcript: readonly TranscriptMessage[]): TodoList => {
  for (const row of transcript.toReversed()) {
    const list = listIn(row);
    if (list !== undefined) return list;
  }
  return empty;
};

/** What is still to be done, as a line that keeps the list when its result leaves the transcript; undefined when nothing is left to do. `todosFrom` reads it back. */
export const todoNote = ({ todos, revision }: TodoList): string | undefined => {
  const open = todos.filter((each) => each.status === 'pending' || each.status === 'in_progress');
  return open.length === 0 ? undefined : `${noteStart}${JSON.stringify({ todos: open, revision })}`;
};

const args = z.object({
  todos: z
    .array(
      z.object({
        id: z.string().trim().min(1).max(64).describe('Short and unique, for example "1".'),
        content: z.string().trim().min(1).max(maxContentChars).optional().describe('What is to be done. May be left out when an item that exists is only changed.'),
        status: status.optional().describe('pending when left out.'),
        parent: z.string().max(64).optional().describe('The id of the item that this one is a part of.'),
      }),
    )
    .max(maxTodos)
    .optional()
    .describe('The items to write. Leave it out to read the list.'),
  merge: z.boolean().default(false).describe('True changes and adds items by id; false replaces the whole list.'),
});

type Change = NonNullable<z.output<typeof args>['todos']>[number];

const changed = (before: Todo | undefined, change: Change): Todo => {
  const content = change.content ?? before?.content;
  if (content === undefined) throw new ToolError('bad_arguments', `The item ${JSON.stringify(change.id)} is new and needs content.`);
  const parent = change.parent ?? before?.parent;
  return { id: change.id, content, status: change.status ?? before?.status ?? 'pending', ...(parent !== undefined && { parent }) };
};

/** Items keep their place; of two with one id the later counts. */
const apply = (before: TodoList, changes: readonly Change[], merge: boolean): TodoList => {
  const items = new Map(merge ? before.todos.map((each) => [each.id, each]) : []);
  for (const change of changes) items.set(change.id, changed(items.get(change.id), change));
  if (items.size > maxTodos) throw new ToolError('bad_arguments', `The list would have ${items.size} items; ${maxTodos} are the most. Remove what is done by writing the list without it.`);
  return { todos: [...items.values()], revision: before.revision + 1 };
};

const asResult = (list: TodoList): string => {
  const count = (wanted: Todo['status']): number => list.todos.filter((each) => each.status === wanted).length;
  const summary = { total: list.todos.length, pending: count('pending'), in_progress: count('in_progress'), completed: count('completed'), cancelled: count('cancelled') };
  const text = JSON.stringify({ todos: list.todos, summary, revision: list.revision });
  if (text.length > maxListChars) throw new ToolError('bad_arguments', `The list would be ${text.length} characters long; ${maxListChars} are the most. Shorten the items, or leave out what is done.`);
  return text;
};

/** The agent's own plan for a longer piece of work. It is kept in the transcript and nowhere else. */
export const todoTool = defineTool({
  name,
  description:
    'Your plan for work with several steps. Write the list when you begin, mark one item in_progress while you work on it and completed as soon as it is done. Every call answers the whole list; without todos it only reads it.',
  args,
  async run({ todos, merge }, { transcript }) {
    const before = todosFrom(transcript?.() ?? []);
    return asResult(todos === undefined ? before : apply(before, todos, merge));
  },
});
