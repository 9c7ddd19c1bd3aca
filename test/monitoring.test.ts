import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { newWorld, startOutside, until } from './support/whole.ts';

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
}

const words = new Set(['sum', 'by', 'rate', 'increase', 'histogram_quantile', 'le']);

/** The metrics that an expression asks for: names that are neither functions nor labels. */
const metricsIn = (expr: string): readonly string[] => {
  const bare = expr.replaceAll(/\{[^}]*\}|\[[^\]]*\]|by \([^)]*\)/g, ' ');
  return [...bare.matchAll(/[a-z_][a-z0-9_]*/g)].map(([name]) => name).filter((name) => !words.has(name));
};

test('every picture of the Grafana dashboard asks for something that a gateway in use measures', async () => {
  const dashboard = JSON.parse(await readFile(new URL('../docs/monitoring/grafana-dashboard.json', import.meta.url), 'utf8')) as Dashboard;
  await using world = await newWorld();
  await using gateway = await startOutside(world);
  await world.say('hello');
  await until(() => world.shown().includes('re: hello'), 'an answer');
  const url = /"url":"([^"]+)"/.exec(gateway.output())?.[1] ?? '';
  const text = await (await fetch(`${url}/metrics`)).text();
  const known = new Set([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) => (type === 'histogram' ? [`${name}_bucket`] : [name])));
  for (const { title, targets } of dashboard.panels) for (const { expr } of targets) for (const name of metricsIn(expr)) assert.ok(known.has(name), `${title}: ${name}`);
  assert.match(text, /^hermes_store_seconds_count\{what="write"\} [1-9]/m);
  assert.match(text, /^hermes_inbound_total\{platform="telegram",outcome="stored"\} 1$/m);
});
