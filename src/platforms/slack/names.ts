import { PlatformError } from '../../core/errors.ts';
import type { InboundEvent } from '../../core/message.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { record, text } from './wire.ts';
import type { Json } from './wire.ts';
import type { Workspace } from './workspaces.ts';

export interface Names {
  /** The same event with the names of who speaks and where, as far as Slack tells them. Never fails, and never waits long. */
  complete(event: InboundEvent, signal: AbortSignal): Promise<InboundEvent>;
  person(workspace: Workspace, userId: string, signal: AbortSignal): Promise<string | undefined>;
}

const keepMs = 3600_000;
/** After Slack has refused to name something, it is not asked again for a while. */
const refusedMs = 300_000;
const mostKept = 2000;
const patienceMs = 2_000;

interface Kept {
  readonly name: string | undefined;
  readonly untilMs: number;
}

const personName = (answer: Json): string | undefined => {
  const user = record(answer['user']);
  const profile = record(user?.['profile']);
  return text(profile?.['display_name']) ?? text(profile?.['real_name']) ?? text(user?.['real_name']) ?? text(user?.['name']);
};

const channelName = (answer: Json): string | undefined => text(record(answer['channel'])?.['name']);

export const newNames = ({ workspaces, clock, log }: { readonly workspaces: () => readonly Workspace[]; readonly clock: Clock; readonly log: Logger }): Names => {
  const kept = new Map<string, Kept>();
  const keep = (key: string, name: string | undefined, forMs: number): string | undefined => {
    const oldest = kept.size >= mostKept && !kept.has(key) ? kept.keys().next().value : undefined;
    if (oldest !== undefined) kept.delete(oldest);
    kept.set(key, { name, untilMs: clock.now() + forMs });
    return name;
  };

  const look = async (workspace: Workspace, question: { method: string; args: Json; read: (answer: Json) => string | undefined }, signal: AbortSignal): Promise<string | undefined> => {
    const key = JSON.stringify([workspace.teamId, question.args]);
    const known = kept.get(key);
    if (known !== undefined && known.untilMs > clock.now()) return known.name;
    try {
      const answer = await workspace.api.repeatable(question.method, question.args, AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]));
      return keep(key, question.read(answer), keepMs);
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      log.debug({ method: question.method, reason: error.message }, 'slack.name.unknown');
      return keep(key, known?.name, refusedMs);
    }
  };

  const person: Names['person'] = (workspace, userId, signal) => look(workspace, { method: 'users.info', args: { user: userId }, read: personName }, signal);
  const channel = (workspace: Workspace, channelId: string, signal: AbortSignal): Promise<string | undefined> =>
    look(workspace, { method: 'conversations.info', args: { channel: channelId }, read: channelName }, signal);

  return {
    person,
    async complete(event, signal) {
      const workspace = workspaces().find(({ teamId }) => teamId === event.chat.scopeId);
      if (workspace === undefined) return event;
      const { sender, chat } = event;
      const [senderName, chatName] = await Promise.all([
        sender.name ?? (sender.isBot ? undefined : person(workspace, sender.id, signal)),
        chat.type === 'dm' ? undefined : channel(workspace, chat.id, signal),
      ]);
      const name = chat.type === 'dm' ? senderName : chatName;
      return { ...event, sender: { ...sender, ...(senderName !== undefined && { name: senderName }) }, chat: { ...chat, ...(name !== undefined && { name }) } };
    },
  };
};
