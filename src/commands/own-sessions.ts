import type { Session } from '../store/sessions/sessions.ts';
import type { CommandCall } from './contract.ts';

/** People get at their own conversations only, and in a place where one agent answers, only at those that they had with it. */
export const mine = (call: CommandCall): { readonly agent: string; readonly account: string; readonly userId: string } => ({ agent: call.agent, account: call.event.account, userId: call.event.sender.id });

/** The owner's surfaces reach every conversation; others those that are theirs, or were until they were handed over. */
export const owns = (session: Session, call: CommandCall): boolean => {
  if (session.agent !== call.agent) return false;
  const places = [{ account: session.account, userId: session.userId }, ...(session.settings.former ?? [])];
  return call.access.isOwner || places.some(({ account, userId }) => account === call.event.account && userId === call.event.sender.id);
};

export const label = (session: Session): string => `\`${session.id}\` ${session.title ?? ''} (${session.messageCount} messages)`;
