import { durationBuckets } from '../lib/metrics.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Store } from './store.ts';

/** The same store, with its times among the metrics: from the request to the commit, whatever it had to wait for. */
export const measuredStore = (store: Store, metrics: Metrics): Store => {
  const seconds = metrics.histogram({ name: 'hermes_store_seconds', help: 'Time that reads and writes of the store took, waiting included', labels: ['what'], buckets: durationBuckets });
  const failures = metrics.counter({ name: 'hermes_store_failures_total', help: 'Reads and writes of the store that failed', labels: ['what'] });
  const timed = <T>(what: 'read' | 'write', work: () => Promise<T>): Promise<T> => {
    const startedMs = performance.now();
    const done = (): void => seconds.at(what).observe((performance.now() - startedMs) / 1000);
    const result = work();
    result.then(done, () => {
      failures.at(what).inc();
      done();
    });
    return result;
  };
  return {
    engine: store.engine,
    read: (work) => timed('read', () => store.read(work)),
    write: (work, options) => timed('write', () => store.write(work, options)),
    listen: (channel, listener, when) => store.listen(channel, listener, when),
    tidy: () => store.tidy(),
    emptyLog: (patienceMs) => store.emptyLog(patienceMs),
    close: () => store.close(),
  };
};
