import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { InboundEvent, OutboundMessage } from '../../src/core/message.ts';
import { replyTarget } from '../../src/core/message.ts';
import { httpApp } from '../../src/http/app.ts';
import { ensureBuilt } from '../../src/http/ensure-built.ts';
import { newLogins } from '../../src/http/logins.ts';
import { httpOptions } from '../../src/http/options.ts';
import { loadPage } from '../../src/http/page.ts';
import { startHttp } from '../../src/http/server.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { newMetrics } from '../../src/lib/metrics.ts';
import { untilAborted } from '../../src/lib/until-aborted.ts';
import type { Adapter, Inbox } from '../../src/platforms/contract.ts';
import { web } from '../../src/platforms/web/index.ts';
import { webOptions } from '../../src/platforms/web/options.ts';
import { platforms } from '../../src/platforms/registry.ts';
import type { Store } from '../../src/store/store.ts';
import { openStoredData } from './stored-data.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const account = 'web';

/** What the scripted agent does with an event. */
export type Script = (event: InboundEvent, agent: Agent) => Promise<void>;

export interface Agent {
  readonly adapter: Adapter;
  readonly signal: AbortSignal;
  reply(event: InboundEvent, text: string, more?: Partial<OutboundMessage>): Promise<string>;
  /** Sends the first piece and lets the message grow by the others, each when it may. */
  stream(event: InboundEvent, pieces: readonly string[], may: () => Promise<void>): Promise<string>;
}

const newAgent = (adapter: Adapter, signal: AbortSignal): Agent => {
  const message = (event: InboundEvent, text: string, more: Partial<OutboundMessage> = {}): OutboundMessage => ({ key: `answer:${event.nativeId}`, target: replyTarget(event), text, ...more });
  const reply: Agent['reply'] = async (event, text, more) => (await adapter.send(message(event, text, more), signal)).messageIds[0] ?? '';
  return {
    adapter,
    signal,
    reply,
    async stream(event, pieces, may) {
      const untilAllowed = async (): Promise<void> => {
        await Promise.race([may(), untilAborted(signal)]);
        signal.throwIfAborted();
      };
      await adapter.typing?.show(replyTarget(event), signal);
      await untilAllowed();
      let text = pieces[0] ?? '';
      const id = await reply(event, text);
      for (const piece of pieces.slice(1)) {
        await untilAllowed();
        text += piece;
        await adapter.edits?.edit(id, message(event, text), false, signal);
      }
      await adapter.edits?.edit(id, message(event, text), true, signal);
      return id;
    },
  };
};

export interface WebGateway extends AsyncDisposable {
  readonly url: string;
  readonly store: Store;
  readonly adapter: Adapter;
  readonly events: readonly InboundEvent[];
  loginLink(): Promise<string>;
  /** Rejects with the first failure of a script. */
  settled(): Promise<void>;
}

/** The page, its API and its platform as they run in the gateway, with a script in the agent's place. */
export const startWebGateway = async (options: { readonly folder: string; readonly script: Script; readonly port?: number; readonly http?: Readonly<Record<string, unknown>> }): Promise<WebGateway> => {
  const media = join(options.folder, 'media');
  await mkdir(media, { recursive: true });
  await ensureBuilt({ root, log: silentLogger, environment: process.env });
  const data = await openStoredData(options.folder);
  const section = httpOptions.parse({ port: options.port ?? 0, ...options.http });
  const logins = newLogins({ store: data, clock: systemClock, token: section.token });
  const adapter = await web.open({ account, options: webOptions.parse({}), log: silentLogger, data, home: media, mediaFolder: media });
  await adapter.menu?.publish([{ name: 'help', description: 'What one can say' }, { name: 'status', description: 'What is going on' }, { name: 'stop', description: 'Stop the running answer' }], new AbortController().signal);

  const stopping = new AbortController();
  const agent = newAgent(adapter, stopping.signal);
  const events: InboundEvent[] = [];
  const work = new Set<Promise<void>>();
  const inbox: Inbox = {
    async accept(event) {
      if ((await data.get(`inbox:${event.kind}:${event.nativeId}`)) !== undefined) return 'duplicate';
      await data.set(`inbox:${event.kind}:${event.nativeId}`, '1');
      events.push(event);
      const done = options.script(event, agent).catch((error: unknown) => {
        if (!stopping.signal.aborted) throw error;
      });
      work.add(done);
      return 'stored';
    },
    returned: async () => false,
    moved: async () => undefined,
    alive: () => undefined,
    cursor: { read: async () => undefined, write: async () => undefined },
  };
  const app = httpApp({
    audit: () => undefined,
    platforms,
    options: section,
    version: '0.0.0',
    clock: systemClock,
    log: silentLogger,
    logins,
    metrics: newMetrics({ onError: () => undefined }),
    readiness: () => ({ ready: true, accounts: [] }),
    webhook: (name) => (name === account ? adapter.webhook : undefined),
    page: await loadPage(join(root, 'web', 'dist')),
    store: data.store,
  });
  const http = await startHttp({ options: section, app, patience: { closeMs: 100 } });
  const running = adapter.run(inbox, { id: account, name: 'Hermes' }, stopping.signal);
  return {
    url: http.url,
    store: data.store,
    adapter,
    events,
    loginLink: async () => `${http.url}/login#${await logins.newLink()}`,
    settled: async () => void (await Promise.all(work)),
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
      await Promise.all(work);
      await http.close();
      await data[Symbol.asyncDispose]();
    },
  };
};
