import type { z } from 'zod';
import { mask } from '../../lib/redact.ts';
import type { Redactor } from '../../lib/redact.ts';
import { formatOrigin } from '../problem.ts';
import type { SettingPath } from '../problem.ts';
import { childSchema, factsOf, shapeOf } from '../schema.ts';
import { childOf, mapScalars, toPlain } from './setting-node.ts';
import type { Plain, SettingNode } from './setting-node.ts';

/** A value in force and where it came from. Secrets are masked here and nowhere later. */
export interface EffectiveSetting {
  readonly path: SettingPath;
  readonly value: Plain;
  /** As `formatOrigin` writes it. */
  readonly source: string;
}

interface Spot {
  readonly schema: z.core.$ZodType | undefined;
  readonly node: SettingNode | undefined;
  /** After parsing, for what nobody wrote. */
  readonly value: unknown;
  readonly path: SettingPath;
  readonly secret: boolean;
}

/** `redactor` finds secrets that were put where none belongs, such as a token inside an address. */
export const effectiveSettings = (root: Omit<Spot, 'secret'>, redactor: Redactor): readonly EffectiveSetting[] =>
  [...walk({ ...root, secret: false })].map((setting) => ({ ...setting, value: redacted(setting.value, redactor) }));

const redacted = (value: Plain, redactor: Redactor): Plain => {
  if (typeof value === 'string') return redactor.redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((part: Plain) => redacted(part, redactor));
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [redactor.redact(key), redacted(part, redactor)]));
};

function* walk(spot: Spot): Generator<EffectiveSetting> {
  const { schema, node, value, path } = spot;
  const secret = spot.secret || (schema !== undefined && factsOf(schema).secret);
  const keys = [...new Set([...Object.keys((schema && shapeOf(schema)) ?? {}), ...(node?.kind === 'map' ? node.entries.keys() : [])])];
  const isMapping = node === undefined ? isRecord(value) : node.kind === 'map';
  if (isMapping && keys.length > 0) {
    for (const key of keys) {
      yield* walk({ schema: schema && childSchema(schema, key), node: childOf(node, key), value: isRecord(value) ? value[key] : undefined, path: [...path, key], secret });
    }
  } else if (node !== undefined) {
    yield { path, value: shown(node, secret), source: formatOrigin(node.at) };
  } else if (value !== undefined) {
    yield { path, value: secret && typeof value === 'string' ? mask(value) : asPlain(value), source: 'default' };
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value);

const shown = (node: SettingNode, secret: boolean): Plain =>
  toPlain(mapScalars(node, (scalar) => (secret || scalar.secret === true ? { ...scalar, value: mask(String(scalar.value)) } : scalar)));

const asPlain = (value: unknown): Plain => {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map(asPlain);
  if (isRecord(value) && Object.getPrototypeOf(value) === Object.prototype) return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, asPlain(part)]));
  return String(value);
};
