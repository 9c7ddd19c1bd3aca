/** Where something happened and who did it; null where that is unknown or nobody's. */
export interface PlaceContext {
  readonly agent_id: string;
  readonly platform: string;
  readonly account: string;
  readonly user_id: string | null;
  readonly user_name: string | null;
  readonly chat_id: string;
  readonly chat_type: string;
  readonly thread_id: string | null;
}

interface SessionContext extends PlaceContext {
  readonly session_id: string;
  readonly session_key: string;
}

interface TurnContext extends PlaceContext {
  readonly session_id: string;
  readonly turn_id: number;
}

/** Told to whoever only watches: what became of it, and which hook has decided that. */
interface Decided {
  readonly decision?: string;
  readonly decided_by?: string | null;
}

export interface InboundContext extends PlaceContext, Decided {
  readonly session_key: string;
  readonly message_id: string | null;
  readonly kind: string;
  readonly text: string;
  readonly media: readonly { readonly kind: string; readonly mime: string; readonly name: string | null }[];
  readonly mentioned: boolean;
}

export interface OutboundContext extends TurnContext, Decided {
  readonly text: string;
  /** It is said on the way, before tools run. */
  readonly interim: boolean;
}

export interface CommandContext extends PlaceContext, Decided {
  readonly session_key: string;
  /** By its own name, whatever alias or beginning was typed. */
  readonly command: string;
  readonly raw_command: string;
  readonly args: readonly string[];
  readonly raw_args: string;
}

export interface SelectAgentContext extends PlaceContext, Decided {
  readonly user_id_alt: string | null;
  readonly guild_id: string | null;
  readonly parent_chat_id: string | null;
  readonly text: string;
  /** Who answers by the routes; null when only `default_agent` says so. */
  readonly route_match: string | null;
}

interface ReactionContext extends PlaceContext {
  readonly reaction: string;
  readonly message_id: string | null;
}

/** What each event tells. `command:*` stands for `command:<name>` of every command. */
export interface HookContexts {
  readonly 'gateway:startup': { readonly agent_id: string | null; readonly platforms: readonly string[]; readonly version: string };
  readonly 'gateway:shutdown': { readonly agent_id: string | null };
  readonly 'session:start': SessionContext & { readonly parent_id: string | null };
  readonly 'session:end': SessionContext & { readonly reason: string };
  readonly 'session:reset': SessionContext & { readonly old_session_id: string };
  readonly 'session:compress': TurnContext & { readonly old_session_id: string; readonly in_place: true; readonly compression_count: number; readonly cause: string };
  readonly 'agent:start': TurnContext & { readonly message: string };
  readonly 'agent:step': TurnContext & { readonly iteration: number; readonly tool_names: readonly string[] };
  readonly 'agent:end': TurnContext & { readonly message: string; readonly response: string; readonly reason: string; readonly model: string | null; readonly duration_ms: number };
  readonly 'command:*': CommandContext;
  readonly 'message:inbound': InboundContext;
  readonly 'message:outbound': OutboundContext;
  readonly 'select_agent': SelectAgentContext;
  readonly 'reaction:added': ReactionContext;
  readonly 'reaction:removed': ReactionContext;
}

export type HookEvent = Exclude<keyof HookContexts, 'command:*'> | `command:${string}`;

/** What `command:new` and the like tell is under `command:*`. */
export type ContextOf<Event extends HookEvent> = Event extends keyof HookContexts ? HookContexts[Event] : CommandContext;

const place: PlaceContext = { agent_id: 'main', platform: 'telegram', account: 'telegram', user_id: '7', user_name: 'Ada', chat_id: '7', chat_type: 'dm', thread_id: null };
const session = { ...place, session_id: '20261115_100500_1a2b3c4d', session_key: 'agent:main:telegram:dm:7' };
const turn = { ...place, session_id: session.session_id, turn_id: 42 };

interface EventFacts<Name extends keyof HookContexts> {
  readonly about: string;
  /** What a hook may answer; absent where nobody listens to what it says. */
  readonly answers?: string;
  readonly sample: HookContexts[Name];
}

