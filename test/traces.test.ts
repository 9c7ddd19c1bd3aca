import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { calls, says } from '../src/agent/models/chat-simulator.ts';
import { newWorld, startInside, until } from './support/whole.ts';

interface WireSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

/** A collector that takes traces from whoever has the password, after having refused once. */
const startCollector = async () => {
  const spans: WireSpan[] = [];
  let refusals = 1;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const isRight = request.url === '/v1/traces' && request.headers['content-type'] === 'application/json' && request.headers['authorization'] === 'Basic b3RscA==';
      const status = isRight ? (refusals > 0 ? 503 : 200) : 404;
      refusals -= 1;
      const body = JSON.parse(Buffer.concat(chunks).toString()) as { resourceSpans: readonly { scopeSpans: readonly { spans: readonly WireSpan[] }[] }[] };
      if (status === 200) spans.push(...body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
      response.writeHead(status).end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    spans,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

test('a turn and its tools arrive at a collector as one trace without anybody’s words, also when it was away for a moment', async () => {
  await using collector = await startCollector();
  await using world = await newWorld({ telemetry: { otlp_endpoint: `${collector.url}/`, otlp_headers: { authorization: 'Basic b3RscA==' } } });
  const inside = await startInside(world);
  world.model.next(calls({ id: 'c1', name: 'current_time', arguments: '{}' }), says('a secret hour'));
  await world.say('a secret question');
  await until(() => world.shown().includes('a secret hour'), 'the answer');
  await until(() => inside.logLines.some((line) => line.includes('traces.refused')), 'the refusal');
  await inside.stop();
  const [tool, turn] = collector.spans;
  assert.deepEqual(collector.spans.map(({ name }) => name), ['tool current_time', 'turn']);
  assert.deepEqual([tool?.traceId, tool?.parentSpanId], [turn?.traceId, turn?.spanId]);
  assert.match(turn?.traceId ?? '', /^[0-9a-f]{32}$/);
  assert.ok(BigInt(turn?.endTimeUnixNano ?? 0) >= BigInt(turn?.startTimeUnixNano ?? 0));
  assert.deepEqual(turn?.attributes.find(({ key }) => key === 'hermes.reason')?.value, { stringValue: 'completed' });
  assert.doesNotMatch(JSON.stringify(collector.spans), /secret/);
});
