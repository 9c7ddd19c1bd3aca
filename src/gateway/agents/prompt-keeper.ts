import { promptFingerprint, systemPrompt } from '../../agent/prompt.ts';
import type { PromptInput } from '../../agent/prompt.ts';
import type { Clock } from '../../lib/clock.ts';
import { findPrompt, keepPrompt } from '../../store/sessions/prompts.ts';
import type { Store } from '../../store/store.ts';

/** Files that a prompt is made of are looked at again after this. */
const freshMs = 30_000;
const remembered = 500;

interface Known {
  readonly stamp: string;
  readonly text: string;
  readonly atMs: number;
}

/**
 * The system prompt of each conversation, the same bytes for as long as what it is made of stays the same, also across restarts: servers cache a request by its
 * beginning. What the agent learns meanwhile is in the prompts of later conversations.
 */
export class PromptKeeper {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** `stamp` names everything that is known without looking into files. */
  async promptFor(sessionId: string, stamp: string, build: () => Promise<PromptInput>): Promise<string> {
    const known = this.#known.get(sessionId);
    const nowMs = this.#clock.now();
    if (known !== undefined && known.stamp === stamp && nowMs - known.atMs < freshMs) return known.text;
    const text = await this.#settle(sessionId, await build());
    this.#remember(sessionId, { stamp, text, atMs: nowMs });
    return text;
  }

  /** For what belongs to no conversation: nothing is stored. */
  async promptOnce(stamp: string, build: () => Promise<PromptInput>): Promise<string> {
    const known = this.#known.get(stamp);
    const nowMs = this.#clock.now();
    if (known !== undefined && nowMs - known.atMs < freshMs) return known.text;
    const text = systemPrompt(await build());
    this.#remember(stamp, { stamp, text, atMs: nowMs });
    return text;
  }

  #remember(key: string, known: Known): void {
    this.#known.delete(key);
    this.#known.set(key, known);
    const oldest = this.#known.size > remembered ? this.#known.keys().next().value : undefined;
    if (oldest !== undefined) this.#known.delete(oldest);
  }

  async #settle(sessionId: string, input: PromptInput): Promise<string> {
    const fingerprint = promptFingerprint(input);
    const stored = await this.#store.read((db) => findPrompt(db, sessionId));
    if (stored?.fingerprint === fingerprint) return stored.text;
    const text = systemPrompt(input);
    await this.#store.write((tx) => keepPrompt(tx, sessionId, { fingerprint, text }), { patient: true });
    return text;
  }
}
