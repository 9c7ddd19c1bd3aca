import { pathToFileURL } from 'node:url';

/** What the bot has to know; given as JSON in the first argument. */
export interface BareLoopOptions {
  readonly telegramUrl: string;
  readonly token: string;
  readonly modelUrl: string;
}

interface Update {
  readonly update_id: number;
  readonly message?: { readonly text?: string; readonly chat: { readonly id: number } };
}

const post = (url: string, body: unknown): Promise<Response> => fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

const askModel = async (modelUrl: string, content: string): Promise<string> => {
  const response = await post(`${modelUrl}/chat/completions`, { model: 'bench', messages: [{ role: 'user', content }], stream: true });
  const decoder = new TextDecoder();
  let rest = '';
  let answer = '';
  for await (const bytes of response.body ?? []) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('data: {')) continue;
      const { choices } = JSON.parse(line.slice('data: '.length)) as { choices: readonly { delta?: { content?: string } }[] };
      answer += choices[0]?.delta?.content ?? '';
    }
  }
  return answer;
};

/** The smallest honest bot: polls, asks the model, answers, in order within a chat. It stores nothing and forgives nothing. */
const runBareLoop = async ({ telegramUrl, token, modelUrl }: BareLoopOptions): Promise<never> => {
  const call = async (method: string, body: unknown): Promise<unknown> => {
    const answer = (await (await post(`${telegramUrl}/bot${token}/${method}`, body)).json()) as { ok: boolean; result: unknown };
    if (!answer.ok) throw new Error(`${method} was refused: ${JSON.stringify(answer)}`);
    return answer.result;
  };
  const chats = new Map<number, Promise<unknown>>();
  const reply = async (chatId: number, text: string): Promise<void> => {
    await call('sendMessage', { chat_id: chatId, text: await askModel(modelUrl, text) });
  };
  let offset = 0;
  for (;;) {
    const updates = (await call('getUpdates', { offset, timeout: 30 })) as readonly Update[];
    for (const { update_id: id, message } of updates) {
      offset = id + 1;
      if (message?.text === undefined) continue;
      const { chat, text } = message;
      chats.set(chat.id, (chats.get(chat.id) ?? Promise.resolve()).then(() => reply(chat.id, text)));
    }
  }
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await runBareLoop(JSON.parse(process.argv[2] ?? '{}') as BareLoopOptions);
