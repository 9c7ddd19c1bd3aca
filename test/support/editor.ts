import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { client, ndJsonStream } from '@agentclientprotocol/sdk';
import type { ClientContext, RequestPermissionRequest, RequestPermissionResponse, SessionNotification } from '@agentclientprotocol/sdk';
import type { World } from './whole.ts';

const launcher = fileURLToPath(new URL('../../bin/hermes.js', import.meta.url));

/** An editor made with the protocol's own library, speaking to `hermes acp`. */
export interface Editor extends AsyncDisposable {
  readonly agent: ClientContext;
  readonly updates: readonly SessionNotification[];
  readonly asked: readonly RequestPermissionRequest[];
  /** What the agent has said in a session, put together. */
  said(sessionId: string, type?: 'agent_message_chunk' | 'user_message_chunk'): string;
  /** How questions are answered from now on. */
  answer(how: (request: RequestPermissionRequest) => Promise<RequestPermissionResponse>): void;
  /** Closes its end; answers how the program left and what it printed as errors. */
  leave(): Promise<{ readonly code: number | null; readonly err: string }>;
}

export const openEditor = async (world: World): Promise<Editor> => {
  const child = spawn(process.execPath, [launcher, 'acp'], { env: { ...process.env, ...world.env }, stdio: ['pipe', 'pipe', 'pipe'] });
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const exited = once(child, 'exit');
  const closed = once(child, 'close');
  const updates: SessionNotification[] = [];
  const asked: RequestPermissionRequest[] = [];
  let how = async (_request: RequestPermissionRequest): Promise<RequestPermissionResponse> => ({ outcome: { outcome: 'cancelled' } });
  const connection = client({ name: 'editor' })
    .onNotification('session/update', ({ params }) => void updates.push(params))
    .onRequest('session/request_permission', ({ params }) => {
      asked.push(params);
      return how(params);
    })
    .connect(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>));
  await connection.agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  const leave = async (): Promise<{ code: number | null; err: string }> => {
    child.stdin.end();
    await closed;
    return { code: child.exitCode, err };
  };
  return {
    agent: connection.agent,
    updates,
    asked,
    said: (sessionId, type = 'agent_message_chunk') =>
      updates.flatMap((each) => (each.sessionId === sessionId && each.update.sessionUpdate === type && each.update.content.type === 'text' ? [each.update.content.text] : [])).join(''),
    answer: (next) => {
      how = next;
    },
    leave,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await exited;
    },
  };
};
