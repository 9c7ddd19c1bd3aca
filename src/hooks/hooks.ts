import { consult } from './consult.ts';
import type { Consulted, Matter } from './consult.ts';
import type { BrokenHook } from './discover.ts';
import { exactness, isDecidable } from './events.ts';
import type { CommandContext, ContextOf, HookEvent, InboundContext, OutboundContext, SelectAgentContext } from './events.ts';
import type { LoadedHook } from './loaded-hook.ts';
import { loadHooks } from './load-hooks.ts';
import type { HookSet, LoadDeps } from './load-hooks.ts';
import { agentMatter, commandMatter, inboundMatter, outboundMatter } from './matters.ts';
import type { CommandVerdict, TextVerdict } from './matters.ts';
import type { HookReport, Observer } from './observer.ts';

export interface HooksReport {
  readonly hooks: readonly HookReport[];
  readonly broken: readonly BrokenHook[];
}

const nothing: HookSet = { hooks: [], webhooks: [], broken: [], disabled: [] };
const reloadGraceMs = 10_000;
const stopGraceMs = 5_000;

const sees = (agent: string | undefined, event: { readonly agent_id: string | null }): boolean => agent === undefined || event.agent_id === agent;

/**
 * Users' code at named points. Telling hooks takes no time and cannot fail; asking them takes as long as they may take, and answers what holds without them when they
 * give no answer.
 */
export class Hooks {
  readonly #deps: LoadDeps;
  #set: HookSet = nothing;
  #loadedFrom = '';
  #loading: Promise<void> = Promise.resolve();
  readonly #leaving = new Set<Promise<void>>();

  constructor(deps: LoadDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    await this.reload();
  }

  /** Reads all hooks anew. One that was fine and is broken now stays as it was. */
  reload(): Promise<HooksReport> {
    const loading = this.#loading.then(() => this.#reload());
    this.#loading = loading.then(() => undefined);
    return loading.then(() => this.report());
  }

