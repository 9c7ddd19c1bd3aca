import type { ApiRoute } from './route.ts';
import { shownPath } from './shown-path.ts';

/** What this server can do, from the table of what it serves. */
export const capabilitiesRoute = (routes: () => readonly ApiRoute[], features: Readonly<Record<string, boolean>>): ApiRoute => ({
  name: 'capabilities',
  method: 'GET',
  path: '/v1/capabilities',
  scope: 'chat',
  handle: (c) =>
    c.json({
      object: 'hermes.api_server.capabilities',
      platform: 'hermes',
      model: 'hermes',
      auth: { type: 'bearer', required: true },
      runtime: { mode: 'server_agent', tool_execution: 'server', client_tools: true },
      features,
      endpoints: Object.fromEntries(routes().map(({ name, method, path }) => [name, { method, path: shownPath(path) }])),
    }),
});
