import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { agent, ndJsonStream, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk';
import type { AgentApp, AgentContext, Stream } from '@agentclientprotocol/sdk';
import { menuOf } from '../../commands/menu.ts';
import { systemClock } from '../../lib/clock.ts';
import { openLogFile } from '../../lib/log-file.ts';
import { newLogger } from '../../lib/logger.ts';
import type { Logger } from '../../lib/logger.ts';
import { newRedactor } from '../../lib/redact.ts';
import { accountData } from '../../store/accounts/account-data.ts';
import { Core } from '../chat/core.ts';
import { windowAt } from '../chat/situation.ts';
import type { Terminal } from '../environment.ts';
import { EditorSession } from './editor-session.ts';

/** An editor may have many conversations open, but not without end. */
const mostSessions = 50;
const logLimits = { maxBytes: 1024 * 1024, keep: 1 };

const newChat = (): string => `acp-${randomBytes(6).toString('hex')}`;
const ownChat = /^acp-[0-9a-f]{12}$/;

/** The conversations of one editor, by the chat that each of them is. */
class EditorSessions {
  readonly #core: Core;
  readonly #log: Logger;
  readonly #open = new Map<string, EditorSession>();

  constructor(core: Core, log: Logger) {
    this.#core = core;
    this.#log = log;
  }

  get(chat: string): EditorSession {
    const session = this.#open.get(chat);
    if (session === undefined) throw RequestError.sessionNotFound(chat);
    return session;
  }

  async begin(client: AgentContext, folder: string): Promise<string> {
    const chat = newChat();
    await this.#add(chat, client, { after: 0, folder });
    return chat;
  }

  /** Takes up a conversation; with `replay` all of it is told again. */
  async takeUp(chat: string, client: AgentContext, how: { readonly replay: boolean; readonly folder: string }): Promise<void> {
    const [last] = await accountData(this.#core.store, this.#core.account).tail({ stream: chat, limit: 1 });
    // One of ours in which nothing was said yet is as good as new.
    if (last === undefined && !ownChat.test(chat)) throw RequestError.sessionNotFound(chat);
    await this.close(chat);
    await this.#add(chat, client, last === undefined ? { after: 0, folder: how.folder } : { after: how.replay ? 0 : last.seq });
  }

  async close(chat: string): Promise<void> {
    const session = this.#open.get(chat);
    this.#open.delete(chat);
    await session?.close();
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((chat) => this.close(chat)));
  }

  /** Resolves when what is to be told has been told. */
  async #add(chat: string, client: AgentContext, how: { readonly after: number; readonly folder?: string }): Promise<void> {
    const oldest = this.#open.size >= mostSessions ? this.#open.keys().next().value : undefined;
    if (oldest !== undefined) await this.close(oldest);
    const session = new EditorSession({ core: this.#core, window: windowAt(this.#core.config.sections, this.#core.account, chat), client, clock: systemClock, log: this.#log, ...how });
    this.#open.set(chat, session);
    await session.ready;
  }
}

interface Served {
  readonly terminal: Terminal;
  readonly core: Core;
  readonly sessions: EditorSessions;
  readonly log: Logger;
}

const appOf = ({ terminal, core, sessions, log }: Served): AgentApp => {
  const available = menuOf(core.config.sections, 'terminal').map(({ name, description }) => ({ name, description, input: { hint: 'what the command takes, if anything' } }));
  /** Behind the answer: until then the editor does not know the session. */
  const offerCommands = (client: AgentContext, sessionId: string): void => {
    const offer = (): Promise<void> => client.notify('session/update', { sessionId, update: { sessionUpdate: 'available_commands_update', availableCommands: available } });
    setImmediate(() => void offer().catch((error: unknown) => log.debug({ err: error }, 'acp.editor_gone')));
  };
  return agent({ name: 'hermes' })
    .onRequest('initialize', () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'hermes', title: 'Hermes', version: terminal.version },
      agentCapabilities: { loadSession: true, promptCapabilities: { image: true, embeddedContext: true }, sessionCapabilities: { resume: {}, close: {} } },
      authMethods: [],
    }))
    .onRequest('session/new', async ({ params, client }) => {
      const sessionId = await sessions.begin(client, params.cwd);
      offerCommands(client, sessionId);
      return { sessionId };
    })
    .onRequest('session/load', async ({ params, client }) => {
      await sessions.takeUp(params.sessionId, client, { replay: true, folder: params.cwd });
      offerCommands(client, params.sessionId);
    })
    .onRequest('session/resume', async ({ params, client }) => {
      await sessions.takeUp(params.sessionId, client, { replay: false, folder: params.cwd });
      offerCommands(client, params.sessionId);
      return {};
    })
    .onRequest('session/close', ({ params }) => sessions.close(params.sessionId))
    .onRequest('session/prompt', ({ params }) => sessions.get(params.sessionId).prompt(params.prompt))
    .onNotification('session/cancel', ({ params }) => sessions.get(params.sessionId).cancel());
};

/** Standard output carries nothing but the protocol. */
const standardStreams = (): Stream => ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>);

/** Serves one editor until it hangs up. The gateway that runs in this home answers, or one of our own while none does. */
export const serveAcp = async (terminal: Terminal): Promise<void> => {
  const core = await Core.open(terminal);
  const file = openLogFile(join(core.home, 'logs', 'acp.log'), logLimits);
  const log = newLogger({ level: terminal.env['HERMES_LOG_LEVEL'] === 'debug' ? 'debug' : 'info', redactor: terminal.redactor ?? newRedactor(), write: (line) => file.write(line) });
  const sessions = new EditorSessions(core, log);
  const connection = appOf({ terminal, core, sessions, log }).connect(standardStreams());
  const stop = (): void => connection.close();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, stop);
  try {
    await connection.closed;
  } finally {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, stop);
    await sessions.closeAll();
    await core.close();
    await file.close();
  }
};
