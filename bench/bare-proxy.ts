import { Agent, createServer, request as ask } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';

/** The smallest honest way between a client and a model: it passes on what comes, both ways, and knows nothing of it. Prints where it listens. */
const runBareProxy = (target: string): void => {
  const agent = new Agent({ keepAlive: true });
  const { host, port, hostname } = new URL(target);
  const server = createServer((incoming, outgoing) => {
    const passed = ask({ agent, hostname, port, method: incoming.method, path: incoming.url, headers: { ...incoming.headers, host } }, (answered) => {
      outgoing.writeHead(answered.statusCode ?? 502, answered.headers);
      answered.pipe(outgoing);
    });
    passed.once('error', () => outgoing.destroy());
    incoming.pipe(passed);
  });
  server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) runBareProxy(process.argv[2] ?? '');
