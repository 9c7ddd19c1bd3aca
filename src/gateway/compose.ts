import { join } from 'node:path';
import { newId } from '../core/ids.ts';
import type { InboundEvent } from '../core/message.ts';
import { cronjobTool } from '../agent/tools/cronjob.ts';
import { Dispatcher } from '../delivery/dispatcher.ts';
import type { DeliveryGate } from '../delivery/gate.ts';
import { actRecorder } from '../lib/audit-log.ts';
import { SpanExporter } from '../lib/otlp.ts';
import { newChains } from '../lib/chains.ts';
import { routedAgent } from '../routing/select-agent.ts';
import { Conversations } from '../sessions/lanes.ts';
import type { FinishedTurn } from '../sessions/lanes.ts';
import { SessionTitles } from '../sessions/titles/session-titles.ts';
import { Accounts } from './accounts.ts';
import { sharingOf, turnPolicy } from './turn-policy.ts';
import { newContinuations } from './continuations.ts';
import { newCourtesies } from './courtesies.ts';
import { finishedLine } from './finished-line.ts';
import { isOwner } from './is-owner.ts';
import { keepAlways } from './keep-always.ts';
import { Agents } from './agents/agents.ts';
import { newSharedParts } from './agents/shared-parts.ts';
import { SingleTurns } from './agents/single-turns.ts';
import { titlerOfAgent } from './agents/titler-of-agent.ts';
import { newAnswering } from './answering.ts';
import { ApiGate } from './api/api-gate.ts';
import { CallHub } from './api/call-hub.ts';
import { RunLog } from './api/run-log.ts';
import { wishesOfCall } from './api/wishes-of-call.ts';
import type { InboxDeps, Outcome } from './arrival.ts';
import { ControlLane } from './control.ts';
import { jobFolders } from './agents/job-folders.ts';
import { cronRules, newCronRunner } from './cron.ts';
import { Handoffs } from './handoff/handoffs.ts';
import { openHooks } from './hooks/open-hooks.ts';
import { screenSent } from './hooks/screen-sent.ts';
import { newTurnHooks } from './hooks/turn-hooks.ts';
import { acceptEvent } from './inbox.ts';
import { moveChat } from './move-chat.ts';
import { nameChats } from './name-chats.ts';
import { newMediaParts } from './media-parts.ts';
import { childEnvironmentOf, newReach } from './reach.ts';
import { gatewayMetrics } from './metrics.ts';
import type { GatewaySettings } from './settings.ts';
import { newTraces, otlpOptionsOf } from './traces.ts';
import { visibleProgress } from './visible.ts';

import type { GatewayOptions } from './gateway.ts';

const sendTimeoutMs = 30_000;

export interface ComposeContext {
  readonly gate: DeliveryGate;
  /** Those in force now. */
  settings(): GatewaySettings;
  /** Ends what goes on beside everything else. */
  readonly signal: AbortSignal;
}

