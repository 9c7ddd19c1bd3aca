import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { Hono } from 'hono';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Metrics } from '../lib/metrics.ts';
import { metricsContentType } from '../lib/metrics.ts';
import type { HttpEnv } from './client.ts';
import { requirePrivilege } from './login.ts';
import type { LoginDeps } from './login.ts';

/** `/metrics` in the Prometheus text format, for local, logged-in and token-bearing readers. */
export const metricsRoutes = (metrics: Metrics, login: LoginDeps): Hono<HttpEnv> => {
  const routes = new Hono<HttpEnv>();
  routes.get('/metrics', requirePrivilege(login), async (c) => c.body(await metrics.text(), 200, { 'content-type': metricsContentType, 'cache-control': 'no-store' }));
  return routes;
};

const descriptors = '/proc/self/fd';

/** Only where the system tells. The look itself opens one. */
const addOpenFiles = (metrics: Metrics): void => {
  if (!existsSync(descriptors)) return;
  const open = metrics.gauge({ name: 'process_open_fds', help: 'Number of open file descriptors.' }).at();
  metrics.collect(async () => open.set((await readdir(descriptors)).length - 1));
};

/** Facts about this process under their customary names. The event loop is watched until the process ends. */
export const addProcessMetrics = (metrics: Metrics, version: string): void => {
  // Measured as the loop goes round: a timer for it would wake a gateway that waits fifty times a second.
  const delay = monitorEventLoopDelay({ samplePerIteration: true });
  delay.enable();
  const rss = metrics.gauge({ name: 'process_resident_memory_bytes', help: 'Resident memory size in bytes.' }).at();
  const cpu = metrics.gauge({ name: 'process_cpu_seconds_total', help: 'User and system CPU time spent in seconds.' }).at();
  const lag = metrics.gauge({ name: 'nodejs_eventloop_lag_p99_seconds', help: '99th percentile of the event loop delay since the last scrape.' }).at();
  metrics
    .gauge({ name: 'process_start_time_seconds', help: 'Start time of the process since the epoch in seconds.' })
    .at()
    .set(Math.round((performance.timeOrigin / 1000) * 1000) / 1000);
  metrics.gauge({ name: 'hermes_build_info', help: 'Constant 1, labelled with the version.', labels: ['version'] }).at(version).set(1);
  addOpenFiles(metrics);
  metrics.collect(() => {
    const { user, system } = process.cpuUsage();
    rss.set(process.memoryUsage.rss());
    cpu.set((user + system) / 1e6);
    lag.set(delay.percentile(99) / 1e9);
    delay.reset();
  });
};
