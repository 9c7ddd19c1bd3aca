/** Formats in which a number and a bar may well begin every line. */
const tables = /\.(?:csv|psv|tsv|dat)$/i;

/** True for text copied from what `read_file` shows, with the numbers of the lines still on it. */
export const looksNumbered = (text: string, path: string): boolean => {
  if (tables.test(path)) return false;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const numbers = lines.map((line) => Number(/^ *(\d{1,9})\|/.exec(line)?.[1] ?? NaN));
  return numbers.length >= 2 && numbers.every((number, index) => number === (numbers[0] ?? NaN) + index);
};

export const numberedRefusal = (what: string): string => `${what} still has the line numbers that read_file shows (\`12|text\`). Leave them out: they are not part of the file.`;
