import { mkdir } from 'node:fs/promises';
import type { Approver } from '../../agent/approvals/contract.ts';
import type { Agent } from '../../agent/contract.ts';
import { AgentMemory } from '../../agent/memory/agent-memory.ts';
import { createMemoryProvider } from '../../agent/memory/create-provider.ts';
import { newModels } from '../../agent/models/models.ts';
import type { Models } from '../../agent/models/models.ts';
import { personalityFor, withPersonality } from '../../agent/personalities.ts';
import type { PromptInput } from '../../agent/prompt.ts';
import { sessionOfTurn, streamInSession } from '../../agent/session-context.ts';
import { SkillLibrary } from '../../agent/tools/skills/skill-library.ts';
import { spillResult } from '../../agent/tools/spill-result.ts';
import type { ToolGroup } from '../../agent/tools/toolsets.ts';
import type { Tool, ToolSet } from '../../agent/tools/contract.ts';
import { webTools } from '../../agent/tools/web/web-tools.ts';
import { newAgent } from '../../agent/turn.ts';
import { redactForModel } from '../../agent/redact-for-model.ts';
import { ConfigError } from '../../core/errors.ts';
import type { Target } from '../../core/message.ts';
import type { ResolveDeps } from '../../delivery/resolve-target.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Redactor } from '../../lib/redact.ts';
import { homeOfAgent, missingGround } from '../../routing/agent-home.ts';
import type { SendMessageDeps } from '../../agent/tools/send-message.ts';
import type { BegunTurn } from '../../sessions/begin.ts';
import type { Session } from '../../store/sessions/sessions.ts';
import type { Store } from '../../store/store.ts';
import type { GatewaySettings } from '../settings.ts';
import { outgoingOfAgent } from './outgoing-of-agent.ts';
import type { PrepareOutgoing, WaysOut } from './outgoing-of-agent.ts';
import { AcpOfAgent } from './acp-of-agent.ts';
import { AgentEquipment, groupsInStock } from './equipment.ts';
import type { Stock } from './equipment.ts';
import { passedVariables } from './own-variables.ts';
import type { OwnVariables, VariablesOutside } from './own-variables.ts';
import { promptInputOf } from './prompt-input.ts';
import type { PromptedTurn, PromptPlace, PromptPlatform } from './prompt-input.ts';
import { PromptKeeper } from './prompt-keeper.ts';
import { settingsOfAgent } from './settings-of-agent.ts';
import type { SharedParts } from './shared-parts.ts';
import { AgentSpendMeter, meteredAgent } from './spend-meter.ts';
import type { SpendMeterDeps } from './spend-meter.ts';
import { toolsOfAgent } from './tools-of-agent.ts';
import { workspaceOf } from './work-folders.ts';

export interface RuntimeDeps {
  readonly id: string;
  readonly home: string;
  readonly mediaFolder: string;
  readonly version: string;
  readonly owner: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly redactor: Redactor;
  readonly shared: SharedParts;
  settings(): GatewaySettings;
  /** The agent's own. */
  readonly variables: OwnVariables;
  readonly outside: VariablesOutside;
  childEnvironment(): Readonly<Record<string, string>>;
  keepAlways(patterns: readonly string[]): Promise<string | undefined>;
  /** Tools that need more of the gateway than an agent has. */
  moreTools(approve: Approver): readonly Tool[];
  /** Whether the gateway's owner is this person. */
  isOwner(person: { readonly account: string; readonly userId: string }): boolean;
  readonly targets: ResolveDeps;
  readonly ways: WaysOut;
  /** A call of a model has been answered. */
  readonly onSpent: SpendMeterDeps['onSpent'];
  /** What is really said when an agent writes into another chat. */
  screenSent: SendMessageDeps['screen'];
}

interface Generation {
  /** As they stood when it was made; another object is another configuration. */
  readonly from: GatewaySettings;
  readonly variablesVersion: number;
  readonly settings: GatewaySettings;
  readonly models: Models;
  readonly web: readonly Tool[];
}

/** A call that belongs to no conversation. */
export interface AskedOnce {
  /** Under which its tools know it. */
  readonly sessionId: string;
  readonly userId: string;
  readonly target: Target;
}

const windowPatienceMs = 5_000;

/** Every step of a turn runs in the turn's own context. */
const inSession = (agent: Agent): Agent => ({ run: (input, signal) => streamInSession(sessionOfTurn(input), () => agent.run(input, signal)) });

