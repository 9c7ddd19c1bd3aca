import type { InboundEvent } from '../core/message.ts';
import { isShared, sessionKey } from '../core/session-key.ts';
import type { SessionSharing } from '../core/session-key.ts';
import type { Platform } from '../platforms/contract.ts';

export interface Place {
  readonly agent: string;
  readonly sessionKey: string;
  /** Several people speak in this conversation. */
  readonly shared: boolean;
}

/** Which conversation an event belongs to. */
export const placeOf = (event: InboundEvent, platform: Pick<Platform, 'scopeInKey' | 'canonicalId'>, options: SessionSharing & { readonly agent: string }): Place => {
  const { agent, ...sharing } = options;
  const key = sessionKey(
    { agent, account: event.account, chat: event.chat, sender: event.sender },
    { ...sharing, ...(platform.scopeInKey === true && { scopeInKey: true }), ...(platform.canonicalId !== undefined && { canonicalId: (id: string) => platform.canonicalId?.(id) ?? id }) },
  );
  return { agent, sessionKey: key, shared: event.chat.type !== 'dm' && isShared(event.chat, sharing) };
};
