import type { TranscriptMessage } from '../../core/transcript.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { addMemoryProposal } from '../../store/agents/memory-proposals.ts';
import { clearMemoryWork, countMemoryWork } from '../../store/agents/memory-work.ts';
import { findSession } from '../../store/sessions/sessions.ts';
import type { Store, Writing } from '../../store/store.ts';
import { findingsText, scanForInjection } from '../injection-scan.ts';
import type { Tool, ToolContext } from '../tools/contract.ts';
import { ToolError } from '../tools/contract.ts';
import { memoryTool } from '../tools/memory.ts';
import type { ChangeMemory, MemoryChanged, WantedChange } from '../tools/memory.ts';
import type { MemoryTarget } from './entries.ts';
import { changeMemoryFile, readMemoryFile } from './memory-file.ts';
import { memoryFileFor, memorySessionOf } from './places.ts';
import type { MemoryPlaces } from './places.ts';
import { newPrefetcher } from './prefetcher.ts';
import type { Prefetcher } from './prefetcher.ts';
import { newProviderHealth } from './provider-health.ts';
import type { ProviderHealth, ProviderState } from './provider-health.ts';
import { ProviderSync } from './provider-sync.ts';
import type { ProviderNews } from './provider-sync.ts';
import { MemoryError } from './provider.ts';
import type { MemoryProvider, MemorySession } from './provider.ts';
import { recallBlock, withoutRecall } from './recall.ts';
import { memoryBlock, usageText } from './snapshot.ts';

export interface AgentMemoryDeps extends MemoryPlaces {
  readonly agent: string;
  /** The one memory beside the files, if there is one. */
  readonly provider?: MemoryProvider;
  readonly store: Store;
  /** The process, for the store. */
  readonly owner: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Takes secrets out of whatever is kept or handed over. */
  redact(text: string): string;
}

/** Parts of the system prompt; each is missing when there is nothing to say. */
export interface MemoryBlocks {
  readonly provider?: string;
  readonly memory?: string;
  readonly user?: string;
}

export interface MemoryStatus {
  readonly provider: string | undefined;
  readonly state: ProviderState;
  /** What the provider has still to be told. */
  readonly waiting: number;
}

const mostProposals = 50;
/** Of one side of an exchange: what is longer is a file, not a memory. */
const maxSaidChars = 40_000;
const stopGraceMs = 5_000;
const preCompressMs = 5_000;

/** What an agent keeps beyond its conversations: its files, and at most one provider beside them. A failing provider is logged and shown and never fails a turn. */
export class AgentMemory {
  readonly #deps: AgentMemoryDeps;
  readonly #health: ProviderHealth;
  readonly #provider: MemoryProvider | undefined;
  readonly #sync: ProviderSync | undefined;
  readonly #prefetcher: Prefetcher | undefined;
  readonly tools: readonly Tool[];

