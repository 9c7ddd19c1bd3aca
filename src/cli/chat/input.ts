import { parseCommand } from '../../commands/parse.ts';

/** What a person wants who has finished a line. */
export type Input =
  | { readonly type: 'leave' | 'clear' | 'redraw' | 'help' }
  | { readonly type: 'shell'; readonly command: string }
  | { readonly type: 'choice'; readonly number: number }
  | { readonly type: 'say'; readonly text: string };

/** Commands that end at the terminal; all others are the gateway's. */
export const terminalCommands: readonly { readonly name: string; readonly description: string }[] = [
  { name: 'quit', description: 'Leave; the conversation stays' },
  { name: 'exit', description: 'The same' },
  { name: 'clear', description: 'Clear the screen' },
  { name: 'redraw', description: 'Draw the screen anew' },
];

export const terminalHelp = `In the terminal also:
/quit, /exit   leave (Ctrl-D, or Ctrl-C twice)
/clear, /redraw   the screen (Ctrl-L)
!command   run a shell command without the model; !! repeats it
Enter sends. Alt-Enter, Ctrl-J or a \\ at the end make a new line.
Esc or Ctrl-C stop the running answer.
Up, Down and Ctrl-R go through what you typed. Tab completes.`;

const isNumber = /^\d{1,3}$/;

/** `hasQuestion`: a bare number answers the question that stands on the screen. */
export const readInput = (text: string, at: { readonly lastShell: string | undefined; readonly hasQuestion: boolean }): Input => {
  const trimmed = text.trim();
  if (trimmed.startsWith('!')) {
    const command = trimmed.slice(1).trim();
    return { type: 'shell', command: command === '!' ? (at.lastShell ?? '') : command };
  }
  if (at.hasQuestion && isNumber.test(trimmed)) return { type: 'choice', number: Number(trimmed) };
  switch (parseCommand(text)?.name) {
    case 'quit':
    case 'exit':
      return { type: 'leave' };
    case 'clear':
      return { type: 'clear' };
    case 'redraw':
      return { type: 'redraw' };
    case 'help':
    case 'commands':
      return { type: 'help' };
    default:
      return { type: 'say', text };
  }
};
