import { newFetchImage } from '../../delivery/fetch-image.ts';
import { prepareText } from '../../delivery/prepare-text.ts';
import type { Prepared } from '../../delivery/prepare-text.ts';
import { openSendable } from '../../delivery/sendable-files.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Platform } from '../../platforms/contract.ts';
import { foldersOfSession, homesOfOthers } from './closed-folders.ts';
import type { AgentPlace } from './closed-folders.ts';

/** What the gateway knows of the ways out. */
export interface WaysOut {
  platform(account: string): Platform | undefined;
  /** Whether files can be sent by this account. */
  sendsFiles(account: string): boolean;
}

export interface OutgoingDeps extends AgentPlace {
  readonly clock: Clock;
  readonly log: Logger;
  readonly userHome: string;
  readonly ways: WaysOut;
  /** Where the agent works in a conversation, and where it works at all. */
  workdir(sessionId: string | undefined): string;
  workspace(): string;
}

/** Makes a text of an agent ready to go out: its files are those that this agent may send in this conversation. */
export type PrepareOutgoing = (text: string, to: { readonly account: string; /** Left out for what belongs to no conversation. */ readonly sessionId?: string }, signal: AbortSignal) => Promise<Prepared>;

export const outgoingOfAgent = (deps: OutgoingDeps): PrepareOutgoing => {
  const { clock, log, mediaFolder, home, agentHome, userHome, ways } = deps;
  const fetchImage = newFetchImage(() => deps.settings().web, { clock });
  return (text, { account, sessionId }, signal) => {
    const { files, store } = deps.settings();
    const roots = [deps.workspace(), ...files.roots, ...files.read_roots, ...(sessionId === undefined ? [] : foldersOfSession(deps, sessionId))];
    const open = (path: string) => openSendable(path, { home, agentHome, userHome, workdir: deps.workdir(sessionId), roots, otherHomes: homesOfOthers(deps) });
    return prepareText(text, account, { deps: { clock, log, mediaFolder, maxBytes: store.media_max_mb * 1024 * 1024, open, fetchImage, sendsFiles: (name) => ways.sendsFiles(name), platform: (name) => ways.platform(name) }, signal });
  };
};
