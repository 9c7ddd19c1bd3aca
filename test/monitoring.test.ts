import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { status } from '../src/agent/models/chat-simulator.ts';
import { outboxRows, peek } from './support/scenes.ts';
import { newWorld, startInside, startOutside, until } from './support/whole.ts';
import type { Outside, World } from './support/whole.ts';

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
}

/** Measured where the system tells. */
const absentHere = new Set(process.platform === 'linux' ? [] : ['process_open_fds']);

const words = new Set(['sum', 'by', 'rate', 'increase', 'histogram_quantile', 'le']);

/** The metrics that an expression asks for: names that are neither functions nor labels. */
const metricsIn = (expr: string): readonly string[] => {
  const bare = expr.replaceAll(/\{[^}]*\}|\[[^\]]*\]|by \([^)]*\)/g, ' ');
  return [...bare.matchAll(/[a-z_][a-z0-9_]*/g)].map(([name]) => name).filter((name) => !words.has(name));
};

const metricsOf = async (gateway: Outside): Promise<string> => {
  const url = /"url":"([^"]+)"/.exec(gateway.output())?.[1] ?? '';
  return (await fetch(`${url}/metrics`)).text();
};

const modelOf = (world: World) => ({ provider: 'openai', default: 'sim-1', base_url: world.model.baseUrl, api_key: 'sk-simulated-model-key' });

/** The value of one series. */
const valueOf = (text: string, series: string): number => Number(text.split('\n').find((line) => line.startsWith(`${series} `))?.slice(series.length + 1));

test('every picture of the Grafana dashboard asks for something that a gateway in use measures', async () => {
  const dashboard = JSON.parse(await readFile(new URL('../docs/monitoring/grafana-dashboard.json', import.meta.url), 'utf8')) as Dashboard;
  await using world = await newWorld();
  await using gateway = await startOutside(world);
  await world.say('hello');
  await until(() => peek(world, async (store) => (await outboxRows(store)).some(({ state }) => state === 'sent')), 'an answer');
  const text = await metricsOf(gateway);
  const known = new Set([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) => (type === 'histogram' ? [`${name}_bucket`] : [name])));
  for (const { title, targets } of dashboard.panels) for (const { expr } of targets) for (const name of metricsIn(expr)) assert.ok(known.has(name) || absentHere.has(name), `${title}: ${name}`);
  assert.match(text, /^hermes_store_seconds_count\{what="write"\} [1-9]/m);
  assert.match(text, /^hermes_inbound_total\{platform="telegram",account="telegram",outcome="stored"\} 1$/m);
  assert.match(text, /^hermes_deliveries_total\{platform="telegram",account="telegram",outcome="sent",code=""\} 1$/m);
  assert.match(text, /^hermes_turn_seconds_bucket\{le="7200"\} 1$/m);
});

test('tokens and cost grow with every answer by what the model says it used, at its price', async () => {
  await using world = await newWorld();
  await world.configure({ model: { ...modelOf(world), prices: { 'sim-1': { input: 1000, output: 5000 } } }, display: { streaming: false } });
  await using gateway = await startOutside(world);
  const count = async (): Promise<readonly number[]> => {
    const text = await metricsOf(gateway);
    return ['hermes_tokens_total{direction="input",what="turn"}', 'hermes_tokens_total{direction="output",what="turn"}', 'hermes_cost_usd_total{model="sim-1",what="turn"}'].map((series) => Math.round(valueOf(text, series) * 1e6) / 1e6);
  };
  for (const [i, text] of ['one', 'two'].entries()) {
    await world.say(text);
    await until(() => world.shown().includes(`re: ${text}`), 'an answer');
    const answered = i + 1;
    // 100 tokens in and 20 out, at 1,000 and 5,000 dollars for a million.
    await until(async () => (await count())[0] === 100 * answered, 'the tokens to be counted');
    assert.deepEqual(await count(), [100 * answered, 20 * answered, 0.2 * answered]);
  }
});

test('what a title costs is counted beside the turns, as what it is', async () => {
  await using world = await newWorld();
  await world.configure({ model: { ...modelOf(world), prices: { 'sim-1': { input: 1000, output: 5000 } } }, auxiliary: { title_generation: { enabled: true } } });
  await using gateway = await startOutside(world);
  await world.say('hello');
  const counted = async (): Promise<string> => (await metricsOf(gateway)).split('\n').filter((line) => /^hermes_(tokens|cost)\S+what="title_generation"/.test(line)).join('\n');
  await until(async () => (await counted()) !== '', 'the title to be counted');
  assert.equal(await counted(), ['hermes_tokens_total{direction="input",what="title_generation"} 100', 'hermes_tokens_total{direction="output",what="title_generation"} 20', 'hermes_cost_usd_total{model="sim-1",what="title_generation"} 0.2'].join('\n'));
});

test('a scrape shows how long an account has heard nothing, and how many files are open', async () => {
  await using world = await newWorld();
  await using gateway = await startOutside(world);
  await world.say('hello');
  await until(() => world.shown().includes('re: hello'), 'an answer');
  const text = await metricsOf(gateway);
  const silence = valueOf(text, 'hermes_account_last_evidence_seconds{account="telegram"}');
  assert.ok(silence >= 0 && silence < 60, String(silence));
  if (process.platform === 'linux') assert.ok(valueOf(text, 'process_open_fds') > 5);
});

test('whatever the log says about a turn can be found by its account and its chat', async () => {
  await using world = await newWorld();
  await world.configure({ model: { ...modelOf(world), max_retries: 1 } });
  world.model.otherwise(status(503, 'overloaded'));
  await using inside = await startInside(world);
  await world.say('hello');
  await until(() => inside.logLines.some((line) => line.includes('message.done')), 'the end of the turn');
  const lines = inside.logLines.map((line) => ({ line, entry: JSON.parse(line) as Readonly<Record<string, unknown>> }));
  const about = lines.filter(({ entry }) => ['turn.failed', 'turn.model_error', 'model.retrying', 'message.done'].includes(String(entry['msg'])));
  assert.deepEqual([...new Set(about.map(({ entry }) => entry['msg']))].toSorted(), ['message.done', 'model.retrying', 'turn.failed', 'turn.model_error']);
  for (const { line, entry } of about) {
    assert.deepEqual([entry['account'], entry['chat']], ['telegram', '7'], line);
    const keys = [...line.matchAll(/"(account|chat|turn|turnId|session)":/g)].map(([key]) => key);
    assert.equal(new Set(keys).size, keys.length, line);
  }
});
