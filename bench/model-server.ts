import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';

export interface ModelMessage {
  readonly role: string;
  readonly content: string | null;
}

export interface ModelServer extends AsyncDisposable {
  readonly baseUrl: string;
}

/** Writes the answer to one chat completion. */
export type Answer = (messages: readonly ModelMessage[], response: ServerResponse) => void | Promise<void>;

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;

const chunk = (delta: unknown, finishReason: string | null = null): string =>
  event({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [{ index: 0, delta, finish_reason: finishReason }] });

export const streamHead = { 'content-type': 'text/event-stream; charset=utf-8' } as const;

export const wordEvent = (content: string): string => chunk({ content });

/** A call of one tool, as the first and only event before the end. */
export const toolEvent = (call: { readonly id: string; readonly name: string; readonly arguments: string }): string =>
  chunk({ tool_calls: [{ index: 0, id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } }] });

export const endEvents = (finishReason: 'stop' | 'tool_calls'): string =>
  `${chunk({}, finishReason)}${event({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } })}data: [DONE]\n\n`;

/** Answers at once with the last thing that was said. */
export const echo: Answer = (messages, response) => {
  const said = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  response.writeHead(200, streamHead);
  response.end(`${wordEvent('re ')}${wordEvent(said)}${endEvents('stop')}`);
};

/** Chat completions over HTTP on the loopback interface. It keeps nothing, so that it can answer for hours. */
export const startModelServer = async (answer: Answer): Promise<ModelServer> => {
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const answered = async (): Promise<void> => {
      const { messages } = JSON.parse(await readText(request)) as { messages: readonly ModelMessage[] };
      await answer(messages, response);
    };
    // A client that was killed in the middle of its request.
    answered().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
