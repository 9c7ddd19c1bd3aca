import { AsyncLocalStorage } from 'node:async_hooks';
import type { TurnInput } from './contract.ts';

/** The names under which tools and the programs they start learn where a turn takes place. */
export const sessionVariables = [
  'HERMES_SESSION_PLATFORM',
  'HERMES_SESSION_SOURCE',
  'HERMES_SESSION_CHAT_ID',
  'HERMES_SESSION_CHAT_NAME',
  'HERMES_SESSION_THREAD_ID',
  'HERMES_SESSION_USER_ID',
  'HERMES_SESSION_USER_NAME',
  'HERMES_SESSION_KEY',
  'HERMES_SESSION_ID',
  'HERMES_SESSION_MESSAGE_ID',
  'HERMES_CRON_AUTO_DELIVER_PLATFORM',
  'HERMES_CRON_AUTO_DELIVER_CHAT_ID',
  'HERMES_CRON_AUTO_DELIVER_THREAD_ID',
] as const;

export type SessionVariable = (typeof sessionVariables)[number];

/** Bound like a variable, but read as a yes or no and never from the environment. */
const asyncDeliveryName = 'HERMES_SESSION_ASYNC_DELIVERY';

/**
 * What a piece of work says about its session. A text sets a variable, the empty one clears it, `null` makes it unset again; what is not
 * named stays as it is around the work.
 */
export interface SessionBinding {
  readonly variables?: Readonly<Partial<Record<SessionVariable, string | null>>>;
  /** Whether something can still be said after the turn; `null` makes it unset, which counts as yes. */
  readonly asyncDelivery?: boolean | null;
  /** The folder that relative paths start from. */
  readonly cwd?: string | null;
}

/** What is bound at one point of the program. What is missing is unset. */
interface Scope {
  readonly variables: ReadonlyMap<SessionVariable, string>;
  readonly asyncDelivery?: boolean;
  readonly cwd?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const unbound: Scope = { variables: new Map() };
const storage = new AsyncLocalStorage<Scope>({ defaultValue: unbound, name: 'hermes-session' });

const current = (): Scope => storage.getStore() ?? unbound;

const within = (outer: Scope, binding: SessionBinding): Scope => {
  const variables = new Map(outer.variables);
  for (const name of sessionVariables) {
    const value = binding.variables?.[name];
    if (value === null) variables.delete(name);
    else if (value !== undefined) variables.set(name, value);
  }
  const asyncDelivery = binding.asyncDelivery === undefined ? outer.asyncDelivery : (binding.asyncDelivery ?? undefined);
  const cwd = binding.cwd === undefined ? outer.cwd : (binding.cwd ?? undefined);
  return { variables, ...(asyncDelivery !== undefined && { asyncDelivery }), ...(cwd !== undefined && { cwd }) };
};

/** Runs `work`, and all that it starts, with the binding on top of what is bound around it. What is around it is untouched. */
export const withSession = <T>(binding: SessionBinding, work: () => T): T => storage.run(within(current(), binding), work);

/** Runs `work` as if nothing had been bound: for what is started by one turn and belongs to none. */
export const outsideSession = <T>(work: () => T): T => storage.run(unbound, work);

/** Every variable of a session cleared, so that none is taken from the environment; async delivery is unset again. */
export const clearedSession: SessionBinding = {
  variables: Object.fromEntries(sessionVariables.filter((name) => name.startsWith('HERMES_SESSION_')).map((name) => [name, ''])),
  asyncDelivery: null,
  cwd: null,
};

/**
 * The values that a turn runs with. Each variable of the session is named: what the place does not have is cleared, so that no turn sees what
 * was bound for another or set for the process.
 */
export const sessionOfTurn = ({ sessionId, place, asyncDelivery }: Pick<TurnInput, 'sessionId' | 'place' | 'asyncDelivery'>): SessionBinding => {
  const { target, sender, deliversTo } = place;
  return {
    variables: {
      ...clearedSession.variables,
      HERMES_SESSION_PLATFORM: place.platform,
      HERMES_SESSION_SOURCE: target.account,
      HERMES_SESSION_CHAT_ID: target.chatId,
      HERMES_SESSION_CHAT_NAME: place.chatName ?? '',
      HERMES_SESSION_THREAD_ID: target.threadId ?? '',
      HERMES_SESSION_USER_ID: sender?.id ?? '',
      HERMES_SESSION_USER_NAME: sender?.name ?? '',
      HERMES_SESSION_KEY: place.sessionKey ?? '',
      HERMES_SESSION_ID: sessionId,
      HERMES_SESSION_MESSAGE_ID: target.replyTo ?? '',
      ...(deliversTo !== undefined && {
        HERMES_CRON_AUTO_DELIVER_PLATFORM: deliversTo.account,
        HERMES_CRON_AUTO_DELIVER_CHAT_ID: deliversTo.chatId,
        HERMES_CRON_AUTO_DELIVER_THREAD_ID: deliversTo.threadId ?? '',
      }),
    },
    asyncDelivery,
  };
};

/**
 * A stream whose every step runs inside the session, whoever pulls it: the body of a generator runs in the context of the call that resumes it,
 * not of the one that made it. What the puller does between two steps stays outside.
 */
export const streamInSession = <T>(binding: SessionBinding, start: () => AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined> => {
  const scope = within(current(), binding);
  const inside = storage.run(scope, start);
  const stream: AsyncGenerator<T, void, undefined> = {
    next: () => storage.run(scope, () => inside.next()),
    return: () => storage.run(scope, () => inside.return()),
    throw: (error) => storage.run(scope, () => inside.throw(error)),
    [Symbol.asyncIterator]: () => stream,
    [Symbol.asyncDispose]: () => storage.run(scope, () => inside[Symbol.asyncDispose]()),
  };
  return stream;
};

/** Unset: what the environment says, else `fallback`. Set or cleared: the bound value, whatever the environment says. */
export const sessionVariable = (name: SessionVariable, environment: Environment, fallback = ''): string => current().variables.get(name) ?? environment[name] ?? fallback;

/** False only inside a turn whose way out ends with it. */
export const isAsyncDeliverySupported = (): boolean => current().asyncDelivery ?? true;

/** The folder bound for the session, if one is. */
export const sessionCwd = (): string | undefined => current().cwd;

/** For the environment of a child process. Cleared ones are there and empty, so that they also hide what the child would inherit. */
export const variablesForChildren = (environment: Environment = {}): Readonly<Record<string, string>> => {
  const { variables, asyncDelivery } = current();
  const found = sessionVariables.map((name) => [name, variables.get(name) ?? environment[name]] as const);
  return {
    ...Object.fromEntries(found.filter((entry): entry is readonly [SessionVariable, string] => entry[1] !== undefined)),
    ...(asyncDelivery !== undefined && { [asyncDeliveryName]: String(asyncDelivery) }),
  };
};
