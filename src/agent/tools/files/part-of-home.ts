import { openInHome, privateOfHome, secretsOfHome } from './protected-paths.ts';

/**
 * What a place below the gateway's home, or below the home of an agent, is. `open` is what the agent works with; all the rest is the gateway's:
 * `secret` holds credentials or conversations, `private` is nobody else's business, `own` may be read.
 */
export type PartOfHome = 'open' | 'own' | 'private' | 'secret';

/** One rule for every name: `*` stands for any part of it. */
export const namePattern = (names: readonly string[]): RegExp => new RegExp(`^(?:${names.map((name) => name.split('*').map((part) => RegExp.escape(part)).join('[^/]*')).join('|')})$`);

const secretName = namePattern(secretsOfHome);
const privateName = namePattern(privateOfHome);
const openName = namePattern(openInHome);

/** Homes of agents lie in the gateway's and are made alike. */
const withinAgent = (relative: string): string => relative.replace(/^profiles\/[^/]+(?:\/|$)/, '');

/** `relative` is folded (`foldPath`) and without a leading slash; empty for the home itself. */
export const partOfHome = (relative: string): PartOfHome => {
  const first = withinAgent(relative).split('/', 1)[0] ?? '';
  if (secretName.test(first)) return 'secret';
  if (privateName.test(first)) return 'private';
  return openName.test(first) ? 'open' : 'own';
};
