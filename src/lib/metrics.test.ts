import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newMetrics } from './metrics.ts';

const strict = { onError: (error: unknown): never => assert.fail(String(error)) };

test('a counter is exposed with its help, its type and its labels', async () => {
  const metrics = newMetrics(strict);
  const sent = metrics.counter({ name: 'sent_total', help: 'Messages sent.', labels: ['account', 'outcome'] });
  sent.at('telegram', 'ok').inc();
  sent.at('telegram', 'ok').inc(2);
  sent.at('web', 'failed').inc();
  assert.equal(
    await metrics.text(),
    '# HELP sent_total Messages sent.\n# TYPE sent_total counter\nsent_total{account="telegram",outcome="ok"} 3\nsent_total{account="web",outcome="failed"} 1\n',
  );
});

test('a metric without labels is there before it is first counted', async () => {
  const metrics = newMetrics(strict);
  const up = metrics.gauge({ name: 'up', help: 'Up.' });
  assert.match(await metrics.text(), /^up 0$/m);
  up.at().set(1.5);
  up.at().inc(-0.5);
  assert.match(await metrics.text(), /^up 1$/m);
});

test('backslashes, quotes and line breaks are escaped', async () => {
  const metrics = newMetrics(strict);
  metrics.counter({ name: 'odd_total', help: 'a\\b\nc', labels: ['what'] }).at('say "hi"\n\\').inc();
  assert.equal(await metrics.text(), '# HELP odd_total a\\\\b\\nc\n# TYPE odd_total counter\nodd_total{what="say \\"hi\\"\\n\\\\"} 1\n');
});

test('a counter never falls', async () => {
  const metrics = newMetrics(strict);
  const total = metrics.counter({ name: 'x_total', help: 'X.' }).at();
  total.inc(3);
  total.inc(-2);
  assert.match(await metrics.text(), /^x_total 3$/m);
});

test('a histogram counts cumulatively and ends with everything', async () => {
  const metrics = newMetrics(strict);
  const seconds = metrics.histogram({ name: 'turn_seconds', help: 'Turns.', labels: ['agent'], buckets: [0.1, 1] });
  for (const value of [0.05, 0.1, 0.5, 7]) seconds.at('main').observe(value);
  assert.deepEqual((await metrics.text()).trimEnd().split('\n').slice(2), [
    'turn_seconds_bucket{agent="main",le="0.1"} 2',
    'turn_seconds_bucket{agent="main",le="1"} 3',
    'turn_seconds_bucket{agent="main",le="+Inf"} 4',
    'turn_seconds_sum{agent="main"} 7.65',
    'turn_seconds_count{agent="main"} 4',
  ]);
});

test('what is set anew for every text does not show what is gone', async () => {
  const metrics = newMetrics(strict);
  const connected = metrics.gauge({ name: 'connected', help: 'Connected.', labels: ['account'] });
  let accounts = ['telegram', 'slack'];
  metrics.collect(() => {
    connected.clear();
    for (const account of accounts) connected.at(account).set(1);
  });
  assert.match(await metrics.text(), /slack/);
  accounts = ['telegram'];
  assert.deepEqual((await metrics.text()).trimEnd().split('\n').slice(2), ['connected{account="telegram"} 1']);
});

test('label values beyond the limit are counted together', async () => {
  const metrics = newMetrics({ ...strict, maxSeries: 2 });
  const seen = metrics.counter({ name: 'seen_total', help: 'Seen.', labels: ['who'] });
  for (const who of ['a', 'b', 'c', 'd', 'a']) seen.at(who).inc();
  assert.deepEqual((await metrics.text()).trimEnd().split('\n').slice(2), ['seen_total{who="a"} 2', 'seen_total{who="b"} 1', 'seen_total{who="other"} 2']);
});

test('a collector runs before every text, and one that fails is reported without hiding the rest', async () => {
  const errors: unknown[] = [];
  const metrics = newMetrics({ onError: (error) => errors.push(error) });
  const depth = metrics.gauge({ name: 'queue_depth', help: 'Waiting.' });
  let waiting = 4;
  const broken = new Error('the database is away');
  metrics.collect(async () => Promise.reject(broken));
  metrics.collect(() => depth.at().set(waiting));
  assert.match(await metrics.text(), /^queue_depth 4$/m);
  waiting = 5;
  assert.match(await metrics.text(), /^queue_depth 5$/m);
  assert.deepEqual(errors, [broken, broken]);
});

test('names that Prometheus does not take, and names used twice, are refused', () => {
  const metrics = newMetrics(strict);
  metrics.counter({ name: 'once_total', help: 'Once.' });
  assert.throws(() => metrics.gauge({ name: 'once_total', help: 'Twice.' }), TypeError);
  assert.throws(() => metrics.counter({ name: 'no-dashes', help: 'No.' }), TypeError);
  assert.throws(() => metrics.counter({ name: 'fine', help: 'No.', labels: ['__reserved'] }), TypeError);
});

test('the sum of a histogram never falls, also when the clock was set back during what was measured', async () => {
  const metrics = newMetrics({ onError: (error) => assert.fail(String(error)) });
  const seconds = metrics.histogram({ name: 'seconds', help: 'Time', buckets: [1] }).at();
  seconds.observe(2);
  seconds.observe(-86_400);
  assert.match(await metrics.text(), /^seconds_sum 2\nseconds_count 2$/m);
});
