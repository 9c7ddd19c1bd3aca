import { visibleText } from '../../approvals/visible-text.ts';
import { markUntrusted } from '../../untrusted-text.ts';
import type { ChildOutcome, ChildTask } from './contract.ts';

const maxGoalChars = 2_000;
const maxContextChars = 2_000;
const maxSummaryChars = 20_000;

const shortened = (text: string, chars: number): string => (text.length <= chars ? text : `${text.slice(0, chars).toWellFormed()}…`);

const taskText = (task: ChildTask, number: string): string => {
  const context = task.context === undefined ? '' : `\nContext you gave: ${shortened(visibleText(task.context), maxContextChars)}`;
  return `Task${number}: ${shortened(visibleText(task.goal), maxGoalChars)}${context}`;
};

const outcomeText = (id: string, { status, error, summary, model, durationMs }: ChildOutcome): string => {
  const facts = `Status: ${status} after ${Math.round(durationMs / 1000)} s${model === undefined ? '' : `, ${model}`}.${error === undefined ? '' : ` ${error}`}`;
  return summary === '' ? facts : `${facts}\n${markUntrusted(`helper ${id}`, shortened(summary, maxSummaryChars))}`;
};

/** What the model is told when work in the background has ended. */
export const endNotice = (id: string, tasks: readonly ChildTask[], outcomes: readonly ChildOutcome[]): string => {
  const parts = tasks.map((task, i) => {
    const outcome = outcomes[i];
    return [taskText(task, tasks.length === 1 ? '' : ` ${i + 1}`), ...(outcome === undefined ? [] : [outcomeText(id, outcome)])].join('\n');
  });
  return [`[IMPORTANT: The work ${id} that you handed to ${tasks.length === 1 ? 'a helper' : `${tasks.length} helpers`} in the background has ended. Tell the person what matters of it.]`, ...parts].join('\n\n');
};

/** What the model is told when nobody knows how far the work came. */
export const lostNotice = (id: string, tasks: readonly ChildTask[]): string =>
  [`[IMPORTANT: The work ${id} that you handed away in the background was lost when the gateway ended. Nobody knows how far it came, and it is not begun again by itself. Look at what is there before you decide to hand it away again.]`, ...tasks.map((task, i) => taskText(task, tasks.length === 1 ? '' : ` ${i + 1}`))].join('\n\n');
