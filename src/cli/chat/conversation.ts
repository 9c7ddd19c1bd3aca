import type { Choice } from '../../core/message.ts';
import type { ActivityFrame, EntryFrame, LocalEntry, LocalFile, ServerFrame } from '../../platforms/local/client.ts';

/** Something that stands on the screen for good once it is printed. */
export type Printed =
  | { readonly type: 'said'; readonly text: string }
  | { readonly type: 'answer'; readonly text: string; readonly plain: boolean; readonly files: readonly LocalFile[]; readonly choices: readonly Choice[]; readonly changed: boolean }
  | { readonly type: 'tool'; readonly name: string; readonly preview: string; readonly ok: boolean; readonly durationMs: number }
  | { readonly type: 'recap'; readonly title: string; readonly messages: number; readonly agoMs: number; readonly said: string; readonly answer: string }
  | { readonly type: 'shell'; readonly command: string }
  | { readonly type: 'notice'; readonly text: string };

/** Something that may still change and is drawn anew each time. */
export type LiveItem =
  | { readonly type: 'growing'; readonly id: string; readonly text: string }
  | { readonly type: 'tool'; readonly callId: string; readonly name: string; readonly preview: string; readonly startedMs: number; readonly done?: { readonly ok: boolean; readonly durationMs: number } };

/** What one terminal knows of its chat. */
export interface Conversation {
  /** The last entry that was taken in. */
  readonly cursor: number | undefined;
  /** In the order in which they began. */
  readonly live: readonly LiveItem[];
  /** Texts of answers that stand on the screen, by message. */
  readonly shown: ReadonlyMap<string, string>;
  /** The question that a bare number answers. */
  readonly question: { readonly messageId: string; readonly choices: readonly Choice[] } | undefined;
}

export interface Step {
  readonly conversation: Conversation;
  readonly print: readonly Printed[];
}

export interface Context {
  readonly nowMs: number;
  /** Whether a message was written at this terminal, where it stands already. */
  isOwn(id: string): boolean;
}

export const newConversation: Conversation = { cursor: undefined, live: [], shown: new Map(), question: undefined };

const rememberedAnswers = 200;

const withShown = (shown: ReadonlyMap<string, string>, id: string, text: string): ReadonlyMap<string, string> => {
  const next = new Map(shown).set(id, text);
  const [oldest] = next.keys();
  if (next.size > rememberedAnswers && oldest !== undefined) next.delete(oldest);
  return next;
};

const quiet = (conversation: Conversation): Step => ({ conversation, print: [] });

/** Tools that are done are printed as soon as nothing before them is still growing. */
const flush = (step: Step): Step => {
  const { live } = step.conversation;
  const open = live.findIndex((item) => item.type === 'growing' || item.done === undefined);
  const done = open === -1 ? live : live.slice(0, open);
  const print = done.flatMap((item): readonly Printed[] => (item.type === 'tool' && item.done !== undefined ? [{ type: 'tool', name: item.name, preview: item.preview, ...item.done }] : []));
  return { conversation: { ...step.conversation, live: live.slice(done.length) }, print: [...step.print, ...print] };
};

type Said = Extract<LocalEntry, { type: 'message' | 'edit' }>;

/** The final words of a message: printed once, and again only if they change. */
const settle = (conversation: Conversation, entry: Said): Step => {
  const known = conversation.shown.get(entry.id);
  const live = conversation.live.filter((item) => item.type !== 'growing' || item.id !== entry.id);
  if (known === entry.text) return quiet({ ...conversation, live });
  const choices = entry.choices.flat();
  const next: Conversation = {
    ...conversation,
    live,
    shown: withShown(conversation.shown, entry.id, entry.text),
    question: choices.length > 0 ? { messageId: entry.id, choices } : conversation.question?.messageId === entry.id ? undefined : conversation.question,
  };
  const files = entry.type === 'message' ? entry.files : [];
  // What stands there already is not printed again; only what was put below it.
  const added = known !== undefined && known !== '' && entry.text.startsWith(known) ? entry.text.slice(known.length).trim() : undefined;
  return flush({ conversation: next, print: [{ type: 'answer', text: added ?? entry.text, plain: entry.plain === true, files, choices, changed: known !== undefined && added === undefined }] });
};

const grow = (conversation: Conversation, id: string, change: (text: string) => string): Conversation => {
  if (conversation.shown.has(id)) return conversation;
  const known = conversation.live.some((item) => item.type === 'growing' && item.id === id);
  if (!known) return { ...conversation, live: [...conversation.live, { type: 'growing', id, text: change('') }] };
  return { ...conversation, live: conversation.live.map((item) => (item.type === 'growing' && item.id === id ? { ...item, text: change(item.text) } : item)) };
};

const takeEntry = (conversation: Conversation, { entry }: EntryFrame, context: Context): Step => {
  switch (entry.type) {
    case 'message':
      if (entry.from === 'owner') return { conversation, print: context.isOwn(entry.id) ? [] : [{ type: 'said', text: entry.text }] };
      return entry.growing === true ? quiet(grow(conversation, entry.id, () => entry.text)) : settle(conversation, entry);
    case 'edit':
      return settle(conversation, entry);
    case 'remove':
      return quiet({ ...conversation, live: conversation.live.filter((item) => item.type !== 'growing' || item.id !== entry.id) });
    case 'press':
      return quiet({ ...conversation, question: conversation.question?.messageId === entry.id ? undefined : conversation.question });
    default:
      return entry satisfies never;
  }
};

const seconds = (ms: number): string => `${Math.max(1, Math.round(ms / 1000))} s`;

const takeActivity = (conversation: Conversation, { activity }: ActivityFrame, nowMs: number): Step => {
  switch (activity.type) {
    case 'tool_started':
      return quiet({ ...conversation, live: [...conversation.live, { type: 'tool', callId: activity.callId, name: activity.name, preview: activity.preview, startedMs: nowMs }] });
    case 'tool_finished': {
      const done = { ok: activity.ok, durationMs: activity.durationMs };
      return flush(quiet({ ...conversation, live: conversation.live.map((item) => (item.type === 'tool' && item.callId === activity.callId ? { ...item, done } : item)) }));
    }
    case 'retrying':
      return { conversation, print: [{ type: 'notice', text: `↻ ${activity.reason}; trying again in ${seconds(activity.delayMs)} (attempt ${activity.attempt})` }] };
    case 'end':
      return flush(quiet({ ...conversation, live: conversation.live.filter((item) => item.type === 'growing' || item.done !== undefined) }));
    default:
      return activity satisfies never;
  }
};

/** Takes in what the gateway said. What is already known changes nothing, so that a replay does no harm. */
export const receive = (conversation: Conversation, frame: ServerFrame, context: Context): Step => {
  switch (frame.type) {
    case 'entry': {
      if (conversation.cursor !== undefined && frame.seq <= conversation.cursor) return quiet(conversation);
      return takeEntry({ ...conversation, cursor: frame.seq }, frame, context);
    }
    case 'live':
      return quiet(grow(conversation, frame.id, (text) => text.slice(0, frame.at) + frame.text));
    case 'notice':
      return { conversation, print: [{ type: 'notice', text: frame.text }] };
    case 'activity':
      return takeActivity(conversation, frame, context.nowMs);
    // A gateway that has restarted knows nothing of what was live before.
    case 'welcome':
      return quiet({ ...conversation, live: [] });
    case 'ready':
    case 'typing':
    case 'accepted':
    case 'refused':
    case 'goodbye':
      return quiet(conversation);
    default:
      // Of a newer gateway.
      frame satisfies never;
      return quiet(conversation);
  }
};
