import { createHash, randomUUID } from 'node:crypto';
import type { InboundEvent } from '../../core/message.ts';
import type { Route, Scheme } from './options.ts';
import { promptOf } from './prompt.ts';
import type { Proof, SignedCall } from './signatures.ts';
import { renderWhole, valueAt } from './template.ts';
import type { TemplateFacts } from './template.ts';

/** A call that was let in. */
export interface Call extends SignedCall {
  readonly route: Route;
  readonly routeName: string;
  readonly scheme: Scheme;
  readonly proof: Proof;
}

export interface Delivery {
  /** The same when the sender tries again. */
  readonly id: string;
  /** By these a call is known again that the inbox would take for another, or has forgotten. */
  readonly memory: readonly string[];
}

const text = (value: unknown): string | undefined => {
  if (typeof value === 'string' && value !== '') return value;
  return typeof value === 'number' ? String(value) : undefined;
};

const readable = new TextDecoder('utf-8', { fatal: true });

/** `{}` for one field, a list for one that is given several times. */
const fromForm = (written: string): unknown => {
  const fields: Record<string, string | string[]> = Object.create(null) as Record<string, string | string[]>;
  for (const [key, value] of new URLSearchParams(written)) {
    const known = fields[key];
    fields[key] = known === undefined ? value : [...(Array.isArray(known) ? known : [known]), value];
  }
  // GitHub and Slack put JSON into a form if they are told to.
  const { payload } = fields;
  return typeof payload === 'string' ? (JSON.parse(payload) as unknown) : { ...fields };
};

/** How a body is to be read by its type; undefined for one that is not read at all. */
export const bodyFormat = (contentType: string | undefined): 'json' | 'form' | undefined => {
  const type = (contentType ?? 'application/json').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  // Small programs forget to say that it is JSON.
  if (['application/json', 'text/json', 'text/plain'].includes(type) || type.endsWith('+json')) return 'json';
  return type === 'application/x-www-form-urlencoded' ? 'form' : undefined;
};

/** Throws a `SyntaxError` or `TypeError` for what cannot be read. */
export const readPayload = (body: Uint8Array, format: 'json' | 'form'): unknown => {
  const written = readable.decode(body);
  return format === 'json' ? (JSON.parse(written) as unknown) : fromForm(written);
};

/** What kind of event a call is about, as its sender calls it. */
export const eventOf = (call: SignedCall, payload: unknown): string =>
  call.header('x-github-event') ?? call.header('x-gitlab-event') ?? ['event_type', 'event.type', 'event', 'type'].map((path) => text(valueAt(payload, path))).find((found) => found !== undefined) ?? 'unknown';

/** Whether the route takes events of the kind; `pull_request.opened` asks for the action as well. */
export const takesEvent = ({ events }: Route, event: string, payload: unknown): boolean => {
  const action = text(valueAt(payload, 'action'));
  return events.length === 0 || events.includes(event) || (action !== undefined && events.includes(`${event}.${action}`));
};

const digest = (...parts: readonly (string | Uint8Array)[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex').slice(0, 40);
};

/** Ids become part of addresses and keys. */
const plain = (id: string): string => (/^[\w.-]{1,100}$/.test(id) ? id : digest(id));

/** None of them is signed: they say which calls belong together, never that a call is genuine. */
const idHeaders = ['x-github-delivery', 'idempotency-key', 'x-gitlab-event-uuid', 'x-request-id'];

/** Where senders that sign a time write the id that stays the same when they try again. */
const idPaths: Partial<Readonly<Record<Scheme, string>>> = { stripe: 'id', slack: 'event_id' };

/**
 * Which delivery a call is. It is known by what its signature vouches for: an id that anybody could have changed on the way would let the same
 * signed bytes in a second time.
 */
export const deliveryOf = (call: Call, payload: unknown): Delivery => {
  const { route, scheme, proof, body } = call;
  const path = route.id ?? idPaths[scheme];
  const inBody = path === undefined ? undefined : text(valueAt(payload, path));
  const given = idHeaders.map((name) => call.header(name)).find((id) => id !== undefined && id !== '');
  if (inBody !== undefined) return { id: plain(inBody), memory: proof.type === 'body' ? [`id:${digest(inBody)}`] : [] };
  switch (proof.type) {
    case 'id':
      return { id: plain(proof.id), memory: [] };
    case 'time':
      return { id: digest(String(proof.seconds), '.', body), memory: given === undefined ? [] : [`header:${digest(given)}`] };
    case 'body':
      if (!route.repeats) return { id: digest(body), memory: [`body:${digest(body)}`] };
      return { id: plain(given ?? randomUUID()), memory: [] };
    case 'token':
      return { id: plain(given ?? randomUUID()), memory: [] };
    default:
      throw proof satisfies never;
  }
};

/** Where the answer to a delivery goes. */
export const chatIdOf = (route: Pick<Route, 'conversation'>, name: string, delivery: string): string => (route.conversation === 'route' ? name : `${name}/${delivery}`);

/** What calls have in common that are answered together: the key, and where the answer goes. Undefined for a call that names no key: it is answered by itself. */
const groupOf = ({ route, routeName }: Call, facts: TemplateFacts, deliver: string | undefined): string | undefined => {
  const key = route.coalesce === undefined ? undefined : renderWhole(route.coalesce.key, facts);
  return key === undefined ? undefined : digest(JSON.stringify([routeName, key, deliver]));
};

const batchOf = ({ coalesce }: Route, group: string | undefined): Pick<InboundEvent, 'batch'> =>
  coalesce === undefined || group === undefined ? {} : { batch: { id: group, kind: 'calls', hold: { ms: coalesce.window_seconds * 1000, mostMs: coalesce.max_wait_seconds * 1000 } } };

export const eventFrom = (call: Call, facts: { readonly account: string; readonly payload: unknown; readonly event: string; readonly delivery: string; readonly deliver: string | undefined; readonly nowMs: number }): InboundEvent => {
  const { route, routeName } = call;
  const { deliver_only: verbatim, agent, skills } = route;
  const { deliver } = facts;
  const values = { payload: facts.payload, event: facts.event, route: routeName };
  const group = groupOf(call, values, deliver);
  const arranged = { ...(agent !== undefined && { agent }), ...(skills.length > 0 && { skills }), ...(deliver !== undefined && { deliver }), ...(verbatim && { verbatim: true as const }) };
  return {
    account: facts.account,
    kind: 'message',
    nativeId: facts.delivery,
    chat: { id: group === undefined ? chatIdOf(route, routeName, facts.delivery) : `${routeName}/key.${group}`, type: 'dm', name: `webhook ${routeName}`, parentId: routeName },
    sender: { id: routeName, name: routeName, isBot: false },
    text: promptOf(route, values).toWellFormed(),
    media: [],
    messageId: facts.delivery,
    addressed: true,
    mentioned: false,
    awaitsAnswer: true,
    ...(Object.keys(arranged).length > 0 && { arranged }),
    ...batchOf(route, group),
    sentAtMs: facts.nowMs,
  };
};
