import { commandAccess } from '../../access/command-access.ts';
import type { RuledCommand } from '../../access/command-access.ts';
import type { Command } from '../../commands/contract.ts';
import { parseCommand } from '../../commands/parse.ts';
import { readCommand } from '../../commands/read-command.ts';
import { allCommands, resolveCommand } from '../../commands/registry.ts';
import { usableCommands } from '../../commands/visible.ts';
import type { HookDecision } from '../../hooks/consult.ts';
import { placeOf } from '../../routing/place.ts';
import { isKnownEvent } from '../../store/messages/inbox.ts';
import type { Arrival, InboxDeps } from '../arrival.ts';
import { chooseAgent } from './choose-agent.ts';
import { commandContext, inboundContext, placeOfEvent } from './contexts.ts';

/** An event as hooks have left it. `stopped`: it has no effect; `answer` is told to whoever sent it. */
export interface Screened {
  readonly arrival: Arrival;
  readonly stopped?: { readonly reason: string; readonly answer: string | undefined };
}

/** Nobody may be able to hold this up. */
const unstoppable = 'stop';

interface Place {
  readonly agent: string;
  readonly sessionKey: string;
}

const noted = (arrival: Arrival, decisions: readonly HookDecision[]): Arrival =>
  decisions.length === 0 ? arrival : { ...arrival, verdict: { ...arrival.verdict, decisions: [...arrival.verdict.decisions, ...decisions] } };

const keyOf = (deps: InboxDeps, { event, platform, agent }: Arrival): string => {
  const settings = deps.settings();
  return placeOf(event, platform, { groupSessionsPerUser: settings.group_sessions_per_user, threadSessionsPerUser: settings.thread_sessions_per_user, agent: agent.id }).sessionKey;
};

interface GivenCommand {
  readonly name: string;
  readonly typed: string;
  readonly args: string;
}

/** An alias may stand for an alias, but not without end. */
const mostAliases = 5;

/** What a command line comes to: the command that is carried out in the end, whatever stands for it. Undefined where nobody can say. */
const resolveLine = (line: { name: string; args: string }, commands: { all: readonly Command[]; usable: readonly Command[] }, aliases = 0): { command: RuledCommand; args: string } | undefined => {
  const resolved = resolveCommand(line.name, commands.all, commands.usable);
  switch (resolved.type) {
    case 'ambiguous':
      return undefined;
    case 'unknown':
      return { command: { name: line.name, aliases: [] }, args: line.args };
    case 'command': {
      const { standsFor } = resolved.command;
      const target = standsFor === undefined || aliases >= mostAliases ? undefined : parseCommand(`/${standsFor.replace(/^\//, '')} ${line.args}`);
      return target === undefined ? { command: resolved.command, args: line.args } : resolveLine(target, commands, aliases + 1);
    }
    default:
      throw resolved satisfies never;
  }
};

/** The command that an event gives, by its own name; undefined when it gives none, or none that this person may give. */
const commandOf = (deps: InboxDeps, { event, platform, common, agent }: Arrival): GivenCommand | undefined => {
  const settings = deps.settings();
  const all = allCommands(settings, deps.skills?.(agent.id));
  const parsed = readCommand(event, platform, () => all);
  if (parsed === undefined) return undefined;
  const userIds = [event.sender.id, ...(event.sender.altId === undefined ? [] : [event.sender.altId])];
  const access = commandAccess({ rules: common, chatType: event.chat.type, userIds, authenticated: platform.authenticatesSenders });
  const usable = usableCommands({ commands: all, access, surface: platform.surface ?? 'chat', settings });
  const line = resolveLine(parsed, { all, usable });
  return line === undefined || !access.mayRun(line.command) ? undefined : { name: line.command.name, typed: parsed.name, args: line.args };
};

const screenText = async (deps: InboxDeps, arrival: Arrival, place: Place): Promise<Screened> => {
  const { state, decisions } = await deps.hooks.inbound(inboundContext(arrival.event, place));
  const screened = noted(arrival, decisions);
  if (state.type === 'drop') return { arrival: screened, stopped: { reason: `dropped by the hook ${state.by}: ${state.reason}`, answer: state.message } };
  return { arrival: state.text === arrival.event.text ? screened : { ...screened, event: { ...arrival.event, text: state.text } } };
};

const screenCommand = async (deps: InboxDeps, arrival: Arrival, at: { place: Place; command: GivenCommand }): Promise<Screened> => {
  const context = commandContext(arrival.event, at.place, at.command);
  const { state, decisions } = await deps.hooks.command(context);
  const screened = noted(arrival, decisions);
  switch (state.type) {
    case 'allow':
      return { arrival: screened };
    case 'deny':
      return { arrival: screened, stopped: { reason: `denied by the hook ${state.by}`, answer: state.message ?? `⛔ /${at.command.name} is not allowed here.` } };
    case 'handled':
      return { arrival: screened, stopped: { reason: `handled by the hook ${state.by}`, answer: state.message } };
    case 'rewrite':
      return { arrival: { ...screened, event: { ...arrival.event, text: state.text } } };
    default:
      throw state satisfies never;
  }
};

const screenContent = async (deps: InboxDeps, arrival: Arrival): Promise<Screened> => {
  const place: Place = { agent: arrival.agent.id, sessionKey: keyOf(deps, arrival) };
  const first = commandOf(deps, arrival);
  if (first?.name === unstoppable) {
    deps.hooks.emit(`command:${first.name}`, { ...commandContext(arrival.event, place, first), decision: 'allow', decided_by: null });
    return { arrival };
  }
  const screened = await screenText(deps, arrival, place);
  if (screened.stopped !== undefined) return screened;
  const command = commandOf(deps, screened.arrival);
  return command === undefined ? screened : screenCommand(deps, screened.arrival, { place, command });
};

/** Whether an event need not wait for those that came before it in its chat. */
export const mayOvertake = (deps: InboxDeps, arrival: Arrival): boolean => !deps.hooks.inUse || commandOf(deps, arrival)?.name === unstoppable;

/** Shows an authorized event to the hooks: they say who answers, and what becomes of what was written. Undefined for one that has been here before. */
export const screenArrival = async (deps: InboxDeps, arrival: Arrival): Promise<Screened | undefined> => {
  if (!deps.hooks.inUse) return { arrival };
  const { account, chat, nativeId, kind } = arrival.event;
  if (await deps.store.read((db) => isKnownEvent(db, { account, chatId: chat.id, nativeId, kind }))) return undefined;
  const { agent, decisions } = await chooseAgent(deps, arrival.event);
  const chosen = noted({ ...arrival, agent }, decisions);
  // What can be pressed is what we have offered.
  return kind === 'button' ? { arrival: chosen } : screenContent(deps, chosen);
};

/** Tells hooks of a reaction by somebody who is authorized. */
export const tellReaction = ({ hooks }: Pick<InboxDeps, 'hooks'>, { event, agent }: Arrival): void => {
  if (event.reaction === undefined) return;
  const { emoji, added } = event.reaction;
  hooks.emit(added ? 'reaction:added' : 'reaction:removed', { ...placeOfEvent(event, agent.id), reaction: emoji, message_id: event.messageId ?? null });
};
