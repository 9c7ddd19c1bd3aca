import { dirname } from 'node:path';
import { consult } from './consult.ts';
import type { Consulted, Matter } from './consult.ts';
import type { BrokenHook } from './discover.ts';
import type { CommandContext, ContextOf, HookEvent, InboundContext, OutboundContext, SelectAgentContext } from './events.ts';
import type { LoadedHook } from './loaded-hook.ts';
import { loadHooks } from './load-hooks.ts';
import type { HookSet, LoadDeps } from './load-hooks.ts';
import { agentMatter, commandMatter, inboundMatter, outboundMatter } from './matters.ts';
import type { CommandVerdict, TextVerdict } from './matters.ts';
import type { HookReport, Observer } from './observer.ts';
import { decidersOf, observersOf } from './select-hooks.ts';

export interface HooksReport {
  readonly hooks: readonly HookReport[];
  readonly broken: readonly BrokenHook[];
}

const nothing: HookSet = { hooks: [], webhooks: [], broken: [], disabled: [] };
const reloadGraceMs = 10_000;
const stopGraceMs = 5_000;

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
    const over = (): void => undefined;
    this.#loading = loading.then(over, over);
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

  /** Tells whoever watches. */
  emit<Event extends HookEvent>(event: Event, context: ContextOf<Event>): void {
    for (const { observer, agent } of observersOf(this.#set, event, context.agent_id)) observer.observe(event, agent === context.agent_id ? context : { ...context, agent_id: agent });
  }

  /** Whether anybody would be asked about this. */
  decides(event: HookEvent, agent: string): boolean {
    return decidersOf(this.#set, event, agent).length > 0;
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

  async selectAgent(context: SelectAgentContext): Promise<Consulted<{ readonly agent?: string }>> {
    const consulted = await this.#consult(agentMatter(context), context);
    this.emit('select_agent', { ...context, decision: consulted.state.agent ?? 'none', decided_by: consulted.by });
    return consulted;
  }

  async #consult<State, Answer extends object>(matter: Matter<State, Answer>, context: { readonly agent_id: string }): Promise<Consulted<State>> {
    const { clock, log } = this.#deps;
    const consulted = await consult(decidersOf(this.#set, matter.event, context.agent_id), matter, clock);
    const { by, decisions } = consulted;
    if (decisions.length > 0) log[by === null ? 'debug' : 'info']({ event: matter.event, agent: context.agent_id, decided_by: by, decisions: decisions.map(({ step, verdict }) => `${step}: ${verdict}`) }, 'hook.decided');
    return consulted;
  }

  #source(): string {
    return JSON.stringify([this.#deps.folders(), this.#deps.webhooks()]);
  }

  async #reload(): Promise<void> {
    const before = this.#set;
    this.#loadedFrom = this.#source();
    const loaded = await loadHooks(this.#deps, before.webhooks);
    const kept = before.hooks.filter(({ id, folder }) => loaded.broken.some((broken) => broken.id === id || (folder !== undefined && broken.folder === dirname(folder))));
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
