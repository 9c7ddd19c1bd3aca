import { z } from 'zod';
import type { ApiRoute } from '../route.ts';
import { shownPath } from '../shown-path.ts';
import { operations } from './operations.ts';
import type { Operation } from './operations.ts';
import { answers } from './schemas.ts';

type Json = Readonly<Record<string, unknown>>;

const schemaOf = (type: z.ZodType, io: 'input' | 'output'): Json => {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(type, { io, unrepresentable: 'any' });
  return schema;
};

const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

const parametersOf = (path: string, { query, headers = {} }: Operation): readonly Json[] => [
  ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
  ...Object.entries(query?.shape ?? {}).map(([name, type]) => ({ name, in: 'query', required: false, schema: schemaOf(type, 'input') })),
  ...Object.entries(headers).map(([name, description]) => ({ name, in: 'header', required: false, description, schema: { type: 'string' } })),
];

const answerOf = ({ summary, status, answer, event }: Operation): Json => ({
  [status]: {
    description: summary,
    ...((answer !== undefined || event !== undefined) && {
      content: { ...(answer !== undefined && { 'application/json': { schema: ref(answer) } }), ...(event !== undefined && { 'text/event-stream': { schema: ref(event) } }) },
    }),
  },
  default: { description: 'Why nothing came of it', content: { 'application/json': { schema: ref('Error') } } },
});

const operationOf = (route: ApiRoute): Json => {
  const operation = operations[route.name];
  if (operation === undefined) throw new Error(`the document says nothing about ${route.name}`);
  const path = shownPath(route.path);
  return {
    operationId: route.name,
    summary: operation.summary,
    description: `Needs a key with the scope \`${route.scope}\`.`,
    parameters: parametersOf(path, operation),
    ...(operation.body !== undefined && { requestBody: { required: true, content: { 'application/json': { schema: schemaOf(operation.body, 'input') } } } }),
    responses: answerOf(operation),
  };
};

const pathsOf = (routes: readonly ApiRoute[]): Json => {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) (paths[shownPath(route.path)] ??= {})[route.method.toLowerCase()] = operationOf(route);
  return paths;
};

/** The OpenAPI document of what is served, made from the routes themselves and the schemas that check what comes in. */
export const openApiDocument = (routes: readonly ApiRoute[], version: string): Json => ({
  openapi: '3.1.0',
  info: { title: 'Hermes gateway', version, description: 'Agents over HTTP. Calls below /v1 that OpenAI has too take and answer what OpenAI’s API does.' },
  security: [{ key: [] }],
  paths: pathsOf(routes),
  components: {
    securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
    schemas: Object.fromEntries(Object.entries(answers).map(([name, type]) => [name, schemaOf(type, 'output')])),
  },
});

/** `GET /v1/openapi.json`. */
export const openApiRoute = (routes: () => readonly ApiRoute[], version: string): ApiRoute => {
  let made: Json | undefined;
  return { name: 'openapi', method: 'GET', path: '/v1/openapi.json', scope: 'chat', handle: (c) => c.json((made ??= openApiDocument(routes(), version))) };
};
