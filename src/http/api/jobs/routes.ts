import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import { z } from 'zod';
import type { JobRequest } from '../../../cron/job-request.ts';
import type { ApiGate } from '../../../gateway/api/api-gate.ts';
import type { ApiJobs, JobCaller, JobResult, JobSummary } from '../../../gateway/api/api-jobs.ts';
import { mainAgent } from '../../../routing/select-agent.ts';
import type { HttpEnv } from '../../client.ts';
import { ApiError } from '../api-error.ts';
import type { Caller } from '../callers.ts';
import { checked, readBody } from '../read-body.ts';
import type { ApiRoute } from '../route.ts';

const names = z.array(z.string().min(1).max(200)).max(100);
const places = z.union([z.string().max(1000), z.array(z.string().max(1000)).max(100)]);

const fields = {
  name: z.string().trim().min(1).max(200).optional(),
  schedule: z.string().max(100).optional(),
  prompt: z.string().optional(),
  deliver: places.optional(),
  failure_deliver: places.optional(),
  skills: names.optional(),
  skill: z.string().max(200).optional(),
  repeat: z.int().nullish(),
  timezone: z.string().max(60).optional(),
  script: z.string().max(200).optional(),
  no_agent: z.boolean().optional(),
  context_from: names.optional(),
  model: z.string().max(200).optional(),
  toolsets: names.optional(),
  workdir: z.string().max(1000).optional(),
  missed: z.string().max(20).optional(),
  overlap: z.string().max(20).optional(),
  mirror: z.boolean().optional(),
};

/** The body of `POST /api/jobs`. */
const createRequest = z.looseObject({ ...fields, name: z.string().trim().min(1).max(200), schedule: z.string().min(1).max(100), agent: z.string().max(100).optional() });

/** The body of `PATCH /api/jobs/{id}`. */
const changeRequest = z.looseObject({ ...fields, enabled: z.boolean().optional() });

export const jobRequests = { createRequest, changeRequest };

type Fields = z.output<typeof changeRequest>;

/** What is left out stays as it is. */
const requestOf = (asked: Fields): JobRequest => ({
  name: asked.name,
  schedule: asked.schedule,
  prompt: asked.prompt,
  deliver: asked.deliver,
  failureDeliver: asked.failure_deliver,
  skills: asked.skills ?? (asked.skill === undefined ? undefined : [asked.skill]),
  // Null is how JSON says that there is no end.
  times: asked.repeat === null ? 0 : asked.repeat,
  zone: asked.timezone,
  script: asked.script,
  noAgent: asked.no_agent,
  contextFrom: asked.context_from,
  model: asked.model,
  toolsets: asked.toolsets,
  workdir: asked.workdir,
  missed: asked.missed,
  overlap: asked.overlap,
  mirror: asked.mirror,
});

const checkFields = (asked: object, known: object): void => {
  const unknown = Object.keys(asked).find((name) => !Object.hasOwn(known, name));
  if (unknown !== undefined) throw new ApiError(400, `A job has no '${unknown.slice(0, 60)}'.`, { code: 'unsupported_job_field', param: unknown.slice(0, 60) });
};

/** What came of it; throws the refusal. What the rules of jobs have against a request is the client's mistake, what they have against an action is the state of the job. */
const done = <T>(result: JobResult<T>, refused: 400 | 409): T => {
  switch (result.type) {
    case 'done':
      return result.value;
    case 'not_found':
      throw new ApiError(404, result.sentence, { code: 'job_not_found' });
    case 'not_allowed':
      throw new ApiError(403, result.sentence, { code: 'delivery_not_allowed', param: 'deliver' });
    case 'refused':
      throw new ApiError(refused, result.sentence, { code: refused === 400 ? 'invalid_value' : 'job_conflict' });
    default:
      throw result satisfies never;
  }
};

const smallBytes = 1024 * 1024;

const callerOf = ({ id, scopes }: Caller): JobCaller => ({ id, seesAll: scopes.includes('admin') });