/** Every event there is, for the documentation and for trying hooks out. */
export const hookEvents: { readonly [Name in keyof HookContexts]: EventFacts<Name> } = {
  'gateway:startup': { about: 'The gateway has started', sample: { agent_id: null, platforms: ['telegram', 'web'], version: '1.0.0' } },
  'gateway:shutdown': { about: 'The gateway is about to end', sample: { agent_id: null } },
  'session:start': { about: 'A conversation has begun', sample: { ...session, parent_id: null } },
  'session:end': { about: 'A conversation has ended: by /new, by going to another one, or after its time', sample: { ...session, reason: 'new' } },
  'session:reset': { about: 'A person has started anew with /new', sample: { ...session, old_session_id: '20261114_090000_5e6f7a8b' } },
  'session:compress': { about: 'A conversation was summarised to make room', sample: { ...turn, old_session_id: turn.session_id, in_place: true, compression_count: 1, cause: 'threshold' } },
  'agent:start': { about: 'The agent begins to answer; the message is cut at 500 characters', sample: { ...turn, message: 'What is on today?' } },
  'agent:step': { about: 'The agent has made a round of tool calls', sample: { ...turn, iteration: 1, tool_names: ['terminal'] } },
  'agent:end': { about: 'The agent has answered; message and response are cut at 500 characters', sample: { ...turn, message: 'What is on today?', response: 'Nothing at all.', reason: 'completed', model: 'gpt-5', duration_ms: 1830 } },
  'command:*': { about: 'A slash command was given by somebody who may give it', answers: '`allow`, `deny`, `handled`, `rewrite`', sample: { ...place, session_key: session.session_key, command: 'new', raw_command: 'reset', args: ['Holiday'], raw_args: 'Holiday' } },
  'message:inbound': { about: 'An authorized person has written something, commands included', answers: '`pass`, `drop`, `replace`', sample: { ...place, session_key: session.session_key, message_id: '311', kind: 'message', text: 'What is on today?', media: [], mentioned: false } },
  'message:outbound': { about: 'The agent is about to say something', answers: '`pass`, `drop`, `replace`', sample: { ...turn, text: 'Nothing at all.', interim: false } },
  'select_agent': { about: 'An authorized message is about to be given to an agent', answers: 'the name of an agent', sample: { ...place, user_id_alt: null, guild_id: null, parent_chat_id: null, text: 'What is on today?', route_match: null } },
  'reaction:added': { about: 'An authorized person has reacted to a message', sample: { ...place, reaction: '👍', message_id: '311' } },
  'reaction:removed': { about: 'An authorized person has taken a reaction back', sample: { ...place, reaction: '👍', message_id: '311' } },
};

const names = Object.keys(hookEvents) as readonly (keyof HookContexts)[];

/** The row of the table above that an event belongs to; undefined for what is no event. */
export const eventFamily = (event: string): keyof HookContexts | undefined => (/^command:[^\s:*]+$/.test(event) ? 'command:*' : names.find((name) => name === event && name !== 'command:*'));

/** Whether what a hook answers to this event is listened to. */
export const isDecidable = (event: string): boolean => {
  const family = eventFamily(event);
  return family !== undefined && hookEvents[family].answers !== undefined;
};

const baseOf = (event: string): string => event.slice(0, event.indexOf(':') + 1);

/** Whether this can stand under `events`: an event, all events of a kind (`session:*`), or everything (`*`). */
export const isEventPattern = (pattern: string): boolean => pattern === '*' || eventFamily(pattern) !== undefined || (pattern.endsWith(':*') && names.some((name) => baseOf(name) === pattern.slice(0, -1)));

/** How exactly a list of patterns names an event: 0 by its name, 1 by its kind, 2 by `*`; undefined when it does not. */
export const exactness = (patterns: readonly string[], event: string): 0 | 1 | 2 | undefined => {
  if (patterns.includes(event)) return 0;
  const base = baseOf(event);
  if (base !== '' && patterns.includes(`${base}*`)) return 1;
  return patterns.includes('*') ? 2 : undefined;
};
