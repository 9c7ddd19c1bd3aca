import { z } from 'zod';

/** The shape that an answer is to have, in the words of either API. */
export const outputFormat = z.looseObject({
  type: z.enum(['text', 'json_object', 'json_schema']),
  json_schema: z.looseObject({ schema: z.record(z.string(), z.unknown()).nullish() }).nullish(),
  schema: z.record(z.string(), z.unknown()).nullish(),
  name: z.string().optional(),
  description: z.string().nullish(),
  strict: z.boolean().nullish(),
});

/** What the agent is told about it; undefined where words are wanted. */
export const formatInstructions = (format: z.output<typeof outputFormat> | null | undefined): string | undefined => {
  if (format === undefined || format === null || format.type === 'text') return undefined;
  const schema = format.json_schema?.schema ?? format.schema;
  const only = 'Your final answer is nothing but one JSON object, without a code fence and without words around it.';
  return schema === undefined || schema === null ? only : `${only} It matches this JSON Schema:\n${JSON.stringify(schema)}`;
};
