import { join } from 'node:path';
import { keepDirectory } from '../delivery/refresh-directory.ts';
import { DeliveryGate } from '../delivery/gate.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Redactor } from '../lib/redact.ts';
import type { Platform, Webhook } from '../platforms/contract.ts';
import type { BegunTurn } from '../sessions/begin.ts';
import type { RunningNow } from '../sessions/lanes.ts';
import type { AccountStatus } from '../store/accounts/accounts.ts';
import { expediteDeferred } from '../store/lanes/agent-lanes.ts';
import { buryGateways, forgetNode, registerNode } from '../store/nodes.ts';
import type { Store } from '../store/store.ts';
import { spendLimitsDiffer } from './agents/agent-limits.ts';
import { lookAfterSessions } from './agents/after-sessions.ts';
import type { ApiGate } from './api/api-gate.ts';
import { composeGateway } from './compose.ts';
import type { ComposedGateway } from './compose.ts';
import { expireSessions } from './expire-sessions.ts';
import { holdAgain } from './hold.ts';
import { maintain } from './maintain.ts';
import type { ReachOptions } from './reach.ts';
import { reportRestarts } from './report-restarts.ts';
import type { GatewayConfig, GatewaySettings } from './settings.ts';
import { tellPaused } from './tell-paused.ts';

export interface GatewayOptions {
  readonly home: string;
  readonly config: GatewayConfig;
  readonly platforms: readonly Platform[];
  readonly store: Store;
  /** This process holds the home's lock: no other gateway can be alive on an embedded store. Without it, this one is about to take over from another: see `takeOver`. */
  readonly alone: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly version: string;
  /** Knows the secrets of the configuration. */
  readonly redactor: Redactor;
  /** Where credentials are held against other gateways of this machine; nowhere when left out. */
  readonly lockFolder?: string;
  /** What whoever starts the gateway can do for it. */
  readonly outside?: ReachOptions['outside'];
}

const courtesyTimeoutMs = 10_000;

