import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { calls, says, status } from '../src/agent/models/chat-simulator.ts';
import { hermes } from './support/terminal.ts';
import { newWorld, startInside, until } from './support/whole.ts';

interface WireSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status?: { readonly code: number };
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

/** A collector that takes traces from whoever has the password, after having refused once. */
const startCollector = async () => {
  const spans: WireSpan[] = [];
  const senders: Readonly<Record<string, unknown>>[] = [];
  let refusals = 1;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const isRight = request.url === '/v1/traces' && request.headers['content-type'] === 'application/json' && request.headers['authorization'] === 'Basic b3RscA==';
      const status = isRight ? (refusals > 0 ? 503 : 200) : 404;
      refusals -= 1;
      const body = JSON.parse(Buffer.concat(chunks).toString()) as { resourceSpans: readonly { resource: { attributes: WireSpan['attributes'] }; scopeSpans: readonly { spans: readonly WireSpan[] }[] }[] };
      if (status === 200) spans.push(...body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
      for (const { resource } of body.resourceSpans) senders.push(Object.fromEntries(resource.attributes.map(({ key, value }) => [key, value['stringValue']])));
      response.writeHead(status).end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    spans,
    senders,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

const valueOf = (span: WireSpan | undefined, key: string): unknown => Object.values(span?.attributes.find((attribute) => attribute.key === key)?.value ?? {})[0];

test('a message arrives at a collector as one trace, from waiting to delivery and without anybody’s words, also when it was away for a moment', async () => {
  await using collector = await startCollector();
  await using world = await newWorld({ telemetry: { otlp_endpoint: `${collector.url}/`, otlp_headers: { authorization: 'Basic b3RscA==' } }, display: { streaming: false, tool_progress: 'off' } });
  const inside = await startInside(world);
  world.model.next(status(503, 'a secret excuse'), calls({ id: 'c1', name: 'current_time', arguments: '{}' }), says('a secret hour'));
  world.telegram.fail({ what: 'send', fault: { type: 'status', status: 502 } });
  await world.say('a secret question');
  await until(() => world.shown().includes('a secret hour'), 'the answer');
  await until(() => inside.logLines.some((line) => line.includes('traces.refused')), 'the refusal');
  await inside.stop();
  const turn = collector.spans.find(({ name }) => name === 'turn');
  const parts = collector.spans.filter((span) => span !== turn);
  assert.deepEqual(parts.map(({ name }) => name).toSorted(), ['chat sim-1', 'chat sim-1', 'chat sim-1', 'deliver', 'deliver', 'tool current_time', 'wait']);
  assert.match(turn?.traceId ?? '', /^[0-9a-f]{32}$/);
  for (const span of parts) assert.deepEqual([span.traceId, span.parentSpanId, /^[0-9a-f]{16}$/.test(span.spanId)], [turn?.traceId, turn?.spanId, true], span.name);
  assert.equal(new Set(collector.spans.map(({ spanId }) => spanId)).size, collector.spans.length);
  for (const span of collector.spans) assert.ok(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano), span.name);
  assert.equal(valueOf(turn, 'hermes.reason'), 'completed');
  assert.deepEqual(parts.filter(({ name }) => name === 'chat sim-1').map((span) => [valueOf(span, 'error.type'), valueOf(span, 'gen_ai.usage.input_tokens')]), [['overloaded', undefined], [undefined, '100'], [undefined, '100']]);
  assert.deepEqual(parts.filter(({ name }) => name === 'deliver').map((span) => [valueOf(span, 'hermes.outcome'), span.status?.code]), [['retry', 2], ['sent', undefined]]);
  assert.ok(BigInt(parts.find(({ name }) => name === 'wait')?.endTimeUnixNano ?? 0) === BigInt(turn?.startTimeUnixNano ?? 1));
  assert.doesNotMatch(JSON.stringify(collector.spans), /secret/);
  const done = inside.logLines.find((line) => line.includes('message.done')) ?? '{}';
  assert.equal((JSON.parse(done) as { readonly trace?: string }).trace, turn?.traceId);
  assert.match((await hermes(world, ['trace', 'in_1'])).out, new RegExp(`turn +1 in session .*, trace ${turn?.traceId ?? ''}`));
  const [traced] = JSON.parse((await hermes(world, ['trace', 'in_1', '--json'])).out) as readonly { readonly traceId: string }[];
  assert.equal(traced?.traceId, turn?.traceId);
});

test('the answer of a command is one trace as well, from its arrival to each try to deliver it, and can be looked up', async () => {
  await using collector = await startCollector();
  await using world = await newWorld();
  const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`, OTEL_EXPORTER_OTLP_HEADERS: 'x-org=a%2Cb,authorization=Basic%20b3RscA==', OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test,service.name=ours' };
  await writeFile(join(world.home, '.env'), Object.entries(variables).map(([name, value]) => `${name}=${value}\n`).join(''), { mode: 0o600 });
  const inside = await startInside(world);
  world.telegram.fail({ what: 'send', fault: { type: 'status', status: 502 } });
  await world.say('/title a secret title');
  await until(() => world.shown().some((text) => text.includes('secret title')), 'the answer');
  await until(() => inside.logLines.some((line) => line.includes('traces.refused')), 'the refusal');
  await inside.stop();
  assert.deepEqual(collector.senders.at(-1), { 'deployment.environment': 'test', 'service.name': 'ours', 'service.version': 'test' });
  const root = collector.spans.find(({ parentSpanId }) => parentSpanId === undefined);
  const tries = collector.spans.filter((span) => span !== root);
  assert.deepEqual([root?.name, root?.status?.code, valueOf(root, 'hermes.account')], ['command', undefined, 'telegram']);
  assert.deepEqual(tries.map((span) => [span.name, span.traceId, span.parentSpanId, valueOf(span, 'hermes.outcome')]), ['retry', 'sent'].map((outcome) => ['deliver', root?.traceId, root?.spanId, outcome]));
  assert.doesNotMatch(JSON.stringify(collector.spans), /secret/);
  const traced = await hermes(world, ['trace', 'in_1']);
  assert.match(traced.out, new RegExp(`decided[^]*trace +${root?.traceId ?? 'none'}[^]*done[^]*delivery[^]*attempt +unavailable[^]*attempt +sent`));
  const [shown] = JSON.parse((await hermes(world, ['trace', 'in_1', '--json'])).out) as readonly { readonly traceId: string }[];
  assert.equal(shown?.traceId, root?.traceId);
});
