import type { ApiGate } from '../../gateway/api/api-gate.ts';
import { ApiError } from './api-error.ts';
import type { ApiRoute } from './route.ts';

const family = 'hermes';

/** Which agent a model's name stands for; undefined for the one that the routes choose. */
export const agentOfModel = (model: string, gate: ApiGate): string | undefined => {
  if (model === family) return undefined;
  const id = model.startsWith(`${family}/`) ? model.slice(family.length + 1) : undefined;
  if (id !== undefined && gate.agents().includes(id)) return id;
  throw new ApiError(404, `The model '${model.slice(0, 200)}' does not exist. GET /v1/models lists those that do.`, { code: 'model_not_found', param: 'model' });
};

interface Model {
  readonly id: string;
  readonly object: 'model';
  readonly created: number;
  readonly owned_by: string;
}

const modelOf = (id: string, startedMs: number): Model => ({ id, object: 'model', created: Math.floor(startedMs / 1000), owned_by: family });

/** Every agent is a model; `hermes` is the one that the routes choose. */
export const modelRoutes = (deps: { readonly startedMs: number; gate(): ApiGate }): readonly ApiRoute[] => [
  {
    name: 'models',
    method: 'GET',
    path: '/v1/models',
    scope: 'chat',
    handle: (c) => c.json({ object: 'list', data: [family, ...deps.gate().agents().map((id) => `${family}/${id}`)].map((id) => modelOf(id, deps.startedMs)) }),
  },
  {
    name: 'model',
    method: 'GET',
    path: '/v1/models/:id{.+}',
    scope: 'chat',
    handle(c) {
      const id = c.req.param('id') ?? '';
      agentOfModel(id, deps.gate());
      return c.json(modelOf(id, deps.startedMs));
    },
  },
];
