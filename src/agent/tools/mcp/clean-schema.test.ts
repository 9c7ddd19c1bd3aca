import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanSchema } from './clean-schema.ts';

test('an ordinary schema passes through, without what only validators read', () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'x',
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Where', minLength: 1, examples: ['/tmp'], 'x-hint': 1 },
      deep: { type: 'object', properties: { list: { type: 'array', items: { type: 'integer', minimum: 0 } } }, required: ['list'] },
    },
    required: ['path'],
    additionalProperties: false,
  };
  assert.deepEqual(cleanSchema(schema), {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Where', minLength: 1 },
      deep: { type: 'object', properties: { list: { type: 'array', items: { type: 'integer', minimum: 0 } } }, required: ['list'] },
    },
    required: ['path'],
    additionalProperties: false,
  });
});

test('whatever is no schema becomes one without arguments', () => {
  for (const bad of [undefined, null, 7, 'object', [], {}, { type: 'string' }, { type: 'object', properties: [] }, { type: 'object', required: 'x' }]) {
    assert.deepEqual(cleanSchema(bad), { type: 'object', properties: {} }, JSON.stringify(bad));
  }
});

test('references are put in place, and one that leads to itself stays open', () => {
  const tree = { type: 'object', properties: { root: { $ref: '#/$defs/Node' } }, $defs: { Node: { type: 'object', properties: { name: { type: 'string' }, next: { $ref: '#/$defs/Node' } } } } };
  assert.deepEqual(cleanSchema(tree)['properties'], { root: { type: 'object', properties: { name: { type: 'string' }, next: {} } } });
  const odd = { properties: { a: { $ref: '#/definitions/a~1b' }, b: { $ref: 'https://elsewhere/x' }, c: { $ref: '#/nowhere' }, d: { $ref: '#/definitions/constructor' } }, definitions: { 'a/b': { type: 'boolean' } } };
  assert.deepEqual(cleanSchema(odd)['properties'], { a: { type: 'boolean' }, b: {}, c: {}, d: {} });
});

test('a small schema that its references make endlessly wide is cut', () => {
  const level = (next: string): object => ({ type: 'object', properties: Object.fromEntries('abcdefghij'.split('').map((key) => [key, { $ref: `#/$defs/${next}` }])) });
  const $defs = Object.fromEntries('0123456789'.split('').map((digit) => [`l${digit}`, level(`l${Number(digit) + 1}`)]));
  const cleaned = cleanSchema({ type: 'object', properties: { top: { $ref: '#/$defs/l0' } }, $defs });
  assert.ok(JSON.stringify(cleaned).length <= 32_000);
});

test('something that may be null is what it is otherwise', () => {
  const schema = { properties: { a: { type: ['string', 'null'] }, b: { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }], default: null }, c: { oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'null' }] }, d: { const: 'x' } } };
  assert.deepEqual(cleanSchema(schema)['properties'], {
    a: { type: 'string' },
    b: { type: 'integer', default: null, minimum: 1 },
    c: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    d: { enum: ['x'] },
  });
});

test('all parts of an allOf count together, also referenced ones', () => {
  const schema = { allOf: [{ $ref: '#/$defs/base' }, { properties: { extra: { type: 'boolean' } }, required: ['extra'] }], properties: { own: { type: 'string' } }, $defs: { base: { properties: { id: { type: 'integer' } }, required: ['id'] } } };
  const cleaned = cleanSchema(schema);
  assert.deepEqual(Object.keys(cleaned['properties'] as object).toSorted(), ['extra', 'id', 'own']);
  assert.deepEqual(cleaned['required'], ['id', 'extra']);
});

test('alternatives at the top become arguments that may be left out', () => {
  const schema = { anyOf: [{ properties: { id: { type: 'integer' } }, required: ['id'] }, { properties: { name: { type: 'string' } }, required: ['name'] }] };
  assert.deepEqual(cleanSchema(schema), { type: 'object', properties: { id: { type: 'integer' }, name: { type: 'string' } } });
});

test('names, types and keywords that a provider would refuse are left out', () => {
  const schema = {
    properties: {
      $filter: { type: 'string' },
      ['x'.repeat(65)]: { type: 'string' },
      list: { type: 'array' },
      odd: { type: 'tuple', enum: [], minimum: '3', pattern: '(?<=a)b', format: 7 },
      code: { type: 'string', pattern: '^[a-z]+$' },
      flag: true,
    },
    required: ['$filter', 'list', 'list', 7],
  };
  assert.deepEqual(cleanSchema(schema), { type: 'object', properties: { list: { type: 'array', items: {} }, odd: {}, code: { type: 'string', pattern: '^[a-z]+$' }, flag: {} }, required: ['list'] });
});

test('descriptions are bounded and hold nothing that nobody sees', () => {
  const cleaned = cleanSchema({ properties: { a: { description: `Seen\u{e0041}\u202e\u0007 ${'x'.repeat(5000)}` } } });
  const { description } = (cleaned['properties'] as { a: { description: string } }).a;
  assert.ok(description.startsWith('Seen x') && description.length <= 1000);
});

test('a schema that is too large is left open', () => {
  const properties = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`argument_number_${index}`, { type: 'string', description: 'some words' }]));
  assert.deepEqual(cleanSchema({ properties }), { type: 'object', properties: {}, additionalProperties: true });
});
