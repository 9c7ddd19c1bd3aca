import { createContext, Script } from 'node:vm';
import type { Comparison, Condition } from './options.ts';
import { valueAt } from './template.ts';

const longestMatched = 1_000;
const matchTimeoutMs = 500;
const matching = new Script('new RegExp(pattern, "u").test(text)');

/** An expression that takes too long on what others wrote throws: it must not hold up everybody else, and the call is not lost for it. */
const matches = (pattern: string, text: string): boolean => matching.runInContext(createContext({ pattern, text: text.slice(0, longestMatched) }), { timeout: matchTimeoutMs }) === true;

const contains = (value: unknown, part: string): boolean => (Array.isArray(value) ? value.some((item) => String(item) === part) : typeof value === 'string' && value.includes(part));

const compare = (test: Comparison, payload: unknown): boolean => {
  if (test.path === undefined) return true;
  const value = valueAt(payload, test.path);
  const outcomes = [
    test.exists === undefined || test.exists === (value !== undefined),
    test.equals === undefined || value === test.equals,
    test.not_equals === undefined || value !== test.not_equals,
    test.contains === undefined || contains(value, test.contains),
    test.in === undefined || test.in.some((each) => each === value),
    test.regex === undefined || (typeof value === 'string' && matches(test.regex, value)),
  ];
  return outcomes.every(Boolean);
};

const holds = ({ all, any, not, ...test }: Condition, payload: unknown): boolean =>
  compare(test, payload) && (all?.every((each) => compare(each, payload)) ?? true) && (any?.some((each) => compare(each, payload)) ?? true) && (not === undefined || !compare(not, payload));

/** The number of the first condition that does not hold, counted from one; undefined when all do. */
export const firstUnmet = (conditions: readonly Condition[], payload: unknown): number | undefined => {
  const index = conditions.findIndex((condition) => !holds(condition, payload));
  return index === -1 ? undefined : index + 1;
};
