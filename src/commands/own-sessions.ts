import type { Session } from '../store/sessions.ts';
import type { CommandCall } from './contract.ts';

/** People get at their own conversations only; which platform they wrote on does not matter, who they are there does. */
export const mine = (call: CommandCall): { readonly account: string; readonly userId: string } => ({ account: call.event.account, userId: call.event.sender.id });

export const owns = (session: Session, call: CommandCall): boolean => session.userId === call.event.sender.id && session.account === call.event.account;

export const label = (session: Session): string => `\`${session.id}\` ${session.title ?? ''} (${session.messageCount} messages)`;