/** One agent of the gateway: its model, tools, memory and skills. Built once; what the settings change is taken over with the next turn. */
export class AgentRuntime {
  readonly id: string;
  readonly agentHome: string;
  readonly memory: AgentMemory;
  readonly skills: SkillLibrary;
  /** Makes a text of the agent ready to go out, with the files that it names. */
  readonly prepare: PrepareOutgoing;
  readonly #deps: RuntimeDeps;
  readonly #prompts: PromptKeeper;
  readonly #acp: AcpOfAgent;
  readonly #meter: AgentSpendMeter;
  readonly #equipment: AgentEquipment;
  #own: readonly Tool[] = [];
  #generation: Generation;

  static async open(deps: RuntimeDeps): Promise<AgentRuntime> {
    const settings = deps.settings();
    const agentHome = homeOfAgent(deps.home, deps.id, settings.agents[deps.id]);
    const missing = missingGround(deps.home, agentHome);
    if (missing !== undefined) throw new ConfigError(`The agent ${deps.id} cannot work: the folder ${missing}, in which its own lies, is not there. Mount its disk, make the folder, or change agents.${deps.id}.home_dir.`);
    await mkdir(agentHome, { recursive: true, mode: 0o700 });
    const provider = await createMemoryProvider(settings.memory, deps.id);
    const memory = new AgentMemory({
      agent: deps.id,
      home: agentHome,
      options: settings.memory,
      store: deps.store,
      owner: deps.owner,
      clock: deps.clock,
      log: deps.log,
      redact: (text) => deps.redactor.redact(text),
      isOwner: (person) => deps.isOwner(person),
      ...(provider !== undefined && { provider }),
    });
    const runtime = new AgentRuntime(deps, { agentHome, memory });
    await mkdir(workspaceOf({ agentHome, userHome: deps.shared.userHome, settings: () => settings }), { recursive: true, mode: 0o700 });
    await runtime.skills.reload();
    runtime.#own = await toolsOfAgent({
      id: deps.id,
      store: deps.store,
      log: deps.log,
      home: deps.home,
      agentHome,
      mediaFolder: deps.mediaFolder,
      shared: deps.shared,
      memory,
      skills: runtime.skills,
      complete: () => runtime.models.completeText('approval'),
      settings: () => runtime.#current().settings,
      redact: (text) => runtime.redact(text),
      childEnvironment: () => runtime.#childEnvironment(),
      environment: (name) => deps.outside.environment?.(name),
      variable: (name) => deps.variables.get(name),
      keepAlways: (patterns) => deps.keepAlways(patterns),
      moreTools: (approve) => deps.moreTools(approve),
      groupsFor: (account) => runtime.groupsFor(account),
      agentWith: (tools) => inSession(runtime.agentWith(tools)),
      targets: deps.targets,
      prepare: runtime.prepare,
      screenSent: (text, to, context) => deps.screenSent(text, to, context),
      isOwner: (person) => deps.isOwner(person),
    });
    await memory.start();
    return runtime;
  }

  private constructor(deps: RuntimeDeps, own: { agentHome: string; memory: AgentMemory }) {
    this.id = deps.id;
    this.#deps = deps;
    this.agentHome = own.agentHome;
    this.memory = own.memory;
    this.#meter = new AgentSpendMeter({ agent: deps.id, store: deps.store, clock: deps.clock, log: deps.log, onSpent: deps.onSpent, limitUsd: () => deps.settings().agents[deps.id]?.daily_spend_usd });
    this.#generation = this.#generate(deps.settings());
    this.skills = new SkillLibrary({ home: own.agentHome, userHome: deps.shared.userHome, options: () => deps.settings().skills, log: deps.log });
    this.#prompts = new PromptKeeper(deps.store, deps.clock);
    this.#equipment = new AgentEquipment({ id: deps.id, stock: () => this.#stock(), agentWith: (tools) => inSession(this.agentWith(tools)) });
    const { userHome } = deps.shared;
    this.prepare = outgoingOfAgent({ ...deps, agentHome: own.agentHome, userHome, settings: () => this.settings, workspace: () => this.#workspace(), workdir: (sessionId) => (sessionId === undefined ? undefined : deps.shared.folders.of(sessionId)) ?? this.#workspace() });
    this.#acp = new AcpOfAgent({ ...deps, agentHome: own.agentHome, userHome, childEnvironment: () => this.#childEnvironment() });
  }

  async stop(): Promise<void> {
    await this.#acp.stop();
    await this.memory.stop();
    await this.#meter.settle();
  }

  get models(): Models {
    return this.#current().models;
  }

  get settings(): GatewaySettings {
    return this.#current().settings;
  }

  /** The tools that the agent has for an account, by toolset. */
  groupsFor(account: string): readonly ToolGroup[] {
    return this.#equipment.at(account).groups;
  }

  /** Where the agent stands in a conversation. */
  folderOf({ id, settings }: Pick<Session, 'id' | 'settings'>): { readonly folder: string; readonly userFolder: string } {
    const { shared } = this.#deps;
    return { folder: shared.folders.of(id) ?? settings.workdir ?? this.#workspace(), userFolder: shared.userHome };
  }

  /** Everything that could be selected. */
  get allGroups(): readonly ToolGroup[] {
    return groupsInStock(this.#stock());
  }

  /** Who answers at a place, and what that costs of the model's window. */
  answererFor(account: string, only?: readonly string[]): { readonly agent: Agent; readonly toolBytes: number } {
    const acp = this.#acp.agent();
    return acp === undefined ? this.#equipment.at(account, only) : { agent: inSession(meteredAgent(acp, this.#meter)), toolBytes: 0 };
  }

  /** The agent is another program, which looks after its own context. */
  get isOtherProgram(): boolean {
    return this.#acp.agent() !== undefined;
  }

  /** The system prompt of a conversation. */
  async promptFor(begun: BegunTurn, place: { platform: PromptPlatform | undefined; connected: readonly string[] }): Promise<string> {
    const { session, turn } = begun;
    const equipment = this.#equipment.at(turn.target.account, session.settings.toolsets);
    const names = equipment.tools.definitions.map(({ name }) => name);
    const stamp = JSON.stringify([place.platform?.name, session.chatType, session.userId, place.connected, names, session.settings.workdir, this.settings.privacy.redact_pii]);
    const system = await this.#prompts.promptFor(session.id, stamp, () => this.#promptInput(begun, { ...place, names, groups: equipment.groups, workdir: session.settings.workdir }));
    return withPersonality(system, personalityFor(this.settings.agent, session.settings.personality));
  }

  /** The system prompt of a call that belongs to no conversation. */
  promptOnce(asked: AskedOnce, platform: PromptPlatform): Promise<string> {
    const { groups, tools } = this.#equipment.at(asked.target.account);
    const names = tools.definitions.map(({ name }) => name);
    const begun = { session: { id: asked.sessionId, agent: this.id, account: asked.target.account, userId: asked.userId, chatType: asked.target.chatType }, turn: { target: asked.target }, last: undefined };
    return this.#prompts.promptOnce(JSON.stringify([asked.target.account, asked.userId, names]), () => this.#promptInput(begun, { platform, connected: [], names, groups }));
  }

  /** Without anything that a model may not have. */
  redact(text: string): string {
    return redactForModel(this.#deps.redactor, text);
  }

  #generate(from: GatewaySettings): Generation {
    const { id, clock, log, mediaFolder, shared } = this.#deps;
    const { variables } = this.#deps;
    const settings = settingsOfAgent(from, id, (name) => variables.get(name) ?? this.#deps.outside.environment?.(name));
    const models = newModels(settings, { clock, log, mediaFolder, lists: shared.lists, notes: shared.notes, meter: this.#meter });
    void models.lookUpWindow(AbortSignal.timeout(windowPatienceMs));
    return { from, variablesVersion: variables.version, settings, models, web: webTools(settings.web, { clock }) };
  }

  #current(): Generation {
    const now = this.#deps.settings();
    if (this.#generation.from !== now || this.#generation.variablesVersion !== this.#deps.variables.version) this.#generation = this.#generate(now);
    return this.#generation;
  }

  #stock(): Stock {
    const generation = this.#current();
    return { generation, settings: generation.settings, tools: this.#own, web: generation.web, mcp: this.#deps.shared.mcp.groups() };
  }

  /** The agent's model with other tools than its own. */
  agentWith(tools: ToolSet): Agent {
    const { clock, log, home } = this.#deps;
    const { settings, models } = this.#current();
    const { max_retries: maxRetries, max_output_tokens: maxOutputTokens } = settings.model;
    return newAgent({
      ...models.main,
      fallbacks: models.fallbacks,
      tools,
      clock,
      log,
      maxRetries,
      finishResult: (text, call) => spillResult(this.redact(text), { home, ...call }),
      onWindow: (model, tokens) => models.learnWindow(model, tokens),
      ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    });
  }

  #promptInput(begun: PromptedTurn, place: PromptPlace): Promise<PromptInput> {
    const { home, shared } = this.#deps;
    const { id, agentHome, settings, memory, skills } = this;
    return promptInputOf({ id, home, userHome: shared.userHome, agentHome, workspace: this.#workspace(), settings, memory, skills }, begun, place);
  }

  /** What the agent's programs get. */
  #childEnvironment(): Readonly<Record<string, string>> {
    const deps = this.#deps;
    return { ...deps.childEnvironment(), ...passedVariables(deps.settings(), deps.id, deps.variables) };
  }

  #workspace(): string {
    return workspaceOf({ agentHome: this.agentHome, userHome: this.#deps.shared.userHome, settings: () => this.settings });
  }
}
