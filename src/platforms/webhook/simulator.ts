import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { markdownWords } from '../../lib/markdown/words.ts';
import type { PlatformSimulator, VisibleMessage } from '../simulator.ts';
import type { Answer } from './answers.ts';
import { signCall } from './sign.ts';

const routeName = 'inbox';
const secret = 'whsec_c2ltdWxhdGVkIHdlYmhvb2sgc2VjcmV0';

interface Fixture {
  readonly name: string;
  readonly payload: unknown;
}

const fixtures = JSON.parse(readFileSync(new URL('fixtures/payloads.json', import.meta.url), 'utf8')) as readonly Fixture[];

const shownAs = (chatId: string, answer: Answer): VisibleMessage => ({
  id: answer.id,
  chatId,
  ...(answer.delivery !== '' && { replyTo: answer.delivery }),
  text: answer.plain === true ? answer.text : markdownWords(answer.text),
  media: [],
  choices: [],
  reactions: [],
  edited: 0,
});

/** A program that calls a route of ours as Standard Webhooks says, and comes back for the answers. */
export const openWebhookSimulator = async (): Promise<PlatformSimulator> => {
  const leaving = new AbortController();
  const { signal } = leaving;
  const posted = new Map<string, string>();
  let url: string | undefined;
  let acknowledged = 0;
  let answers: readonly Answer[] = [];
  let reading: Promise<void> = Promise.resolve();

  const call = (id: string, body: string, signed = true): { readonly headers: Readonly<Record<string, string>>; readonly body: string } => ({
    headers: { 'content-type': 'application/json', ...signCall({ scheme: 'standard', secret: signed ? secret : 'whsec_c29tZWJvZHkgZWxzZXMgc2VjcmV0', id, nowMs: Date.now(), body }) },
    body,
  });
  const at = (route: string): string => {
    if (url === undefined) throw new Error('call connect() first');
    return `${url}/${route}`;
  };
  const post = async (id: string, body: string, route = routeName): Promise<Readonly<Record<string, unknown>>> => {
    posted.set(id, body);
    const answer = await fetch(at(route), { method: 'POST', ...call(id, body), signal });
    if (answer.ok) acknowledged += 1;
    return (await answer.json()) as Readonly<Record<string, unknown>>;
  };
  const read = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        const response = await fetch(at(routeName), { headers: { authorization: `Bearer ${secret}` }, signal });
        if (response.ok) ({ answers } = (await response.json()) as { answers: readonly Answer[] });
        await delay(10, undefined, { signal });
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof TypeError)) throw error;
        await delay(10);
      }
    }
  };
  const route = { secret, prompt: '{text}', trusted: true, conversation: 'route', rate_limit: 1000, events: ['message'] };
  return {
    options: { routes: { [routeName]: route, waiting: { ...route, wait_seconds: 10 } } },
    badOptions: {},
    secrets: [secret],
    fixtures,
    places: [{ chatId: routeName, chatType: 'dm', senderId: routeName }],
    connect(to) {
      url = to.replace(/\/$/, '');
      reading = read();
    },
    async say({ text }) {
      const id = `msg_${randomUUID()}`;
      await post(id, JSON.stringify({ type: 'message', text }));
      return id;
    },
    async ask({ text }) {
      const { answer } = await post(`msg_${randomUUID()}`, JSON.stringify({ type: 'message', text }), 'waiting');
      return String(answer);
    },
    async redeliver(nativeId) {
      await post(nativeId, posted.get(nativeId) ?? '');
    },
    async sendUnknownEvent() {
      await post(`msg_${randomUUID()}`, JSON.stringify({ type: 'poll', text: 'which one?' }));
    },
    async replay(payload) {
      await post(`msg_${randomUUID()}`, JSON.stringify(payload));
    },
    webhook: ({ text }, signed) => ({ ...call(`msg_${randomUUID()}`, JSON.stringify({ type: 'message', text }), signed), path: `/${routeName}` }),
    acknowledged: () => acknowledged,
    visible: (chatId) => answers.map((answer) => shownAs(chatId, answer)),
    typing: () => [],
    press: () => Promise.reject(new Error('programs press no buttons')),
    fail() {
      throw new Error('there is no network between the adapter and its journal that could fail');
    },
    async [Symbol.asyncDispose]() {
      leaving.abort();
      await reading;
    },
  };
};