/** Everything that a gateway is made of, put together here and nowhere else, and not yet started. The parts need each other: what one asks of another it asks when it is at work. */
export const composeGateway = (options: GatewayOptions, { gate, settings, signal }: ComposeContext) => {
  /** Commands that an ended process left behind come before whatever arrives now. */
  const recovered = Promise.withResolvers<void>();
  const { store, clock, log } = options;
  const owner = newId('node', clock.now());
  const mediaFolder = join(options.home, 'media');
  const accounts = new Accounts({
    platforms: options.platforms,
    store,
    owner,
    clock,
    log,
    home: options.home,
    mediaFolder,
    ...(options.lockFolder !== undefined && { lockFolder: options.lockFolder }),
    takesOver: !options.alone,
    redact: (text) => options.redactor.redact(text),
    accept: async (event) => {
      await recovered.promise;
      return acceptEvent(inbox, event);
    },
    moved: async (account, move) => {
      await recovered.promise;
      await moveChat(inbox, account, move);
    },
    onUsable: (account) => void onUsable(account),
    onConnected: (account, adapter) => void courtesies.publishMenu(account, adapter),
  });
  const otlp = otlpOptionsOf(settings().telemetry, options.version);
  for (const value of Object.values(otlp?.headers ?? {})) options.redactor.remember(value);
  const exporter = otlp === undefined ? undefined : new SpanExporter(otlp, log);
  const traces = exporter === undefined ? undefined : newTraces({ exporter, store, clock, log });
  const courtesies = newCourtesies({ log, accounts, settings, signal });
  const naming = store.listen('titled', (sessionId) => void nameChats({ store, clock, log, accounts, gate, signal }, sessionId));
  signal.addEventListener('abort', () => naming[Symbol.dispose](), { once: true });
  const counts = gatewayMetrics(options.metrics, { store, clock, accounts: () => accounts.status() });
  const childEnvironment = childEnvironmentOf(options.outside ?? {}, settings);
  const hooks = openHooks({ ...options, childEnvironment, settings, account: (name) => accounts.find(name), accounts: () => accounts.names() });
  const turnHooks = newTurnHooks(hooks, store);
  const shared = { store, clock, log, hooks, settings, account: (name: string) => accounts.find(name) };
  const parts = newSharedParts({ ...shared, home: options.home, version: options.version, redact: (text) => options.redactor.redact(text), childEnvironment, owner });
  const targets = {
    platforms: () => options.platforms,
    accounts: () => accounts.status().map(({ account }) => account),
    account: (name: string) => accounts.find(name),
    aliases: () => settings().channels.aliases,
  };
  const jobs = { targets, agents: { get: (id: string) => agents.get(id), peek: (id: string) => agents.peek(id) }, settings, findFolder: jobFolders({ home: options.home, userHome: parts.userHome, settings }) };
  const rules = cronRules(jobs);
  const audit = actRecorder(options.outside?.audit ?? (() => undefined), log);
  const agents = new Agents({
    ...shared,
    targets,
    ways: { platform: (account) => accounts.platform(account), sendsFiles: (account) => accounts.adapter(account)?.media !== undefined },
    home: options.home,
    mediaFolder,
    version: options.version,
    owner,
    redactor: options.redactor,
    shared: parts,
    childEnvironment,
    outside: options.outside ?? {},
    keepAlways: (patterns) => keepAlways(options.outside?.changeSetting, settings().command_allowlist, patterns),
    screenSent: (text, to, context) => screenSent(hooks, { text, to, context }),
    isOwner: (person) => isOwner(accounts, person),
    onSpent: counts.spent,
    moreTools: (approve) => [cronjobTool({ store, rules, approve, audit, isOwner: (person) => isOwner(accounts, person) })],
  });
  const calls = new CallHub();
  const runLog = new RunLog(shared);
  const singles = new SingleTurns(shared);
  const api = new ApiGate({ ...shared, agents, mediaFolder, hub: calls, singles, jobs: rules, audit });
  const cron = newCronRunner({ ...shared, ...jobs, owner, childEnvironment, prepare: async (text, { account, agent }, signal) => (await agents.get(agent)).prepare(text, { account }, signal) });
  const reach = newReach({ cron: rules, mediaFolder, redact: (text) => options.redactor.redact(text), settings, adapter: (account) => accounts.adapter(account), agents, mcp: parts.mcp, hooks, processes: parts.processes, helpers: (sessionId) => parts.delegations.of(sessionId), outside: options.outside ?? {} });
  const control = new ControlLane({ ...shared, audit, version: options.version, owner, reach, platform: (account) => accounts.platform(account), asks: () => settings().approvals.destructive_slash_confirm });
  const inbox: InboxDeps = { ...shared, audit, targets, continuations: newContinuations(), order: newChains(), findSkill: async (agent, name) => (await agents.get(agent)).skills.find(name), skills: (agent) => agents.peek(agent)?.skills.shelf.skills, onControl: (id) => control.submit(id), onAccepted: (event, outcome) => onAccepted(event, outcome) };
  const handoffs = new Handoffs({
    ...shared,
    owner,
    platforms: () => options.platforms,
    adapter: (account) => accounts.adapter(account),
    sharing: () => sharingOf(settings()),
    agentAt: (account, chat) => routedAgent(settings(), { account, chat, sender: { id: chat.type === 'dm' ? chat.id : '', isBot: false } }).id,
  });
  const dispatcher = new Dispatcher({
    store,
    owner,
    clock,
    log,
    connections: accounts,
    gate,
    maxAgeMs: settings().store.delivery_hours * 3_600_000,
    sendTimeoutMs,
    redact: (text) => options.redactor.redact(text),
    onOutcome: (outcome) => {
      counts.delivered(outcome);
      traces?.onDelivered(outcome);
    },
  });
  const visible = visibleProgress({ ...shared, gate, connections: accounts, common: (account) => accounts.find(account)?.common });
  const media = newMediaParts({ ...shared, owner, mediaFolder, connections: accounts, agents, accounts: () => accounts.names() });
  const spoken = media.spoken;
  const titles = new SessionTitles({ store, clock, log, owner, titler: async (agent) => titlerOfAgent(await agents.get(agent)) });
  const conversations = new Conversations({
    store,
    clock,
    log,
    owner,
    concurrency: settings().agent.max_concurrent_turns,
    policy: turnPolicy({ clock, settings, accounts, singles: (agent) => singles.count(agent) }),
    attachments: media.attachments,
    prepare: async (begun, { text, account }, signal) => (agents.peek(begun.session.agent) ?? (await agents.get(begun.session.agent))).prepare(text, { account, sessionId: begun.session.id }, signal),
    answering: newAnswering({ store, agents, apiCall: (begun) => runLog.begins(begun).then(() => wishesOfCall(store, begun)), runQuestions: (begun) => runLog.questionsOf(begun), hooks: turnHooks, platform: (account) => accounts.platform(account), platforms: () => accounts.labels() }),
    ...visible,
    onEvent: (begun, event) => {
      visible.onEvent(begun, event);
      turnHooks.onEvent(begun, event);
      if (event.type === 'retrying') counts.retried();
      calls.onEvent(begun, event);
      runLog.onEvent(begun, event);
      traces?.onEvent(begun, event);
    },
    onModelCall: (begun, call) => traces?.onModelCall(begun, call),
    told: (begun) => runLog.told(begun),
    screen: (begun, event) => turnHooks.screen(begun, event),
    onFinished: (turn) => onFinished(turn),
  });
  const onUsable = async (account: string): Promise<void> => {
    spoken.wake();
    try {
      await dispatcher.connected(account);
    } catch (error) {
      // They go out a little later, by themselves.
      log.warn({ err: error, account }, 'account.deliveries_not_expedited');
    }
  };
  const onAccepted = (event: InboundEvent, outcome: Outcome): void => {
    counts.accepted(event, outcome);
    if (event.kind === 'button' && outcome.accepted === 'stored') void courtesies.answerPress(event, outcome.pressed);
  };
  const onFinished = (turn: FinishedTurn): void => {
    counts.finished(turn);
    turnHooks.onFinished(turn);
    calls.onFinished(turn);
    traces?.onFinished(turn);
    log.info(finishedLine(turn), 'message.done');
  };
  return { owner, accounts, control, dispatcher, conversations, handoffs, cron, agents, spoken, titles, hooks, api, calls, runLog, exporter, traces, recovered };
};

export type ComposedGateway = ReturnType<typeof composeGateway>;
