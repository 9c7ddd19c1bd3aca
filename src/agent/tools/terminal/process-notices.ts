import { visibleText } from '../../approvals/visible-text.ts';
import { markUntrusted } from '../../untrusted-text.ts';

/** What the model is shown of the output when a process speaks up. */
const tailChars = 2000;
const maxLines = 20;
const maxLineChars = 500;
const maxCommandChars = 300;

interface Told {
  readonly id: string;
  readonly command: string;
}

const named = ({ id, command }: Told): string => {
  const shown = visibleText(command).replaceAll(/\s+/g, ' ');
  return `background process ${id} (\`${shown.length > maxCommandChars ? `${shown.slice(0, maxCommandChars)}…` : shown}\`)`;
};

const output = (id: string, text: string): string => (text.trim() === '' ? 'It wrote nothing.' : `The end of its output:\n${markUntrusted(`process ${id}`, text.slice(-tailChars))}`);

const withCode = (exitCode: number | null): string => (exitCode === null ? 'its exit code is not known' : `exit code ${exitCode}`);

export const endNotice = (process: Told & { readonly exitCode: number | null; readonly output: string; readonly wasAway: boolean }): string =>
  `[IMPORTANT: The ${named(process)} ended${process.wasAway ? ' while the gateway was away' : ''}: ${withCode(process.exitCode)}.]\n${output(process.id, process.output)}`;

export const lostNotice = (process: Told): string => `[IMPORTANT: The gateway ended in the very moment in which it started the ${named(process)}. Nobody knows whether it runs.]`;

export const matchNotice = (process: Told & { readonly lines: readonly string[]; readonly last: boolean }): string => {
  const lines = process.lines.slice(0, maxLines).map((line) => line.slice(0, maxLineChars));
  const more = process.lines.length - lines.length;
  const end = process.last ? '\nIts output is not watched any more; you will hear of its end.' : '';
  return `[IMPORTANT: The ${named(process)} wrote what you are watching for.]\n${markUntrusted(`process ${process.id}`, lines.join('\n'))}${more > 0 ? `\n(and ${more} more lines)` : ''}${end}`;
};

export const unwatchedNotice = (process: Told): string =>
  `[IMPORTANT: The ${named(process)} matches your watch patterns too often. Its output is not watched any more; you will hear of its end. Look at it with the process tool.]`;
