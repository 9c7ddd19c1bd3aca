import type { z } from 'zod';
import { typeText } from '../schema.ts';

const kindOf = (value: unknown): string => {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  switch (typeof value) {
    case 'string':
      return 'text';
    case 'number':
      return 'a number';
    case 'boolean':
      return 'true or false';
    default:
      return 'a mapping';
  }
};

const wanted: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
};

const units: Readonly<Record<string, string>> = { string: ' characters', array: ' entries', set: ' entries', map: ' entries', object: ' keys' };

const bound = (issue: z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall> | z.core.$ZodRawIssue<z.core.$ZodIssueTooBig>): string => {
  const unit = units[issue.origin] ?? '';
  const verb = unit === '' ? 'must be' : 'must have';
  if (issue.code === 'too_big') return `${verb} ${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}${unit}`;
  if (unit !== '' && Number(issue.minimum) === 1) return 'must not be empty';
  return `${verb} ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}${unit}`;
};

/**
 * Says what is wrong in words that never repeat the value. Zod asks for it only where the schema's author gave no
 * message of their own.
 */
export const issueText = (issue: z.core.$ZodRawIssue): string => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${wanted[issue.expected] ?? issue.expected}, not ${kindOf(issue.input)}`;
    case 'invalid_value':
      return `${issue.input === undefined ? 'is required: ' : 'must be '}${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
    case 'too_small':
    case 'too_big':
      return bound(issue);
    case 'invalid_format':
      return issue.format === 'url' ? 'must be a URL such as https://example.org' : `is not a valid ${issue.format}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return 'has an unknown key';
    case 'invalid_union':
      return issue.input === undefined ? 'is required' : `must be ${issue.schema === undefined ? 'of another form' : typeText(issue.schema)}`;
    case 'invalid_key':
      return 'has a key of a wrong form';
    case 'invalid_element':
      return 'has an entry of a wrong form';
    case 'custom':
      return 'is not valid';
    default:
      issue satisfies never;
      return 'is not valid';
  }
};
