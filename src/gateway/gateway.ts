import { join } from 'node:path';
import { newId } from '../core/ids.ts';
import type { InboundEvent } from '../core/message.ts';
import { cronjobTool } from '../agent/tools/cronjob.ts';
import type { CronRunner } from '../cron/runner.ts';
import { keepDirectory } from '../delivery/refresh-directory.ts';
import { Dispatcher } from '../delivery/dispatcher.ts';
import { DeliveryGate } from '../delivery/gate.ts';
import type { Hooks } from '../hooks/hooks.ts';
import { actRecorder } from '../lib/audit-log.ts';
import { SpanExporter } from '../lib/otlp.ts';
import { newChains } from '../lib/chains.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Redactor } from '../lib/redact.ts';
import type { Platform, Webhook } from '../platforms/contract.ts';
import { routedAgent } from '../routing/select-agent.ts';
import type { BegunTurn } from '../sessions/begin.ts';
import { Conversations } from '../sessions/lanes.ts';
import type { FinishedTurn, RunningNow } from '../sessions/lanes.ts';
import type { SpokenAnswers } from '../sessions/media/spoken-answers.ts';
import type { AccountStatus } from '../store/accounts.ts';
import { expediteDeferred } from '../store/agent-lanes.ts';
import { buryGateways, forgetNode, registerNode } from '../store/nodes.ts';
import type { Store } from '../store/store.ts';
import { Accounts } from './accounts.ts';
import { beginPolicy, sharingOf } from './begin-policy.ts';
import { newCourtesies } from './courtesies.ts';
import type { Courtesies } from './courtesies.ts';
import { finishedLine } from './finished-line.ts';
import { isOwner } from './is-owner.ts';
import { keepAlways } from './keep-always.ts';
import { spendLimitsDiffer } from './agents/agent-limits.ts';
import { Agents } from './agents/agents.ts';
import { lookAfterSessions } from './agents/after-sessions.ts';
import { expireSessions } from './expire-sessions.ts';
import { newSharedParts } from './agents/shared-parts.ts';
import { SingleTurns } from './agents/single-turns.ts';
import { newAnswering } from './answering.ts';
import { ApiGate } from './api/api-gate.ts';
import { CallHub } from './api/call-hub.ts';
import { RunLog } from './api/run-log.ts';
import { wishesOfCall } from './api/wishes-of-call.ts';
import type { InboxDeps, Outcome } from './arrival.ts';
import { ControlLane } from './control.ts';
import { cronRules, newCronRunner } from './cron.ts';
import { Handoffs } from './handoff/handoffs.ts';
import { holdAgain } from './hold.ts';
import { openHooks } from './hooks/open-hooks.ts';
import { screenSent } from './hooks/screen-sent.ts';
import { newTurnHooks } from './hooks/turn-hooks.ts';
import type { TurnHooks } from './hooks/turn-hooks.ts';
import { acceptEvent } from './inbox.ts';
import { maintain } from './maintain.ts';
import { newMediaParts } from './media-parts.ts';
import { childEnvironmentOf, newReach } from './reach.ts';
import type { ReachOptions } from './reach.ts';
import { reportRestarts } from './report-restarts.ts';
import { gatewayMetrics } from './metrics.ts';
import type { GatewayMetrics } from './metrics.ts';
import type { GatewayConfig, GatewaySettings } from './settings.ts';
import { newTraces } from './traces.ts';
import type { Traces } from './traces.ts';
import { tellPaused } from './tell-paused.ts';
import { visibleProgress } from './visible.ts';

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

const sendTimeoutMs = 30_000;
const courtesyTimeoutMs = 10_000;

