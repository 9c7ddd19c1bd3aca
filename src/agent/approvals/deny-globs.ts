import type { ShellCall } from './shell/call.ts';

const plain = (text: string): string => text.normalize('NFKC').toLowerCase().replaceAll(/\s+/g, ' ').trim();

/** `*` stands for anything, `?` for one character; the whole text has to fit. Takes no longer than both lengths multiplied. */
export const fitsGlob = (glob: string, text: string): boolean => {
  let g = 0;
  let t = 0;
  let star = -1;
  let from = 0;
  while (t < text.length) {
    if (glob[g] === '*') {
      star = g;
      from = t;
      g += 1;
    } else if (g < glob.length && (glob[g] === '?' || glob[g] === text[t])) {
      g += 1;
      t += 1;
    } else if (star !== -1) {
      g = star + 1;
      from += 1;
      t = from;
    } else return false;
  }
  while (glob[g] === '*') g += 1;
  return g === glob.length;
};

/** A command as it may be meant by a pattern: the whole line, and each command in it, by its path and by its name. */
const variants = (command: string, calls: readonly ShellCall[]): ReadonlySet<string> => {
  const texts = calls.flatMap((call) => {
    const args = call.args.map((field) => field.text);
    return [[call.command.text, ...args], [call.name, ...args]].map((words) => words.join(' '));
  });
  return new Set([command, ...texts].map(plain).filter((text) => text !== ''));
};

/** The first of the owner's patterns that forbids a command. */
export const deniedBy = (globs: readonly string[], command: string, calls: readonly ShellCall[]): string | undefined => {
  if (globs.length === 0) return undefined;
  const texts = [...variants(command, calls)];
  return globs.find((glob) => texts.some((text) => fitsGlob(plain(glob), text)));
};
