import type { Session } from '../store/sessions.ts';
import type { CommandCall } from './contract.ts';

/** People get at their own conversations only, and in a place where one agent answers, only at those that they had with it. */
export const mine = (call: CommandCall): { readonly agent: string; readonly account: string; readonly userId: string } => ({ agent: call.agent, account: call.event.account, userId: call.event.sender.id });

export const owns = (session: Session, call: CommandCall): boolean => session.agent === call.agent && session.userId === call.event.sender.id && session.account === call.event.account;

export const label = (session: Session): string => `\`${session.id}\` ${session.title ?? ''} (${session.messageCount} messages)`;
