import assert from 'node:assert/strict';
import { createServer, request as forward } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { newTransport, TransportError } from './transport.ts';
import type { Phase } from './transport.ts';

const closing: (() => Promise<void>)[] = [];

const serve = async (listener: RequestListener): Promise<number> => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
};

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const askFrom = (root: string, silenceMs = 5000, signal?: AbortSignal) => newTransport({ root, silenceMs }).ask(`${root}/bot1:secret/x`, { body: '{}', ...(signal && { signal }) });

const failsIn = (promise: Promise<unknown>, phase: Phase): Promise<void> =>
  assert.rejects(promise, (error) => error instanceof TransportError && error.phase === phase && !error.message.includes('secret'));

describe('a call', () => {
  it('gets the answer of the Bot API', async () => {
    const port = await serve((_request, response) => response.end('{"ok":true,"result":1}'));
    assert.deepEqual(await askFrom(`http://127.0.0.1:${port}`), { ok: true, result: 1 });
  });

  it('that nobody listens to has not left', async () => {
    const port = await serve(() => undefined);
    for (const close of closing.splice(0)) await close();
    await failsIn(askFrom(`http://127.0.0.1:${port}`), 'connecting');
  });

  it('whose connection never became secure has not left', async () => {
    const port = await serve((_request, response) => response.end());
    await failsIn(askFrom(`https://127.0.0.1:${port}`), 'connecting');
  });

  it('whose connection breaks before the answer has left', async () => {
    const port = await serve((request) => request.socket.destroy());
    await failsIn(askFrom(`http://127.0.0.1:${port}`), 'sent');
  });

  it('whose answer breaks off has left', async () => {
    const port = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{"ok":', () => response.destroy());
    });
    await failsIn(askFrom(`http://127.0.0.1:${port}`), 'sent');
  });

  it('that stays silent too long has left', async () => {
    const port = await serve(() => undefined);
    // Long enough for a slow machine to connect.
    await failsIn(askFrom(`http://127.0.0.1:${port}`, 2000), 'sent');
  });

  for (const body of ['<html>', '', 'null', '[]', '"ok"', '{"result":1}']) {
    it(`answered with ${JSON.stringify(body)} is answered with nonsense`, async () => {
      const port = await serve((_request, response) => response.end(body));
      await failsIn(askFrom(`http://127.0.0.1:${port}`), 'answered');
    });
  }

  it('ends at once when aborted, before and in the middle', async () => {
    const middle = new AbortController();
    const port = await serve(() => middle.abort());
    await failsIn(askFrom(`http://127.0.0.1:${port}`, 60_000, AbortSignal.abort()), 'connecting');
    await failsIn(askFrom(`http://127.0.0.1:${port}`, 60_000, middle.signal), 'sent');
  });

  it('goes through a proxy where one is set', async () => {
    const port = await serve((_request, response) => response.end('{"ok":true}'));
    const asked: (string | undefined)[] = [];
    const proxy = await serve((request, response) => {
      asked.push(request.url);
      request.pipe(forward(request.url ?? '', { method: request.method ?? 'GET' }, (answer) => answer.pipe(response)));
    });
    const root = `http://127.0.0.1:${port}`;
    const transport = newTransport({ root, silenceMs: 5000, proxyUrl: `http://127.0.0.1:${proxy}` });
    await transport.ask(`${root}/bot1:secret/x`, { body: '{}' });
    assert.deepEqual(asked, [`${root}/bot1:secret/x`]);
  });
});