  /** The settings have changed: reads hooks anew if these are about hooks. */
  async configure(): Promise<void> {
    if (this.#source() !== this.#loadedFrom) await this.reload();
  }

  /** Lets hooks hear the last of it, then ends them. */
  async stop(): Promise<void> {
    await this.#loading;
    this.#dismiss([...this.#set.hooks, ...this.#set.webhooks], stopGraceMs);
    this.#set = nothing;
    await Promise.all(this.#leaving);
  }

  report(): HooksReport {
    return { hooks: [...this.#set.hooks, ...this.#set.webhooks].map((hook) => hook.report()), broken: this.#set.broken };
  }

  /** Whether there is anybody at all who could be told or asked, but for what comes with the gateway. */
  get inUse(): boolean {
    return this.#set.hooks.length > this.#deps.builtins.length || this.#set.webhooks.length > 0;
  }

  /** Tells whoever watches. Hooks of an agent hear of what concerns everybody as well, as if it were about them alone. */
  emit<Event extends HookEvent>(event: Event, context: ContextOf<Event>): void {
    for (const observer of this.#observersOf(event)) {
      if (context.agent_id === null && observer.agent !== undefined) observer.observe(event, { ...context, agent_id: observer.agent });
      else if (sees(observer.agent, context)) observer.observe(event, context);
    }
  }

  /** Whether anybody would be asked about this. */
  decides(event: HookEvent, agent: string): boolean {
    return this.#decidersOf(event, agent).length > 0;
  }

  async command(context: CommandContext): Promise<Consulted<CommandVerdict>> {
    const consulted = await this.#consult(commandMatter(context), context);
    this.emit(`command:${context.command}`, { ...context, decision: consulted.state.type, decided_by: consulted.by });
    return consulted;
  }

  async inbound(context: InboundContext): Promise<Consulted<TextVerdict>> {
    const consulted = await this.#consult(inboundMatter(context), context);
    this.emit('message:inbound', { ...context, ...decided(context, consulted) });
    return consulted;
  }

  async outbound(context: OutboundContext): Promise<Consulted<TextVerdict>> {
    const consulted = await this.#consult(outboundMatter(context), context);
    this.emit('message:outbound', { ...context, ...decided(context, consulted) });
    return consulted;
  }

  /** An agent's own hooks are not asked: none may take messages from another. */
  async selectAgent(context: SelectAgentContext): Promise<Consulted<{ readonly agent?: string }>> {
    const consulted = await consult(this.#decidersOf('select_agent', undefined), agentMatter(context), this.#deps.clock);
    this.emit('select_agent', { ...context, decision: consulted.state.agent ?? 'none', decided_by: consulted.by });
    return consulted;
  }

  #consult<State, Answer extends object>(matter: Matter<State, Answer>, context: { readonly agent_id: string }): Promise<Consulted<State>> {
    return consult(this.#decidersOf(matter.event, context.agent_id), matter, this.#deps.clock);
  }

  /** Those who name the event itself come before those who name its kind. */
  #decidersOf(event: string, agent: string | undefined): readonly LoadedHook[] {
    const ranked = this.#set.hooks.flatMap((hook) => {
      const rank = hook.manifest.kind === 'decide' && (hook.agent === undefined || hook.agent === agent) ? exactness(hook.events, event) : undefined;
      return rank === undefined ? [] : [{ hook, rank }];
    });
    return ranked.toSorted((a, b) => a.rank - b.rank).map(({ hook }) => hook);
  }

  #observersOf(event: string): readonly Observer[] {
    const asked = isDecidable(event);
    const watching = this.#set.hooks.filter(({ manifest }) => !asked || manifest.kind === 'observe');
    // Whose message it is was not certain when this was asked.
    const mayHear = (agent: string | undefined): boolean => event !== 'select_agent' || agent === undefined;
    return [...watching, ...this.#set.webhooks].filter(({ events, agent }) => exactness(events, event) !== undefined && mayHear(agent));
  }

  #source(): string {
    return JSON.stringify([this.#deps.folders(), this.#deps.webhooks()]);
  }

  async #reload(): Promise<void> {
    const before = this.#set;
    this.#loadedFrom = this.#source();
    const loaded = await loadHooks(this.#deps, before.webhooks);
    const kept = before.hooks.filter(({ id }) => loaded.broken.some((broken) => broken.id === id));
    const isKept = ({ id }: LoadedHook): boolean => kept.some((hook) => hook.id === id);
    this.#set = { ...loaded, hooks: [...loaded.hooks.filter((hook) => !isKept(hook)), ...kept].toSorted(inOrder) };
    for (const { id, folder, problem } of loaded.broken) this.#deps.log.error({ hook: id, folder, problem, kept: kept.some((hook) => hook.id === id) }, 'hook.broken');
    this.#deps.log.info({ hooks: this.#set.hooks.map(({ id }) => id), webhooks: loaded.webhooks.map(({ id }) => id), disabled: loaded.disabled }, 'hooks.loaded');
    this.#dismiss([...before.hooks.filter((hook) => !kept.includes(hook)), ...loaded.hooks.filter(isKept), ...before.webhooks.filter((webhook) => !loaded.webhooks.includes(webhook))], reloadGraceMs);
  }

  /** Ends hooks beside everything else; they may tell what they still have to tell. */
  #dismiss(observers: readonly Observer[], graceMs: number): void {
    const leaving = Promise.all(observers.map((observer) => observer.close(graceMs))).then(
      () => undefined,
      (error: unknown) => this.#deps.log.error({ err: error }, 'hooks.not_ended'),
    );
    this.#leaving.add(leaving);
    void leaving.finally(() => this.#leaving.delete(leaving));
  }
}

/** The gateway's own before those of agents, then by name. */
const inOrder = (a: LoadedHook, b: LoadedHook): number => Number(a.agent !== undefined) - Number(b.agent !== undefined) || (a.id < b.id ? -1 : 1);

const decided = (context: { readonly text: string }, { state, by }: Consulted<TextVerdict>): { readonly text: string; readonly decision: string; readonly decided_by: string | null } => {
  const decision = state.type === 'drop' ? 'drop' : state.text === context.text ? 'pass' : 'replace';
  return { text: state.type === 'pass' ? state.text : context.text, decision, decided_by: by };
};
