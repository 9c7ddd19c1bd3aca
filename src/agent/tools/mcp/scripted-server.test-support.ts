import { serve } from '@hono/node-server';
import { createMcpHandler, inputRequired, McpServer, ProtocolError, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });

const wish = { message: 'Which colour?', requestedSchema: { type: 'object' as const, properties: { colour: { type: 'string' as const, title: 'Colour' } }, required: ['colour'] } };

/** One real server with a tool for each thing that can happen to a client. */
export const scriptedServer = (era: 'legacy' | 'modern' = 'legacy', extraTools = 0): McpServer => {
  const server = new McpServer({ name: 'scripted', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } });
  server.registerTool('echo', { description: 'Says it again', inputSchema: z.object({ text: z.string() }) }, async (args) => text(args.text));
  server.registerTool('fail', { description: 'Reports an error' }, async () => ({ ...text('out of paper'), isError: true }));
  server.registerTool('refuse', { description: 'Breaks the protocol' }, async () => {
    throw new ProtocolError(-32_602, 'no such page');
  });
  server.registerTool('big', { inputSchema: z.object({ chars: z.number() }) }, async ({ chars }) => text('x'.repeat(chars)));
  server.registerTool('picture', {}, async () => ({ content: [{ type: 'image', data: Buffer.from('pixels').toString('base64'), mimeType: 'image/png' }] }));
  server.registerTool('variables', { description: 'Names its environment' }, async () => text(Object.keys(process.env).toSorted().join(' ')));
  server.registerTool('pid', {}, async () => text(String(process.pid)));
  server.registerTool('crash', { description: 'Ends the process' }, async () => {
    process.stderr.write('the disk is on fire\n');
    process.exit(7);
  });
  server.registerTool('hang', { description: 'Never answers' }, (ctx) => new Promise((_, reject) => ctx.mcpReq.signal.addEventListener('abort', () => {
    process.stderr.write('cancelled\n');
    reject(new Error('cancelled'));
  })));
  let walker = Promise.withResolvers<(isLast: boolean) => void>();
  server.registerTool('walk', { description: 'Reports progress with every step, until the last one' }, async (ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken ?? 0;
    for (let progress = 1; ; progress += 1) {
      await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress } });
      if (await new Promise<boolean>((resolve) => walker.resolve(resolve))) return text('arrived');
    }
  });
  server.registerTool('step', { inputSchema: z.object({ last: z.boolean() }) }, async ({ last }) => {
    const step = await walker.promise;
    walker = Promise.withResolvers();
    step(last);
    return text('stepped');
  });
  server.registerTool('grow', { description: 'Has one tool more from now on' }, async () => {
    server.registerTool('grown', { description: 'New' }, async () => text('I am new'));
    return text('grown');
  });
  server.registerTool('ask', { description: 'Asks a person' }, async (ctx) => {
    if (era === 'modern') {
      const answer = ctx.mcpReq.inputResponses?.['wish'];
      return answer === undefined ? inputRequired({ inputRequests: { wish: inputRequired.elicit(wish) } }) : text(JSON.stringify(answer));
    }
    return text(JSON.stringify(await ctx.mcpReq.send({ method: 'elicitation/create', params: { mode: 'form', ...wish } })));
  });
  server.registerTool('sample', { description: 'Wants to use our model' }, async (ctx) => {
    try {
      await ctx.mcpReq.requestSampling({ messages: [], maxTokens: 10 });
      return text('sampled');
    } catch (error) {
      return text(`refused: ${error instanceof Error ? error.message : ''}`);
    }
  });
  for (let index = 0; index < extraTools; index += 1) server.registerTool(`extra_${String(index).padStart(3, '0')}`, { description: `Number ${index}` }, async () => text(String(index)));
  server.registerResource('note', 'note://one', { description: 'A note' }, async (uri) => ({ contents: [{ uri: uri.href, text: 'remember the milk' }] }));
  server.registerPrompt('greet', { argsSchema: z.object({ name: z.string() }) }, ({ name }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name}` } }] }));
  return server;
};

/** How a test starts this file as a server of its own. */
export const scriptedCommand = (...args: readonly string[]): { readonly command: string; readonly args: readonly string[] } => ({
  command: process.execPath,
  args: [fileURLToPath(import.meta.url), ...args],
});

export interface HttpServer extends AsyncDisposable {
  readonly url: string;
  /** Headers of every request so far. */
  readonly seen: readonly Headers[];
  /** From now on every session is unknown. */
  forgetSessions(): void;
}

const withSessions = (): { fetch(request: Request): Promise<Response>; forget(): void } => {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  return {
    forget: () => sessions.clear(),
    async fetch(request) {
      const id = request.headers.get('mcp-session-id');
      const known = id === null ? undefined : sessions.get(id);
      if (known !== undefined) return known.handleRequest(request);
      if (id !== null) return new Response('no such session', { status: 404 });
      const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: (session) => void sessions.set(session, transport) });
      await scriptedServer().connect(transport);
      return transport.handleRequest(request);
    },
  };
};

/** The same server over HTTP on loopback: with sessions, as most servers are today, or as the newest revision has it. */
export const serveScripted = async (era: 'legacy' | 'modern', port = 0): Promise<HttpServer> => {
  const seen: Headers[] = [];
  const sessions = withSessions();
  const modern = createMcpHandler(() => scriptedServer('modern'));
  const server = serve({
    port,
    hostname: '127.0.0.1',
    fetch: (request) => {
      seen.push(request.headers);
      return era === 'legacy' ? sessions.fetch(request) : modern.fetch(request);
    },
  });
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    seen,
    forgetSessions: () => sessions.forget(),
    async [Symbol.asyncDispose]() {
      if ('closeAllConnections' in server) server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};

const runAsProgram = async (mode: string | undefined): Promise<void> => {
  if (mode === 'die') {
    process.stderr.write('no licence\n');
    process.exit(3);
  }
  if (process.env['PID_FILE'] !== undefined) writeFileSync(process.env['PID_FILE'], String(process.pid));
  if (mode === 'silent' || mode === 'stubborn') setInterval(() => undefined, 60_000);
  if (mode === 'modern') serveStdio(() => scriptedServer('modern'), { legacy: 'reject' });
  else if (mode !== 'silent') await scriptedServer('legacy', Number(mode) || 0).connect(new StdioServerTransport());
};

if (import.meta.main) await runAsProgram(process.argv[2] ?? process.env['SCRIPT']);