/** The whole gateway but for its doors (HTTP, terminal): everything is put together here and nowhere else. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #owner: string;
  readonly #accounts: Accounts;
  readonly #control: ControlLane;
  readonly #dispatcher: Dispatcher;
  readonly #conversations: Conversations;
  readonly #handoffs: Handoffs;
  readonly #cron: CronRunner;
  readonly #agents: Agents;
  readonly #spoken: SpokenAnswers;
  readonly #hooks: Hooks;
  readonly #turnHooks: TurnHooks;
  /** For the HTTP door. */
  readonly api: ApiGate;
  readonly #calls: CallHub;
  readonly #runLog: RunLog;
  readonly #singles: SingleTurns;
  readonly #counts: GatewayMetrics;
  readonly #courtesies: Courtesies;
  readonly #exporter: SpanExporter | undefined;
  readonly #traces: Traces | undefined;
  readonly #stop = new AbortController();
  /** Commands that an ended process left behind come before whatever arrives now. */
  readonly #recovered = Promise.withResolvers<void>();
  #settings: GatewaySettings;
  #maintenance: Promise<void> | undefined;
  #lookingAfter: Promise<void> | undefined;
  #directory: Promise<void> | undefined;

  static async start(options: GatewayOptions): Promise<Gateway> {
    const gate = await DeliveryGate.open(options);
    const gateway = new Gateway(options, gate);
    await gateway.#start();
    return gateway;
  }

  private constructor(options: GatewayOptions, gate: DeliveryGate) {
    const { store, clock, log } = options;
    this.#options = options;
    this.#settings = options.config.settings;
    this.#owner = newId('node', clock.now());
    const mediaFolder = join(options.home, 'media');
    this.#accounts = new Accounts({
      platforms: options.platforms,
      store,
      owner: this.#owner,
      clock,
      log,
      home: options.home,
      mediaFolder,
      ...(options.lockFolder !== undefined && { lockFolder: options.lockFolder }),
      takesOver: !options.alone,
      redact: (text) => options.redactor.redact(text),
      accept: async (event) => {
        await this.#recovered.promise;
        return acceptEvent(inbox, event);
      },
      onUsable: (account) => void this.#onUsable(account),
      onConnected: (account, adapter) => void this.#courtesies.publishMenu(account, adapter),
    });
    const { otlp_endpoint: endpoint, otlp_headers: headers, service_name: service } = this.#settings.telemetry;
    if (endpoint !== undefined) this.#exporter = new SpanExporter({ endpoint, headers, service, version: options.version }, log);
    if (this.#exporter !== undefined) this.#traces = newTraces({ exporter: this.#exporter, store, clock, log });
    this.#courtesies = newCourtesies({ log, accounts: this.#accounts, settings: () => this.#settings, signal: this.#stop.signal });
    this.#counts = gatewayMetrics(options.metrics, { store, clock, accounts: () => this.#accounts.status() });
    const childEnvironment = childEnvironmentOf(options.outside ?? {}, () => this.#settings);
    this.#hooks = openHooks({ ...options, childEnvironment, settings: () => this.#settings, account: (name) => this.#accounts.find(name), accounts: () => this.#accounts.names() });
    this.#turnHooks = newTurnHooks(this.#hooks, store);
    const shared = { store, clock, log, hooks: this.#hooks, settings: () => this.#settings, account: (name: string) => this.#accounts.find(name) };
    const parts = newSharedParts({ ...shared, home: options.home, version: options.version, redact: (text) => options.redactor.redact(text), childEnvironment, owner: this.#owner });
    const targets = {
      platforms: () => options.platforms,
      accounts: () => this.#accounts.status().map(({ account }) => account),
      account: (name: string) => this.#accounts.find(name),
      aliases: () => this.#settings.channels.aliases,
    };
    const cron = { targets, agents: { get: (id: string) => this.#agents.get(id), peek: (id: string) => this.#agents.peek(id) }, settings: () => this.#settings };
    const rules = cronRules(cron);
    this.#agents = new Agents({
      ...shared,
      targets,
      ways: { platform: (account) => this.#accounts.platform(account), sendsFiles: (account) => this.#accounts.adapter(account)?.media !== undefined },
      home: options.home,
      mediaFolder,
      version: options.version,
      owner: this.#owner,
      redactor: options.redactor,
      shared: parts,
      childEnvironment,
      outside: options.outside ?? {},
      keepAlways: (patterns) => keepAlways(options.outside?.changeSetting, this.#settings.command_allowlist, patterns),
      screenSent: (text, to, context) => screenSent(this.#hooks, { text, to, context }),
      isOwner: (person) => isOwner(this.#accounts, person),
      moreTools: (approve) => [cronjobTool({ store, rules, approve, isOwner: (person) => isOwner(this.#accounts, person) })],
    });
    this.#calls = new CallHub();
    this.#runLog = new RunLog(shared);
    this.#singles = new SingleTurns(shared);
    this.api = new ApiGate({ ...shared, agents: this.#agents, mediaFolder, hub: this.#calls, singles: this.#singles, jobs: rules });
    this.#cron = newCronRunner({ ...shared, ...cron, owner: this.#owner, childEnvironment, prepare: async (text, { account, agent }, signal) => (await this.#agents.get(agent)).prepare(text, { account }, signal) });
    const reach = newReach({ cron: rules, mediaFolder, redact: (text) => options.redactor.redact(text), settings: () => this.#settings, adapter: (account) => this.#accounts.adapter(account), agents: this.#agents, mcp: parts.mcp, hooks: this.#hooks, processes: parts.processes, helpers: (sessionId) => parts.delegations.of(sessionId), outside: options.outside ?? {} });
    const audit = actRecorder(options.outside?.audit ?? (() => undefined), log);
    this.#control = new ControlLane({ ...shared, audit, version: options.version, owner: this.#owner, reach, platform: (account) => this.#accounts.platform(account), asks: () => this.#settings.approvals.destructive_slash_confirm });
    const inbox: InboxDeps = { ...shared, audit, targets, order: newChains(), findSkill: async (agent, name) => (await this.#agents.get(agent)).skills.find(name), skills: (agent) => this.#agents.peek(agent)?.skills.shelf.skills, isBusy: (sessionId) => parts.processes.hasLive(sessionId), onControl: (id) => this.#control.submit(id), onAccepted: (event, outcome) => this.#onAccepted(event, outcome) };
    this.#handoffs = new Handoffs({
      ...shared,
      owner: this.#owner,
      platforms: () => options.platforms,
      adapter: (account) => this.#accounts.adapter(account),
      sharing: () => sharingOf(this.#settings),
      agentAt: (account, chat) => routedAgent(this.#settings, { account, chat, sender: { id: chat.type === 'dm' ? chat.id : '', isBot: false } }).id,
    });
    this.#dispatcher = new Dispatcher({
      store,
      owner: this.#owner,
      clock,
      log,
      connections: this.#accounts,
      gate,
      maxAgeMs: this.#settings.store.delivery_hours * 3_600_000,
      sendTimeoutMs,
      redact: (text) => options.redactor.redact(text),
      onOutcome: (outcome) => {
        this.#counts.delivered(outcome);
        this.#traces?.onDelivered(outcome);
      },
    });
    const visible = visibleProgress({ ...shared, gate, connections: this.#accounts, common: (account) => this.#accounts.find(account)?.common });
    const media = newMediaParts({ ...shared, owner: this.#owner, mediaFolder, connections: this.#accounts, agents: this.#agents, accounts: () => this.#accounts.names() });
    this.#spoken = media.spoken;
    this.#conversations = new Conversations({
      store,
      clock,
      log,
      owner: this.#owner,
      concurrency: this.#settings.agent.max_concurrent_turns,
      policy: beginPolicy({ clock, settings: () => this.#settings, accounts: this.#accounts, singles: (agent) => this.#singles.count(agent) }),
      attachments: media.attachments,
      prepare: async (begun, { text, account }, signal) => (this.#agents.peek(begun.session.agent) ?? (await this.#agents.get(begun.session.agent))).prepare(text, { account, sessionId: begun.session.id }, signal),
      answering: newAnswering({ store, agents: this.#agents, apiCall: (begun) => this.#runLog.begins(begun).then(() => wishesOfCall(store, begun)), runQuestions: (begun) => this.#runLog.questionsOf(begun), hooks: this.#turnHooks, platform: (account) => this.#accounts.platform(account), platforms: () => this.#accounts.labels() }),
      ...visible,
      onEvent: (begun, event) => {
        visible.onEvent(begun, event);
        this.#turnHooks.onEvent(begun, event);
        if (event.type === 'retrying') this.#counts.retried();
        this.#calls.onEvent(begun, event);
        this.#runLog.onEvent(begun, event);
        this.#traces?.onEvent(begun, event);
      },
      onModelCall: (begun, call) => this.#traces?.onModelCall(begun, call),
      told: (begun) => this.#runLog.told(begun),
      screen: (begun, event) => this.#turnHooks.screen(begun, event),
      onFinished: (turn) => this.#onFinished(turn),
    });
  }

  /** Takes new settings and accounts over; what belongs to unchanged accounts goes on undisturbed. */
  async configure(config: GatewayConfig): Promise<void> {
    const before = this.#settings;
    this.#settings = config.settings;
    await this.#agents.configure();
    if (spendLimitsDiffer(before, config.settings)) await this.#options.store.write(expediteDeferred);
    await this.#hooks.configure();
    await this.#accounts.configure(config);
  }

  status(): readonly AccountStatus[] {
    return this.#accounts.status();
  }

  /** Whether it counts as ready only with the account. */
  isRequired(account: string): boolean {
    return this.#accounts.isRequired(account);
  }

  webhook(account: string): Webhook | undefined {
    return this.#accounts.adapter(account)?.webhook;
  }

  /** Whether an account is there, or will be in a moment. */
  expects(account: string): boolean {
    return this.#accounts.expects(account);
  }

  /** Resolves when what arrives for the account is taken, when that is not to be expected, or when the signal says so. */
  untilReceiving(account: string, signal: AbortSignal): Promise<void> {
    return this.#accounts.untilReceiving(account, signal);
  }

  /** Takes accounts that the gateway before this one has let go of. */
  takeAccounts(): void {
    this.#accounts.takeOver({ isLast: false });
  }

  /** The gateway before this one has gone, and its home is ours: what it left, in whatever way it ended, is taken up. */
  async takeOver(): Promise<void> {
    const { store, log } = this.#options;
    await store.write(async (tx) => {
      const freed = store.engine === 'sqlite' ? await buryGateways(tx, this.#owner) : 0;
      if (freed > 0) log.info({ lanes: freed }, 'gateway.recovered');
      await expediteDeferred(tx);
    });
    this.#accounts.takeOver({ isLast: true });
    await this.#agents.takeOver();
    await this.#control.recover();
  }

  get runningTurns(): number {
    return this.#conversations.runningCount;
  }

  /** The turns under way, oldest first. */
  running(): readonly RunningNow[] {
    return this.#conversations.running();
  }

  /** Takes nothing new, lets what runs end for a while, puts the rest down durably. Everything continues after the next start. */
  async stop(options: { /** Chats that are interrupted are told. */ readonly tellChats?: boolean } = {}): Promise<void> {
    this.#stop.abort();
    this.#hooks.emit('gateway:shutdown', { agent_id: null });
    await this.#accounts.stop();
    await this.#control.stop();
    await this.#handoffs.stop();
    const graceMs = this.#settings.agent.restart_drain_timeout * 1000;
    const [suspended] = await Promise.all([this.#conversations.stop(graceMs), this.#cron.stop(graceMs), this.api.stop(graceMs)]);
    if (options.tellChats === true) await this.#tellPaused(suspended);
    this.#calls.close();
    this.#runLog.close();
    await this.#spoken.stop();
    await this.#dispatcher.stop(courtesyTimeoutMs);
    await this.#agents.stop();
    await this.#hooks.stop();
    await this.#traces?.settled();
    await this.#exporter?.stop();
    await this.#maintenance;
    await this.#lookingAfter;
    await this.#directory;
    const { store, log } = this.#options;
    try {
      await store.write((tx) => forgetNode(tx, this.#owner));
    } catch (error) {
      log.error({ err: error }, 'gateway.node_not_forgotten');
    }
  }

  async #tellPaused(suspended: readonly BegunTurn[]): Promise<void> {
    try {
      await tellPaused({ ...this.#options, find: (account) => this.#accounts.find(account) }, suspended);
    } catch (error) {
      this.#options.log.error({ err: error }, 'gateway.chats_not_told');
    }
  }

  async #start(): Promise<void> {
    const { store, alone, log, config } = this.#options;
    await store.write(async (tx) => {
      const freed = alone && store.engine === 'sqlite' ? await buryGateways(tx) : 0;
      if (freed > 0) log.info({ lanes: freed }, 'gateway.recovered');
      await holdAgain(tx);
      // What an agent may spend may have been changed meanwhile.
      await expediteDeferred(tx);
      await registerNode(tx, { id: this.#owner, kind: 'gateway', pid: process.pid });
    });
    await this.#agents.start();
    if (alone) await this.#agents.takeOver();
    await this.#hooks.start();
    await this.#accounts.configure(config);
    await store.write((tx) => reportRestarts(tx, { version: this.#options.version, platform: (account) => this.#accounts.platform(account) }));
    await this.#control.recover();
    this.#recovered.resolve();
    this.#dispatcher.start();
    this.#spoken.start();
    this.#conversations.start();
    this.#handoffs.start();
    this.#cron.start();
    this.#lookingAfter = lookAfterSessions({ store, clock: this.#options.clock, log, agents: this.#agents, settings: () => this.#settings, signal: this.#stop.signal });
    this.#directory = keepDirectory({ store, clock: this.#options.clock, log, directories: () => this.#accounts.directories() }, this.#stop.signal);
    this.#maintenance = maintain({ ...this.#options, mediaFolder: join(this.#options.home, 'media'), owner: this.#owner, settings: () => this.#settings, control: this.#control, expireSessions: () => expireSessions({ store, log, hooks: this.#hooks, settings: () => this.#settings, signal: this.#stop.signal }), signal: this.#stop.signal });
    // One that serves a single terminal is no gateway that has started.
    if (config.elsewhere === undefined) this.#hooks.emit('gateway:startup', { agent_id: null, platforms: this.#accounts.names(), version: this.#options.version });
  }

  async #onUsable(account: string): Promise<void> {
    this.#spoken.wake();
    try {
      await this.#dispatcher.connected(account);
    } catch (error) {
      // They go out a little later, by themselves.
      this.#options.log.warn({ err: error, account }, 'account.deliveries_not_expedited');
    }
  }

  #onAccepted(event: InboundEvent, outcome: Outcome): void {
    this.#counts.accepted(event, outcome);
    if (event.kind === 'button' && outcome.accepted === 'stored') void this.#courtesies.answerPress(event, outcome.pressed);
  }

  #onFinished(turn: FinishedTurn): void {
    this.#counts.finished(turn);
    this.#turnHooks.onFinished(turn);
    this.#calls.onFinished(turn);
    this.#traces?.onFinished(turn);
    this.#options.log.info(finishedLine(turn), 'message.done');
  }
}
