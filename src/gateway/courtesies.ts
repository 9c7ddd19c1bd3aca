import { menuOf } from '../commands/menu.ts';
import type { InboundEvent } from '../core/message.ts';
import type { Logger } from '../lib/logger.ts';
import type { Adapter } from '../platforms/contract.ts';
import type { Accounts } from './accounts.ts';
import type { GatewaySettings } from './settings.ts';

export interface CourtesyDeps {
  readonly log: Logger;
  readonly accounts: Accounts;
  settings(): GatewaySettings;
  readonly signal: AbortSignal;
}

/** What is nice to have on a platform and is only noted when it fails. */
export interface Courtesies {
  publishMenu(account: string, adapter: Adapter): Promise<void>;
  /** Takes the waiting sign off a pressed button. */
  answerPress(event: InboundEvent, text: string | undefined): Promise<void>;
}

const timeoutMs = 10_000;

export const newCourtesies = ({ log, accounts, settings, signal }: CourtesyDeps): Courtesies => ({
  async publishMenu(account, adapter) {
    try {
      const menu = menuOf(settings(), accounts.platform(account)?.surface ?? 'chat');
      await adapter.menu?.publish(menu, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
    } catch (error) {
      log.warn({ err: error, account }, 'account.menu_not_published');
    }
  },
  async answerPress(event, text) {
    try {
      await accounts.adapter(event.account)?.choices?.answer(event, text, AbortSignal.timeout(timeoutMs));
    } catch (error) {
      log.debug({ err: error, account: event.account }, 'button.not_answered');
    }
  },
});
