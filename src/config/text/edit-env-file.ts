import { parseEnvFile } from './parse-env-file.ts';

const plain = /^[\w.:@%/+=,-]+$/;

/** Written so that reading gives back exactly the value, whatever is in it. */
export const quoteValue = (value: string): string => {
  if (plain.test(value)) return value;
  if (!value.includes("'")) return `'${value}'`;
  const escaped = value.replace(/[\\"$]/g, (character) => `\\${character}`);
  return `"${escaped}"`;
};

/** The text with the variable set, in its old place if it had one, or removed for `undefined`. Everything else stays as it is. */
export const editEnvFile = (text: string, name: string, value: string | undefined): string => {
  const { entries } = parseEnvFile(text, '', () => '');
  const places = entries.filter((entry) => entry.name === name);
  let edited = text;
  for (const [index, { start, end }] of places.entries().toArray().toReversed()) {
    const isLast = index === places.length - 1;
    if (value !== undefined && isLast) edited = edited.slice(0, start) + assignment(text.slice(start, end), name, value) + edited.slice(end);
    else edited = edited.slice(0, start) + edited.slice(end).replace(/^[^\n]*\n?/, '');
  }
  if (value === undefined || places.length > 0) return edited;
  const gap = edited === '' || edited.endsWith('\n') ? '' : '\n';
  return `${edited}${gap}${name}=${quoteValue(value)}\n`;
};

const assignment = (old: string, name: string, value: string): string => `${old.startsWith('export') && !old.startsWith(name) ? 'export ' : ''}${name}=${quoteValue(value)}`;
