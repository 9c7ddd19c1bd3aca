import { basename, extname } from 'node:path';
import { parseAllDocuments } from 'yaml';

const maxCheckedChars = 1_000_000;

/** JSON with comments, by custom. */
const loose = /^(?:[tj]sconfig.*|settings|launch|tasks|extensions|devcontainer|\.eslintrc|\.babelrc|\.swcrc)\.json$/i;

const jsonProblems = (text: string): readonly string[] => {
  try {
    JSON.parse(text);
    return [];
  } catch (error) {
    if (error instanceof SyntaxError) return [error.message];
    throw error;
  }
};

const yamlProblems = (text: string): readonly string[] => {
  const documents = parseAllDocuments(text, { prettyErrors: true, logLevel: 'silent' });
  return Array.isArray(documents) ? documents.flatMap(({ errors }) => errors.map(({ message }) => message.split('\n')[0] ?? message)) : [];
};

const problemsOf = (path: string, text: string): readonly string[] => {
  if (text.length > maxCheckedChars) return [];
  switch (extname(path).toLowerCase()) {
    case '.json':
      return loose.test(basename(path)) || text.trim() === '' ? [] : jsonProblems(text);
    case '.yaml':
    case '.yml':
      return yamlProblems(text);
    default:
      return [];
  }
};

const withoutPlace = (problem: string): string => problem.replace(/ at line \d+, column \d+.*$/, '');

/** Errors of form that a change has brought into a JSON or YAML file. What was wrong before is not reported again. */
export const newSyntaxProblems = (path: string, before: string | undefined, after: string): readonly string[] => {
  const now = problemsOf(path, after);
  if (now.length === 0) return [];
  const old = before === undefined ? [] : problemsOf(path, before);
  if (extname(path).toLowerCase() === '.json') return old.length === 0 ? now : [];
  const known = new Set(old.map(withoutPlace));
  return now.filter((problem) => !known.has(withoutPlace(problem)));
};
