import { isIP } from 'node:net';
import { z } from 'zod';
import { defineSection } from '../config/section.ts';
import { isLoopbackName } from './client.ts';

const hostName = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i, 'a host name without scheme, port or path')
  .transform((name) => name.toLowerCase());

/** The `http` section of config.yaml. */
export const httpOptions = z
  .object({
    host: z
      .string()
      .min(1)
      .default('127.0.0.1')
      .meta({ env: 'HERMES_HTTP_HOST' })
      .describe('Address to listen on. Anything beyond loopback needs `token`.'),
    port: z.coerce.number().int().min(0).max(65_535).default(8642).meta({ env: 'HERMES_HTTP_PORT' }).describe('Port to listen on; 0 takes a free one.'),
    allowed_hosts: z.array(hostName).default([]).describe('Further names under which browsers may reach the page, such as the one a reverse proxy serves.'),
    trusted_proxies: z
      .array(z.string().refine((address) => isIP(address) !== 0, 'an IP address'))
      .default([])
      .describe('Addresses of reverse proxies whose X-Forwarded-For and X-Forwarded-Proto are believed.'),
    token: z
      .string()
      .regex(/^\S{16,}$/, 'at least 16 characters without spaces')
      .optional()
      .meta({ env: 'HERMES_HTTP_TOKEN', secret: true })
      .describe('Credential for the login page, /metrics and the details of /ready.'),
  })
  .superRefine(({ host, token }, context) => {
    const message = `is needed because http.host is ${host}, which others can reach; 127.0.0.1 needs none`;
    if (!isLoopbackName(host) && token === undefined) context.addIssue({ code: 'custom', path: ['token'], message });
  });

export type HttpOptions = z.output<typeof httpOptions>;

export const httpSection = defineSection('http', httpOptions, 'restart');
