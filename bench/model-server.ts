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

/** Writes the answer to one chat completion; streamed, unless the call does not want that. */
export type Answer = (messages: readonly ModelMessage[], response: ServerResponse, wants: { readonly stream: boolean }) => void | Promise<void>;

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;

const chunk = (delta: unknown, finishReason: string | null = null): string =>
  event({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [{ index: 0, delta, finish_reason: finishReason }] });

export const streamHead = { 'content-type': 'text/event-stream; charset=utf-8' } as const;

export const wordEvent = (content: string): string => chunk({ content });

/** A call of one tool, as the first and only event before the end. */
export const toolEvent = (call: { readonly id: string; readonly name: string; readonly arguments: string }): string =>
  chunk({ tool_calls: [{ index: 0, id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } }] });

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

export const endEvents = (finishReason: 'stop' | 'tool_calls'): string =>
  `${chunk({}, finishReason)}${event({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [], usage })}data: [DONE]\n\n`;

const whole = (content: string): string =>
  JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion', created: 1, model: 'bench', choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }], usage });

/** Answers at once with the last thing that was said. */
export const echo: Answer = (messages, response, { stream }) => {
  const said = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  if (!stream) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(whole(`re ${said}`));
    return;
  }
  response.writeHead(200, streamHead);
  response.end(`${wordEvent('re ')}${wordEvent(said)}${endEvents('stop')}`);
};

/** Chat completions over HTTP on the loopback interface. It keeps nothing, so that it can answer for hours. */
export const startModelServer = async (answer: Answer): Promise<ModelServer> => {
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const answered = async (): Promise<void> => {
      const { messages, stream = false } = JSON.parse(await readText(request)) as { messages: readonly ModelMessage[]; stream?: boolean };
      await answer(messages, response, { stream });
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