const idOf = (c: Context<HttpEnv>): string => {
  const id = c.req.param('id') ?? '';
  if (!/^[0-9a-f]{12}$/.test(id)) throw new ApiError(400, 'The id of a job has 12 digits from 0 to f.', { code: 'invalid_job_id' });
  return id;
};

/** What may stand behind `GET /api/jobs`. */
export const jobListQuery = z.object({ include_disabled: z.enum(['0', '1', 'true', 'false']).default('0') });

const wireJob = (job: JobSummary) => ({ ...job, enabled: job.state === 'scheduled' });

const create = async (jobs: ApiJobs, c: Context<HttpEnv>, caller: Caller): Promise<Response> => {
  const asked = await readBody(c, createRequest, smallBytes);
  checkFields(asked, createRequest.shape);
  const job = done(await jobs.create(callerOf(caller), { agent: asked.agent ?? mainAgent, request: requestOf(asked) }), 400);
  return c.json({ job: wireJob(job) }, 201);
};

const change = async (jobs: ApiJobs, c: Context<HttpEnv>, caller: Caller): Promise<Response> => {
  const id = idOf(c);
  const asked = await readBody(c, changeRequest, smallBytes);
  checkFields(asked, changeRequest.shape);
  return c.json({ job: wireJob(done(await jobs.change(callerOf(caller), id, { request: requestOf(asked), enabled: asked.enabled }), 400)) });
};

/** `/api/jobs`: what agents do by themselves at a time. A key sees the jobs that it has made; one with the scope `admin` sees all. */
export const jobRoutes = (deps: { gate(): ApiGate }): readonly ApiRoute[] => {
  const jobs = (): ApiJobs => deps.gate().jobs;
  const acting = (name: string, act: (jobs: ApiJobs, caller: Caller, at: { readonly id: string; readonly c: Context<HttpEnv> }) => Promise<JobResult<JobSummary>>): ApiRoute => ({
    name: `job_${name}`,
    method: 'POST',
    path: `/api/jobs/:id/${name}`,
    scope: 'jobs',
    handle: async (c, caller) => c.json({ job: wireJob(done(await act(jobs(), caller, { id: idOf(c), c }), 409)) }),
  });
  return [
    {
      name: 'jobs',
      method: 'GET',
      path: '/api/jobs',
      scope: 'jobs',
      async handle(c, caller) {
        const { include_disabled: all } = checked(jobListQuery, c.req.query());
        const listed = await jobs().list(callerOf(caller), { completed: all === '1' || all === 'true' });
        return c.json({ jobs: listed.map(wireJob).filter(({ enabled }) => enabled || all === '1' || all === 'true') });
      },
    },
    { name: 'job_create', method: 'POST', path: '/api/jobs', scope: 'jobs', handle: (c, caller) => create(jobs(), c, caller) },
    { name: 'job', method: 'GET', path: '/api/jobs/:id', scope: 'jobs', handle: async (c, caller) => c.json({ job: wireJob(done(await jobs().find(callerOf(caller), idOf(c)), 409)) }) },
    { name: 'job_change', method: 'PATCH', path: '/api/jobs/:id', scope: 'jobs', handle: (c, caller) => change(jobs(), c, caller) },
    {
      name: 'job_delete',
      method: 'DELETE',
      path: '/api/jobs/:id',
      scope: 'jobs',
      async handle(c, caller) {
        const id = idOf(c);
        done(await jobs().remove(callerOf(caller), id), 409);
        return c.json({ object: 'hermes.job.deleted', id, deleted: true });
      },
    },
    acting('pause', (all, caller, { id }) => all.pause(callerOf(caller), id)),
    acting('resume', (all, caller, { id }) => all.resume(callerOf(caller), id)),
    acting('run', (all, caller, { id, c }) => all.run(callerOf(caller), id, `api:${caller.id}:${c.req.header('idempotency-key') ?? randomUUID()}`)),
  ];
};
