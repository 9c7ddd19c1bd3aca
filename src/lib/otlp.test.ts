import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { capturingLogger } from './logger.ts';
import { exportTarget, otlpBody, readPairs, SpanExporter } from './otlp.ts';
import type { Span } from './otlp.ts';

const target = (endpoint: string, headers: Readonly<Record<string, string>> = {}): ReturnType<typeof exportTarget> => exportTarget({ endpoint, headers });

test('spans go to /v1/traces of the collector, and a query stays behind it', () => {
  assert.equal(target('http://127.0.0.1:4318').url, 'http://127.0.0.1:4318/v1/traces');
  assert.equal(target('https://c.example/otlp//').url, 'https://c.example/otlp/v1/traces');
  assert.equal(target('https://c.example/otlp?token=a%2Bb').url, 'https://c.example/otlp/v1/traces?token=a%2Bb');
});

test('the address for traces alone is taken as it stands', () => {
  for (const endpoint of ['https://c.example/', 'https://c.example/v1/traces?x=1', 'https://c.example/ingest/']) assert.equal(exportTarget({ endpoint, isWhole: true, headers: {} }).url, endpoint);
});

test('pairs are read as the variables of OpenTelemetry are written', () => {
  assert.deepEqual(readPairs('api-key=abc=, x-org = a%20b%2Cc ,,authorization=Basic%20YQ=='), { 'api-key': 'abc=', 'x-org': 'a b,c', authorization: 'Basic YQ==' });
  assert.deepEqual(readPairs(''), {});
  for (const text of ['abc', '=x', 'a=1,b', 'a b=1']) assert.equal(readPairs(text), undefined, text);
});

test('what else is known about the sender goes with the spans, and never in place of its version', () => {
  const body = otlpBody([], { service: 'hermes', version: '1', resource: { 'deployment.environment': 'prod', 'service.version': '9' } });
  assert.match(body, /"key":"deployment\.environment","value":\{"stringValue":"prod"\}/);
  assert.match(body, /"key":"service\.version","value":\{"stringValue":"1"\}/);
});

test('a user and password are sent as a header, unless one is configured', () => {
  const { url, headers } = target('https://ada:p%40ss%zz@c.example/');
  assert.equal(url, 'https://c.example/v1/traces');
  assert.equal(headers['authorization'], `Basic ${Buffer.from('ada:p%40ss%zz').toString('base64')}`);
  assert.equal(target('https://ada:p%40ss@c.example/').headers['authorization'], `Basic ${Buffer.from('ada:p@ss').toString('base64')}`);
  assert.equal(target('https://ada:x@c.example/', { authorization: 'Bearer y' }).headers['authorization'], 'Bearer y');
  assert.equal(target('https://c.example/').headers['authorization'], undefined);
});

const span: Span = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), name: 'turn', startMs: 1, endMs: 2, failed: false, values: {} };

test('spans are kept for a collector that is busy, and given up when it will never take them', async () => {
  for (const { status, lost, kept } of [{ status: 503, lost: undefined, kept: 1 }, { status: 401, lost: 1, kept: 0 }]) {
    const { log, lines } = capturingLogger();
    const received: string[] = [];
    const answers = [status, 200];
    const server = createServer((request, response) => {
      request.setEncoding('utf8').on('data', (text: string) => received.push(text));
      request.on('end', () => response.writeHead(answers.shift() ?? 200).end());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const exporter = new SpanExporter({ endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, headers: {}, service: 'hermes', version: '1' }, log);
    exporter.add(span);
    await exporter.stop();
    await exporter.stop();
    server.closeAllConnections();
    server.close();
    assert.equal(received.length, 1 + kept, String(status));
    assert.deepEqual(lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>).map((line) => [line['msg'], line['status'], line['lost']]), [['traces.refused', status, lost], ...(kept === 1 ? [['traces.sent_again', undefined, undefined]] : [])]);
  }
});

test('a collector that stays away is not complained about each time, and it is said when it is back', async () => {
  const { log, lines } = capturingLogger();
  let isAway = true;
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => (isAway ? response.destroy() : response.end()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const exporter = new SpanExporter({ endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, headers: {}, service: 'hermes', version: '1' }, log);
  exporter.add(span);
  for (let i = 0; i < 9; i += 1) await exporter.stop();
  isAway = false;
  await exporter.stop();
  server.closeAllConnections();
  server.close();
  const told = lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>).map(({ msg, failures }) => [msg, failures]);
  assert.deepEqual(told, [...[1, 2, 4, 8].map((failures) => ['traces.not_sent', failures]), ['traces.sent_again', 9]]);
});
