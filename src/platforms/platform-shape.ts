import { z } from 'zod';
import type { Platform } from './contract.ts';

const callable = z.custom<() => unknown>((value) => typeof value === 'function', 'must be a function');

const isObjectSchema = (value: unknown): boolean => typeof value === 'object' && value !== null && '_zod' in value && (value as z.core.$ZodType)._zod.def.type === 'object' && 'shape' in value;

/** What can be seen of a platform without opening it. */
const shape = z.looseObject({
  name: z.string('must be a text').regex(/^[a-z][a-z0-9_-]{0,31}$/, 'must be small letters, digits, - and _, at most 32'),
  label: z.string('must be a text').min(1, 'must not be empty'),
  options: z.custom<z.ZodObject>(isObjectSchema, 'must be a zod object'),
  limits: z.looseObject({ text: z.number('must be a number').positive('must be positive'), measure: callable, editIntervalMs: z.number('must be a number') }, 'must be a mapping'),
  display: z.looseObject({ tier: z.enum(['high', 'medium', 'low', 'minimal'], 'must be high, medium, low or minimal') }, 'must be a mapping'),
  hints: z.string('must be a text'),
  asyncDelivery: z.boolean('must be true or false'),
  authenticatesSenders: z.boolean('must be true or false'),
  alwaysOn: z.boolean('must be true or false'),
  credential: callable,
  open: callable,
  simulate: callable,
  exceptions: z.record(z.string(), z.string(), 'must be a mapping of clauses to reasons'),
});

export type ShapeCheck = { readonly ok: true; readonly platform: Platform } | { readonly ok: false; readonly problems: readonly string[] };

/** Whether somebody else's module exports what the contract asks for; each problem begins with the field it is about. */
export const checkShape = (value: unknown): ShapeCheck => {
  const checked = shape.safeParse(value);
  if (checked.success) return { ok: true, platform: value as Platform };
  return { ok: false, problems: checked.error.issues.map(({ path, message }) => (path.length === 0 ? 'is no platform: it must be an object' : `${path.join('.')} ${message}`)) };
};
