import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { AccountConfig } from '../config/read-accounts.ts';
import { platformOf } from '../core/ids.ts';
import type { AccountName } from '../core/ids.ts';
import type { InboundEvent } from '../core/message.ts';
import type { Connections } from '../delivery/connections.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { AccountOptions } from '../platforms/account-options.ts';
import type { Accepted, Adapter, ChatMove, Directory, Platform } from '../platforms/contract.ts';
import { accountData } from '../store/accounts/account-data.ts';
import { forgetAccounts, freshStatus, saveStatus } from '../store/accounts/accounts.ts';
import type { AccountStatus } from '../store/accounts/accounts.ts';
import type { Store } from '../store/store.ts';
import type { GatewayConfig } from './settings.ts';
import { AccountSupervisor } from './supervise.ts';

export interface AccountsOptions {
  readonly platforms: readonly Platform[];
  readonly store: Store;
  readonly owner: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly home: string;
  readonly mediaFolder: string;
  readonly lockFolder?: string;
  /** Another gateway is about to leave its accounts to this one. */
  readonly takesOver: boolean;
  redact(text: string): string;
  accept(event: InboundEvent): Promise<Accepted>;
  moved(account: AccountName, move: ChatMove): Promise<void>;
  onUsable(account: AccountName): void;
  onConnected(account: AccountName, adapter: Adapter): void;
}

interface Live {
  readonly config: AccountConfig;
  readonly platform: Platform;
  readonly supervisor: AccountSupervisor;
}

const sameConfig = (a: AccountConfig, b: AccountConfig): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The accounts of this gateway, each under its own supervisor. */
export class Accounts implements Connections {
  readonly #options: AccountsOptions;
  readonly #live = new Map<AccountName, Live>();
  readonly #wishes: Disposable;
  #disabled: GatewayConfig['disabled'] = [];
  #wanted: ReadonlySet<AccountName> = new Set();

  constructor(options: AccountsOptions) {
    this.#options = options;
    this.#wishes = options.store.listen('account', (account) => this.#live.get(account)?.supervisor.reconsider());
  }

  platform(account: AccountName): Platform | undefined {
    return this.#options.platforms.find(({ name }) => name === platformOf(account));
  }

  adapter(account: AccountName): Adapter | undefined {
    return this.#live.get(account)?.supervisor.adapter;
  }

  succeeded(account: AccountName): void {
    this.#live.get(account)?.supervisor.succeeded();
  }

  find(account: AccountName): { readonly platform: Platform; readonly common: AccountOptions } | undefined {
    const live = this.#live.get(account);
    return live === undefined ? undefined : { platform: live.platform, common: live.config.common };
  }

  /** Whether it is there, or will be in a moment: an account whose settings have changed is away while it starts anew. */
  expects(account: AccountName): boolean {
    return this.#wanted.has(account);
  }

  /** Resolves when what arrives for the account is taken, when that is not to be expected, or when the signal says so. */
  async untilReceiving(account: AccountName, signal: AbortSignal): Promise<void> {
    await this.#live.get(account)?.supervisor.untilReceiving(signal);
  }

  /** Another gateway may have let go of accounts that it held. */
  takeOver(look: { readonly isLast: boolean }): void {
    for (const { supervisor } of this.#live.values()) supervisor.takeOver(look);
  }

  /** Those that run, whether they are connected or not. */
  names(): readonly AccountName[] {
    return [...this.#live.keys()];
  }

  labels(): readonly string[] {
    return [...new Set([...this.#live.values()].map(({ platform }) => platform.label))];
  }

  /** Of the accounts that are connected and can name their chats. */
  directories(): ReadonlyMap<AccountName, Directory> {
    return new Map([...this.#live].flatMap(([account, { supervisor }]) => (supervisor.adapter?.directory === undefined ? [] : [[account, supervisor.adapter.directory] as const])));
  }

  status(): readonly AccountStatus[] {
    return [...[...this.#live.values()].map(({ supervisor }) => supervisor.status), ...this.#disabled.map(disabledStatus)];
  }

  /** Whether the gateway counts as ready only with it. */
  isRequired(account: AccountName): boolean {
    return this.#live.get(account)?.config.common.required ?? !this.#disabled.some((disabled) => disabled.account === account && disabled.isOptional === true);
  }

  /** Starts, restarts and stops accounts until they are as configured; what has not changed is not touched. */
  async configure(config: GatewayConfig): Promise<void> {
    this.#disabled = config.disabled;
    const wanted = new Map(config.accounts.map((account) => [account.account, account]));
    this.#wanted = new Set(wanted.keys());
    const leaving = [...this.#live.values()].filter(({ config: old }) => {
      const next = wanted.get(old.account);
      return next === undefined || !sameConfig(old, next);
    });
    await Promise.all(leaving.map(({ supervisor }) => supervisor.stop()));
    for (const { config: old } of leaving) this.#live.delete(old.account);
    for (const account of wanted.values()) if (!this.#live.has(account.account)) await this.#start(account);
    await this.#options.store.write(async (tx) => {
      // Gateways that share a database may have different accounts.
      if (tx.engine === 'sqlite') await forgetAccounts(tx, [...wanted.keys(), ...config.disabled.map(({ account }) => account), ...(config.elsewhere ?? [])]);
      for (const disabled of config.disabled) await saveStatus(tx, disabledStatus(disabled));
    });
  }

  async stop(): Promise<void> {
    this.#wishes[Symbol.dispose]();
    await Promise.all([...this.#live.values()].map(({ supervisor }) => supervisor.stop()));
  }

  async #start(config: AccountConfig): Promise<void> {
    const { store, owner, clock, log, platforms, home, mediaFolder, lockFolder, takesOver, redact, accept, moved, onUsable, onConnected } = this.#options;
    const platform = platforms.find(({ name }) => name === config.platform);
    if (platform === undefined) throw new Error(`no platform called ${config.platform}`);
    const folder = join(mediaFolder, config.account);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const supervisor = new AccountSupervisor({
      account: config.account,
      platform,
      context: { account: config.account, options: config.options, log: log.child({ account: config.account }), data: accountData(store, config.account), home, mediaFolder: folder },
      store,
      owner,
      clock,
      log,
      ...(lockFolder !== undefined && { lockFolder }),
      takesOver,
      redact,
      accept,
      moved: (move) => moved(config.account, move),
      onUsable: () => onUsable(config.account),
      onConnected: (adapter) => onConnected(config.account, adapter),
    });
    this.#live.set(config.account, { config, platform, supervisor });
    supervisor.start();
  }
}

const disabledStatus = ({ account, reason }: GatewayConfig['disabled'][number]): AccountStatus => freshStatus(account, { state: 'disabled', errorCode: 'config', error: reason });
