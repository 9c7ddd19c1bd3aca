import { z } from 'zod';
import { defineSection } from '../../config/section.ts';

const origin = z
  .string()
  .trim()
  .regex(/^https?:\/\/[^\s/]+$/i, 'must be an origin such as https://chat.example.org, without a path');

/** The `api_server` section of config.yaml. */
export const apiOptions = z
  .object({
    key: z
      .string()
      .regex(/^\S{16,}$/, 'at least 16 characters without spaces')
      .optional()
      .meta({ env: 'API_SERVER_KEY', secret: true })
      .describe('The owner’s credential for the API. Further ones are made with `hermes api keys create`.'),
    cors_origins: z.array(origin).default([]).meta({ env: 'API_SERVER_CORS_ORIGINS' }).describe('Origins whose pages may call the API from a browser.'),
    max_concurrent_requests: z.int().min(1).max(10_000).default(64).meta({ env: 'API_SERVER_MAX_CONCURRENT' }).describe('Answers that the API works on at the same time; more are refused with 429.'),
    max_body_mb: z.number().min(0.1).max(64).default(20).describe('Largest request that is read.'),
    on_disconnect: z.enum(['cancel', 'keep']).default('cancel').describe('What becomes of an answer whose client has gone away: it is cancelled, or worked on to its end.'),
  })
  .prefault({});

export type ApiOptions = z.output<typeof apiOptions>;

export const apiSection = defineSection('api_server', apiOptions, 'restart');
