import { z } from 'zod';
import { platformOf } from '../../core/ids.ts';
import type { Target } from '../../core/message.ts';
import { labelsOf, readDirectory, targetText } from '../../delivery/directory.ts';
import type { Entry } from '../../delivery/directory.ts';
import { keepLocally } from '../../delivery/local-file.ts';
import { mirrorSend } from '../../delivery/mirror.ts';
import type { MirrorOutcome } from '../../delivery/mirror.ts';
import type { Prepared } from '../../delivery/prepare-text.ts';
import { resolveTarget } from '../../delivery/resolve-target.ts';
import type { Destination, ResolveDeps } from '../../delivery/resolve-target.ts';
import { awaitMessage, enqueueMessage } from '../../delivery/send-message.ts';
import type { SendOutcome } from '../../delivery/send-message.ts';
import type { Store } from '../../store/store.ts';
import type { Approver } from '../approvals/contract.ts';
import { sessionVariable } from '../session-context.ts';
import { ToolError } from './contract.ts';
import type { Tool, ToolContext } from './contract.ts';
import { defineTool } from './define-tool.ts';

export interface SendMessageDeps {
  readonly store: Store;
  /** The gateway's, for what is only kept. */
  readonly home: string;
  readonly targets: ResolveDeps;
  readonly approve: Approver;
  /** Files that the text names are looked for and go with it. */
  /** What is really said there; undefined when it is not to be said. */
  screen(text: string, to: Target, context: ToolContext): Promise<string | undefined>;
  prepare(text: string, to: { readonly account: string; readonly context: ToolContext }, signal: AbortSignal): Promise<Prepared>;
  /** Whether this person may see who else talks to the agent in private. */
  isOwner(person: { readonly account: string; readonly userId: string }): boolean;
}

/** A delivery that takes longer goes on by itself. */
const patienceMs = 20_000;
const mostListed = 200;

const args = z.object({
  action: z.enum(['send', 'list']).default('send').describe('send a message, or list the chats that have a name.'),
  target: z
    .string()
    .trim()
    .min(1)
    .max(1000)
    .optional()
    .describe('Where to: a platform (its home channel), platform:chat_id, platform:chat_id:thread_id, platform:#name, all (every home channel) or local (a file); several with commas between them.'),
  message: z.string().max(100_000).optional().describe('What to say, in markdown. MEDIA:/absolute/path sends a file with it; [[as_document]] sends pictures as files.'),
});

interface Work {
  readonly deps: SendMessageDeps;
  readonly context: ToolContext;
  readonly signal: AbortSignal;
}

type ChatDestination = Extract<Destination, { type: 'chat' }>;

interface Report {
  readonly target: string;
  readonly status: 'sent' | 'waiting' | 'failed' | 'skipped' | 'kept';
  readonly message_ids?: readonly string[];
  readonly error?: string;
  readonly note?: string;
}

const isSamePlace = (a: Target, b: Pick<Target, 'account' | 'chatId' | 'threadId'>): boolean => a.account === b.account && a.chatId === b.chatId && (a.threadId ?? '') === (b.threadId ?? '');

/** The chat to which the result of this job goes anyway. */
const isDeliveredAnyway = (target: Target): boolean => {
  const read = (name: 'PLATFORM' | 'CHAT_ID' | 'THREAD_ID'): string => sessionVariable(`HERMES_CRON_AUTO_DELIVER_${name}`, {});
  const account = read('PLATFORM');
  return (account === target.account || account === platformOf(target.account)) && isSamePlace(target, { account: target.account, chatId: read('CHAT_ID'), threadId: read('THREAD_ID') });
};

/** A chat that nobody has written from or written down may belong to anybody. */
const askAboutStranger = async ({ deps, context, signal }: Work, target: Target): Promise<void> => {
  const place = targetText(target);
  const request = { tool: 'send_message', subject: place, reasons: ['writes to a chat that is not in the directory'], pattern: `send to ${target.account}`, widest: 'session' } as const;
  const verdict = await deps.approve(request, context, signal);
  if (!verdict.allowed) throw new ToolError('unavailable', `Nothing was sent to ${place}: ${verdict.reason}`);
};

const mirrorNotes: Readonly<Partial<Record<MirrorOutcome, string>>> = { ambiguous: 'Several people have a conversation there, so none of them knows that you have sent this.' };

const reportOf = (target: Target, outcome: SendOutcome, mirrored: MirrorOutcome | undefined): Report => {
  const note = mirrored === undefined ? undefined : mirrorNotes[mirrored];
  const named = { target: targetText(target), ...(note !== undefined && { note }) };
  switch (outcome.state) {
    case 'sent':
      return { ...named, status: 'sent', message_ids: outcome.messageIds };
    case 'failed':
      return { ...named, status: 'failed', error: outcome.error };
    case 'waiting':
      return { ...named, status: 'waiting', note: 'The platform takes it later; it is kept and goes out by itself. Do not send it again.' };
    default:
      throw outcome satisfies never;
  }
};