/** The whole gateway but for its doors (HTTP, terminal): its start, its life and its end. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #parts: ComposedGateway;
  readonly #stop = new AbortController();
  #settings: GatewaySettings;
  #maintenance: Promise<void> | undefined;
  #lookingAfter: Promise<void> | undefined;
  #directory: Promise<void> | undefined;

  /** One that cannot be started leaves nothing at work. */
  static async start(options: GatewayOptions): Promise<Gateway> {
    const gate = await DeliveryGate.open(options);
    const gateway = new Gateway(options, gate);
    try {
      await gateway.#start();
      return gateway;
    } catch (error) {
      await gateway.#end();
      throw error;
    }
  }

  private constructor(options: GatewayOptions, gate: DeliveryGate) {
    this.#options = options;
    this.#settings = options.config.settings;
    this.#parts = composeGateway(options, { gate, settings: () => this.#settings, signal: this.#stop.signal });
  }

  /** For the HTTP door. */
  get api(): ApiGate {
    return this.#parts.api;
  }

  /** Takes new settings and accounts over; what belongs to unchanged accounts goes on undisturbed. */
  async configure(config: GatewayConfig): Promise<void> {
    const before = this.#settings;
    this.#settings = config.settings;
    await this.#parts.agents.configure();
    if (spendLimitsDiffer(before, config.settings)) await this.#options.store.write(expediteDeferred);
    await this.#parts.hooks.configure();
    await this.#parts.accounts.configure(config);
  }

  status(): readonly AccountStatus[] {
    return this.#parts.accounts.status();
  }

  /** Whether it counts as ready only with the account. */
  isRequired(account: string): boolean {
    return this.#parts.accounts.isRequired(account);
  }

  webhook(account: string): Webhook | undefined {
    return this.#parts.accounts.adapter(account)?.webhook;
  }

  /** Whether an account is there, or will be in a moment. */
  expects(account: string): boolean {
    return this.#parts.accounts.expects(account);
  }

  /** Resolves when what arrives for the account is taken, when that is not to be expected, or when the signal says so. */
  untilReceiving(account: string, signal: AbortSignal): Promise<void> {
    return this.#parts.accounts.untilReceiving(account, signal);
  }

  /** Takes accounts that the gateway before this one has let go of. */
  takeAccounts(): void {
    this.#parts.accounts.takeOver({ isLast: false });
  }

  /** The gateway before this one has gone, and its home is ours: what it left, in whatever way it ended, is taken up. */
  async takeOver(): Promise<void> {
    const { store, log } = this.#options;
    await store.write(async (tx) => {
      const freed = store.engine === 'sqlite' ? await buryGateways(tx, this.#parts.owner) : 0;
      if (freed > 0) log.info({ lanes: freed }, 'gateway.recovered');
      await expediteDeferred(tx);
    });
    this.#parts.accounts.takeOver({ isLast: true });
    await this.#parts.agents.takeOver();
    await this.#parts.control.recover();
  }

  get runningTurns(): number {
    return this.#parts.conversations.runningCount;
  }

  /** The turns under way, oldest first. */
  running(): readonly RunningNow[] {
    return this.#parts.conversations.running();
  }

  /** Takes nothing new, lets what runs end for a while, puts the rest down durably. Everything continues after the next start. */
  async stop(options: { /** Chats that are interrupted are told. */ readonly tellChats?: boolean } = {}): Promise<void> {
    this.#parts.hooks.emit('gateway:shutdown', { agent_id: null });
    await this.#end(options);
  }

  /** A part that cannot be ended keeps no other from it. */
  async #end(options: { readonly tellChats?: boolean } = {}): Promise<void> {
    this.#stop.abort();
    const { store, log } = this.#options;
    const parts = this.#parts;
    const ended = async <T>(work: () => T): Promise<Awaited<T> | undefined> => {
      try {
        return await work();
      } catch (error) {
        log.error({ err: error }, 'gateway.part_not_ended');
        return undefined;
      }
    };
    // Accounts take their time, and what begins meanwhile would only be cut off.
    await ended(() => parts.conversations.close());
    await ended(() => parts.accounts.stop());
    await ended(() => parts.control.stop());
    await ended(() => parts.handoffs.stop());
    const graceMs = this.#settings.agent.restart_drain_timeout * 1000;
    const [suspended = []] = await Promise.all([ended(() => parts.conversations.stop(graceMs)), ended(() => parts.cron.stop(graceMs)), ended(() => this.api.stop(graceMs))]);
    if (options.tellChats === true) await this.#tellPaused(suspended);
    parts.calls.close();
    parts.runLog.close();
    await ended(() => parts.spoken.stop());
    await ended(() => parts.titles.stop());
    await ended(() => parts.dispatcher.stop(courtesyTimeoutMs));
    await ended(() => parts.agents.stop());
    await ended(() => parts.hooks.stop());
    await ended(() => parts.traces?.settled());
    await ended(() => parts.exporter?.stop());
    await ended(() => Promise.all([this.#maintenance, this.#lookingAfter, this.#directory]));
    await ended(() => store.write((tx) => forgetNode(tx, parts.owner)));
  }

  async #tellPaused(suspended: readonly BegunTurn[]): Promise<void> {
    try {
      await tellPaused({ ...this.#options, find: (account) => this.#parts.accounts.find(account) }, suspended);
    } catch (error) {
      this.#options.log.error({ err: error }, 'gateway.chats_not_told');
    }
  }

  async #start(): Promise<void> {
    const { store, alone, log, config } = this.#options;
    await store.write(async (tx) => {
      const freed = alone && store.engine === 'sqlite' ? await buryGateways(tx) : 0;
      if (freed > 0) log.info({ lanes: freed }, 'gateway.recovered');
      // What an agent may spend may have been changed meanwhile.
      await expediteDeferred(tx);
      await registerNode(tx, { id: this.#parts.owner, kind: 'gateway', pid: process.pid });
    });
    await this.#parts.agents.start();
    if (alone) await this.#parts.agents.takeOver();
    await this.#parts.hooks.start();
    await this.#parts.accounts.configure(config);
    await store.write(async (tx) => {
      await reportRestarts(tx, { version: this.#options.version, platform: (account) => this.#parts.accounts.platform(account) });
      // Not before: however long the start has taken, the rest of a message has time to arrive.
      await holdAgain(tx);
    });
    await this.#parts.control.recover();
    this.#parts.recovered.resolve();
    this.#parts.dispatcher.start();
    this.#parts.spoken.start();
    this.#parts.titles.start();
    this.#parts.conversations.start();
    this.#parts.handoffs.start();
    this.#parts.cron.start();
    this.#lookingAfter = lookAfterSessions({ store, clock: this.#options.clock, log, agents: this.#parts.agents, settings: () => this.#settings, signal: this.#stop.signal });
    this.#directory = keepDirectory({ store, clock: this.#options.clock, log, directories: () => this.#parts.accounts.directories() }, this.#stop.signal);
    this.#maintenance = maintain({ ...this.#options, mediaFolder: join(this.#options.home, 'media'), owner: this.#parts.owner, settings: () => this.#settings, control: this.#parts.control, expireSessions: () => expireSessions({ store, log, hooks: this.#parts.hooks, settings: () => this.#settings, signal: this.#stop.signal }), signal: this.#stop.signal });
    // One that serves a single terminal is no gateway that has started.
    if (config.elsewhere === undefined) this.#parts.hooks.emit('gateway:startup', { agent_id: null, platforms: this.#parts.accounts.names(), version: this.#options.version });
  }
}
