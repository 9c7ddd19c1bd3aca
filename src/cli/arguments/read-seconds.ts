import { InvalidArgumentError } from 'commander';

/** How long somebody is willing to wait, as an option says it. */
export const readSeconds = (text: string): number => {
  const value = Number(text);
  if (!Number.isFinite(value) || value < 1 || value > 86_400) throw new InvalidArgumentError('a number of seconds from 1 to 86400');
  return value;
};