const sendTo = async (work: Work, to: ChatDestination, said: { readonly text: string; readonly index: number }): Promise<Report> => {
  const { deps, context, signal } = work;
  const { target } = to;
  if (isDeliveredAnyway(target)) return { target: targetText(target), status: 'skipped', note: 'Your final answer is delivered there by itself. Put it there instead.' };
  const platform = deps.targets.account(target.account)?.platform;
  if (platform === undefined) throw new ToolError('unavailable', `The account ${target.account} is not configured.`);
  const screened = await deps.screen(said.text, target, context);
  if (screened === undefined) return { target: targetText(target), status: 'skipped', note: 'A rule of the owner keeps this from being said there.' };
  const { text, media } = await deps.prepare(screened, { account: target.account, context }, signal);
  if (text.trim() === '' && media === undefined) throw new ToolError('bad_arguments', 'The message is empty.');
  const out = { key: `send:${context.turnId}:${context.callId}:${said.index}`, target, text, ...(media !== undefined && { media }) };
  const keys = await deps.store.write((tx) => enqueueMessage(tx, platform, out));
  const outcome = await awaitMessage({ store: deps.store, clock: context.clock, timeoutMs: patienceMs }, keys, signal);
  if (outcome.state === 'failed') return reportOf(target, outcome, undefined);
  const how = 'sent by you from another conversation';
  const mirrored = await deps.store.write((tx) => mirrorSend(tx, { target, text, how, isOwn: true, agent: context.place.agent, except: context.sessionId }));
  return reportOf(target, outcome, mirrored);
};

const deliver = async (work: Work, destination: Destination, said: { readonly text: string; readonly index: number }): Promise<Report> => {
  work.context.alive();
  if (destination.type === 'chat') return sendTo(work, destination, said);
  const path = await keepLocally(work.deps.home, { name: 'misc', title: 'Message', text: said.text }, work.context.clock);
  return { target: 'local', status: 'kept', note: path };
};

const send = async (work: Work, written: string, text: string): Promise<string> => {
  const { deps, context } = work;
  const { destinations, problems } = await deps.store.read((db) => resolveTarget(db, deps.targets, { text: written, origin: context.place.target }));
  if (problems.length > 0) throw new ToolError('bad_arguments', `Nothing was sent: ${problems.join('; ')}. Call this with action "list" to see the chats.`);
  // Every question comes before the first effect.
  for (const to of destinations) if (to.type === 'chat' && !to.known && !isDeliveredAnyway(to.target)) await askAboutStranger(work, to.target);
  const results: Report[] = [];
  for (const [index, destination] of destinations.entries()) results.push(await deliver(work, destination, { text, index }));
  return JSON.stringify({ success: results.every(({ status }) => status !== 'failed'), results });
};

const line = (entry: Entry, label: string | undefined): string => `${targetText(entry)}  ${label ?? ''} (${entry.chatType}${entry.isHome ? ', home channel' : ''})`;

const list = async ({ deps, context }: Work): Promise<string> => {
  const entries = await deps.store.read((db) => readDirectory(db, deps.targets));
  const { target, sender } = context.place;
  const seesAll = sender !== undefined && deps.isOwner({ account: target.account, userId: sender.id });
  const visible = entries.filter((entry) => seesAll || entry.isHome || entry.chatType !== 'dm' || isSamePlace(target, entry));
  if (visible.length === 0) return 'No chat is known by name. A platform alone means its home channel.';
  const labels = labelsOf(entries);
  const more = visible.length > mostListed ? [`and ${visible.length - mostListed} more; name one to reach it`] : [];
  return [...visible.slice(0, mostListed).map((entry) => line(entry, labels.get(entry))), ...more].join('\n');
};

/** Lets the agent write into other chats than the one it is in. What it sends stands in the transcript of the conversation there. */
export const sendMessageTool = (deps: SendMessageDeps): Tool =>
  defineTool({
    name: 'send_message',
    description:
      'Sends a message into another chat, or lists the chats that have a name. Not for answering here: your answer goes to this chat by itself. Use list first when you know a chat only by its name.',
    args,
    async run({ action, target, message }, context, signal) {
      const work: Work = { deps, context, signal };
      if (action === 'list') return list(work);
      if (target === undefined || message === undefined || message.trim() === '') throw new ToolError('bad_arguments', 'Give both target and message.');
      return send(work, target, message);
    },
  });