  constructor(deps: AgentMemoryDeps) {
    const { agent, owner, store, clock, log, options } = deps;
    this.#deps = deps;
    this.#health = newProviderHealth(clock);
    const provider = deps.provider?.isAvailable() === true ? deps.provider : undefined;
    if (deps.provider !== undefined && provider === undefined) log.warn({ agent, provider: deps.provider.name }, 'memory.provider_not_configured');
    this.#provider = provider;
    if (provider !== undefined) {
      const sync = new ProviderSync({ agent, owner: `${owner}/${agent}`, provider, health: this.#health, store, clock, log });
      this.#sync = sync;
      this.#prefetcher = newPrefetcher({ provider, health: this.#health, clock, log, timeoutMs: options.prefetch_timeout_ms, prepare: (session, signal) => sync.prepare(session, signal) });
    }
    const own = options.memory_enabled || options.user_profile_enabled ? [memoryTool(this.#changeByTool)] : [];
    this.tools = [...own, ...this.#providerTools()];
  }

  async start(): Promise<void> {
    const { agent, store, log } = this.#deps;
    if (this.#sync === undefined) {
      const dropped = await store.write((tx) => clearMemoryWork(tx, agent));
      if (dropped > 0) log.warn({ agent, dropped }, 'memory.queue_dropped');
    }
    this.#sync?.start();
  }

  async stop(): Promise<void> {
    this.#prefetcher?.close();
    await this.#sync?.stop(stopGraceMs);
    try {
      await this.#provider?.shutdown(AbortSignal.timeout(stopGraceMs));
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'memory.provider_not_shut_down');
    }
  }

  async status(): Promise<MemoryStatus> {
    const waiting = this.#sync === undefined ? 0 : await this.#deps.store.read((db) => countMemoryWork(db, this.#deps.agent));
    return { provider: this.#provider?.name, state: this.#health.state(), waiting };
  }

  /** The snapshot for a prompt: read now, and the same bytes as long as the files are the same. */
  async promptBlocks(session: MemorySession): Promise<MemoryBlocks> {
    const memory = await this.#block('memory', session);
    const user = await this.#block('user', session);
    const provider = this.#provider?.systemPromptBlock;
    return { ...(provider !== undefined && { provider }), ...(memory !== undefined && { memory }), ...(user !== undefined && { user }) };
  }

  /** What the provider remembers about what the person says, fenced, to be put behind their message; undefined when it is nothing or takes too long. Never rejects. */
  async recall(query: string, session: MemorySession): Promise<string | undefined> {
    const text = await this.#prefetcher?.ask(query, session);
    return text === undefined ? undefined : recallBlock(this.#deps.redact(text));
  }

  /** Part of the transaction that ends a turn. `wake` comes after it. */
  async queueTurn(tx: Writing, turn: { readonly key: string; readonly user: string; readonly assistant: string; readonly atMs: number }, session: MemorySession): Promise<void> {
    const said = (text: string): string => this.#deps.redact(withoutRecall(text)).slice(0, maxSaidChars).toWellFormed();
    if (turn.user.trim() !== '' || turn.assistant.trim() !== '') await this.#queue(tx, { kind: 'turn', session, turn: { ...turn, user: said(turn.user), assistant: said(turn.assistant) } });
  }

  /** Part of the transaction that ends a conversation, or takes its end off the list. */
  queueEnd(tx: Writing, end: { readonly reason: string; readonly atMs: number }, session: MemorySession): Promise<void> {
    return this.#queue(tx, { kind: 'end', session, end: { ...end, key: `${session.sessionId}:${end.atMs}` } });
  }

  /** Part of the transaction that moves a place from one conversation to another. */
  queueSwitch(tx: Writing, moved: { readonly key: string; readonly from: MemorySession; readonly to: MemorySession }): Promise<void> {
    return this.#queue(tx, { kind: 'switch', session: moved.to, from: moved.from, key: moved.key });
  }

  /** Part of the transaction that stores what a child agent brought back. */
  queueDelegation(tx: Writing, delegation: { readonly key: string; readonly task: string; readonly result: string; readonly childSessionId: string }, session: MemorySession): Promise<void> {
    const { redact } = this.#deps;
    return this.#queue(tx, { kind: 'delegation', session, delegation: { ...delegation, task: redact(delegation.task).slice(0, maxSaidChars), result: redact(delegation.result).slice(0, maxSaidChars) } });
  }

  /** After a commit that has queued something. */
  wake(): void {
    this.#sync?.wake();
  }

  /** What the provider wants to see in the summary of these messages; empty when that is nothing. Never rejects. */
  async beforeCompression(messages: readonly TranscriptMessage[], session: MemorySession, signal: AbortSignal): Promise<string> {
    const provider = this.#provider;
    if (provider?.onPreCompress === undefined || !this.#health.isTrusted()) return '';
    try {
      return this.#deps.redact(await provider.onPreCompress(messages, session, AbortSignal.any([signal, AbortSignal.timeout(preCompressMs)])));
    } catch (error) {
      this.#noteFailure(error, 'memory.pre_compress_failed');
      return '';
    }
  }

  /** The entries as they are now, for people and for reviews. */
  async entries(target: MemoryTarget, session: Pick<MemorySession, 'account' | 'userId'>): Promise<{ readonly entries: readonly string[]; readonly usage: string; readonly problem?: string } | undefined> {
    const file = memoryFileFor(this.#deps, target, session);
    if (file === undefined) return undefined;
    const content = await readMemoryFile(file);
    return { ...content, usage: usageText(content.entries, file.limitChars) };
  }

  /** Changes the files at once, whatever is set about approval: a person has decided. */
  async change({ target, change }: WantedChange, session: MemorySession, signal: AbortSignal): Promise<MemoryChanged> {
    const { clock, store } = this.#deps;
    const file = memoryFileFor(this.#deps, target, session);
    if (file === undefined) return { type: 'not_kept' };
    const outcome = await changeMemoryFile(file, change, { clock, signal });
    if (outcome.type === 'duplicate') return { type: 'duplicate' };
    if (outcome.type !== 'changed') return { type: 'refused', outcome, entries: (await readMemoryFile(file)).entries, limitChars: file.limitChars };
    const content = change.action === 'remove' ? change.oldText : change.content;
    await store.write((tx) => this.#queue(tx, { kind: 'write', session, write: { key: `${session.sessionId}:${clock.now()}:${target}:${content.slice(0, 60)}`, action: change.action, target, content } }));
    this.wake();
    return { type: 'done', usage: usageText(outcome.entries, file.limitChars) };
  }

  readonly #changeByTool: ChangeMemory = async (wanted, context, signal) => {
    const { store, options } = this.#deps;
    const { target, change } = wanted;
    const unfit = change.action === 'remove' ? undefined : this.#unfit(change.content);
    if (unfit !== undefined) return { type: 'unfit', reason: unfit };
    const session = await this.#sessionOf(context);
    if (!options.write_approval) return this.change(wanted, session, signal);
    if (memoryFileFor(this.#deps, target, session) === undefined) return { type: 'not_kept' };
    const { sessionId, agent, account, userId = null } = session;
    const id = await store.write((tx) => addMemoryProposal(tx, { agent, sessionId, account, userId, target, change }, mostProposals));
    return id === undefined ? { type: 'too_many_proposals' } : { type: 'proposed', id };
  };

  #unfit(content: string): string | undefined {
    if (this.#deps.redact(content) !== content) return 'contains something that looks like a password or a key';
    const findings = scanForInjection(content, 'strict');
    return findings.length === 0 ? undefined : findingsText(findings);
  }

  /** Whose conversation a tool was called in is the store's to say, not the caller's. */
  async #sessionOf(context: ToolContext): Promise<MemorySession> {
    const row = await this.#deps.store.read((db) => findSession(db, context.sessionId));
    return memorySessionOf(row ?? { id: context.sessionId, agent: this.#deps.agent, userId: null }, context.place);
  }

  async #block(target: MemoryTarget, session: MemorySession): Promise<string | undefined> {
    const file = memoryFileFor(this.#deps, target, session);
    if (file === undefined) return undefined;
    const { entries, problem } = await readMemoryFile(file);
    if (problem !== undefined) this.#deps.log.warn({ path: file.path, reason: problem }, 'memory.unreadable');
    return memoryBlock(target, entries, file.limitChars);
  }

  async #queue(tx: Writing, news: ProviderNews): Promise<void> {
    await this.#sync?.enqueue(tx, news);
  }

  #providerTools(): readonly Tool[] {
    const provider = this.#provider;
    return (provider?.toolSchemas ?? []).map((definition): Tool => ({ definition, toolset: 'memory', run: (args, context, signal) => this.#callProvider({ name: definition.name, args }, context, signal) }));
  }

  async #callProvider(call: { readonly name: string; readonly args: Readonly<Record<string, unknown>> }, context: ToolContext, signal: AbortSignal): Promise<string> {
    const provider = this.#provider;
    if (provider === undefined) throw new ToolError('unavailable', 'There is no memory service.');
    const session = await this.#sessionOf(context);
    try {
      await this.#sync?.prepare(session, signal);
      const answer = await provider.handleToolCall(call, session, signal);
      this.#health.succeeded();
      return this.#deps.redact(answer);
    } catch (error) {
      if (error instanceof ToolError) throw error;
      this.#noteFailure(error, 'memory.tool_failed');
      throw new ToolError('unavailable', `The memory service does not work right now${error instanceof MemoryError ? ` (${error.code})` : ''}. Go on without it.`, { cause: error });
    }
  }

  #noteFailure(error: unknown, event: string): void {
    this.#health.failed(error);
    this.#deps.log.warn({ provider: this.#provider?.name, ...(error instanceof MemoryError ? { code: error.code, reason: error.message } : { err: error }) }, event);
  }
}
