import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareHome, resolveHome } from '../../config/home.ts';
import { ConfigError } from '../../core/errors.ts';
import { systemClock } from '../../lib/clock.ts';
import { silentLogger } from '../../lib/logger.ts';
import { newRedactor } from '../../lib/redact.ts';
import type { Redactor } from '../../lib/redact.ts';
import { attachPath } from '../../platforms/local/client.ts';
import { isHomeTaken, lockHome } from '../../store/locks/home-lock.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { requireConfig } from '../configuration/settings.ts';
import type { Config } from '../configuration/settings.ts';
import type { Terminal } from '../environment.ts';
import { storeOf } from '../home/open-home.ts';
import { refuseRoot } from '../home/root-in-home.ts';
import type { Host } from './host.ts';

const platform = 'local';

/** The gateway that a terminal talks to: the one that runs in this home, or one of its own when none does. */
export class Core {
  readonly config: Config;
  readonly account: string;
  readonly home: string;
  readonly #terminal: Terminal;
  readonly #redactor: Redactor;
  readonly #socket: string | undefined;
  #host: Host | undefined;
  #attached: Store | undefined;
  /** Who served us last was a gateway in its own right; it comes back by itself, and must find the home free. */
  #wasGateway = false;

  static async open(terminal: Terminal): Promise<Core> {
    const home = resolveHome(terminal.env);
    await prepareHome(home);
    const redactor = terminal.redactor ?? newRedactor();
    const config = await requireConfig(terminal, redactor);
    const core = new Core(terminal, { home, config, redactor });
    if (!(await core.#tryToHost())) await core.#attach();
    return core;
  }

  private constructor(terminal: Terminal, at: { readonly home: string; readonly config: Config; readonly redactor: Redactor }) {
    const account = at.config.accounts.find((each) => each.platform === platform && each.account === platform);
    if (account === undefined) throw new ConfigError(`The terminal is switched off in this home. hermes config set platforms.${platform}.enabled true switches it on.`);
    this.#terminal = terminal;
    this.#redactor = at.redactor;
    this.#socket = (account.options as { readonly socket?: string }).socket;
    this.config = at.config;
    this.account = account.account;
    this.home = at.home;
  }

  get store(): Store {
    const store = this.#host?.store ?? this.#attached;
    if (store === undefined) throw new Error('the terminal has no store');
    return store;
  }

  get isHost(): boolean {
    return this.#host !== undefined;
  }

  /** Where the gateway is reached now. When a terminal that hosted it has left, this one takes its place. */
  async path(): Promise<string> {
    if (this.#host === undefined && !this.#wasGateway) await this.#tryToHost();
    return attachPath({ home: this.home, account: this.account, socket: this.#socket, platform: process.platform, temporary: tmpdir(), userId: process.getuid?.() ?? 0 });
  }

  /** Somebody serves us now. */
  connected(): void {
    this.#wasGateway = existsSync(join(this.home, 'gateway.pid'));
  }

  async close(): Promise<void> {
    await this.#host?.stop();
    await this.#attached?.close();
  }

  async #attach(): Promise<void> {
    this.#attached = await openStore({ ...storeOf(this.config.sections.store, this.home), clock: systemClock, log: silentLogger, checkIntegrity: false });
  }

  /** False when another process has the home. */
  async #tryToHost(): Promise<boolean> {
    if (!isHomeTaken(this.home)) refuseRoot(this.#terminal.env, this.home, { command: 'hermes' });
    const lock = lockHome(this.home);
    if (lock === undefined) return false;
    const { hostGateway } = await import('./host.ts');
    this.#host = await hostGateway(this.#terminal, this.config, { home: this.home, account: this.account, redactor: this.#redactor, lock });
    return true;
  }
}
