import { posix } from 'node:path';
import { unknown } from './call.ts';

export interface PathPlace {
  /** Undefined when it cannot be known. */
  readonly cwd: string | undefined;
  readonly home: string;
}

/** The home of somebody named in `~name`. */
const homeOf = (name: string): string => (name === 'root' ? '/root' : `/home/${name}`);

/**
 * The absolute path that a word means to a program, without looking at the disk. Other names of the same place (`/proc/self/root`, `/private/etc`)
 * are folded. A part that cannot be known stays in it as `unknown`.
 */
export const resolvePath = (text: string, { cwd, home }: PathPlace): string => {
  const tilde = /^~([\w.+-]*)(?=\/|$)/.exec(text);
  const expanded = tilde === null ? text : (tilde[1] === '' ? home : tilde[1] === '+' ? (cwd ?? `/${unknown}`) : homeOf(tilde[1] ?? '')) + text.slice(tilde[0].length);
  const absolute = expanded.startsWith('/') ? expanded : `${cwd ?? `/${unknown}`}/${expanded}`;
  const path = posix.normalize(absolute).replace(/^\/{2,}/, '/');
  const folded = path.replace(/^\/proc\/(?:self|thread-self|\d+)\/(?:root|cwd)(?=\/|$)/, '').replace(/^\/private(?=\/(?:etc|var|tmp)(?:\/|$))/, '');
  return folded.length > 1 ? folded.replace(/\/$/, '') : '/';
};
