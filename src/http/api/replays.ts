import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { findReplay, keepReplay } from '../../store/api/api-replays.ts';
import type { Store, Writing } from '../../store/store.ts';
import type { HttpEnv } from '../client.ts';
import { ApiError } from './api-error.ts';
import type { Caller } from './callers.ts';

/** A call that may be made again without being carried out again. */
export interface NamedCall {
  /** What was answered before. */
  readonly earlier: string | undefined;
  /** The call has been answered, or has failed when there is no answer; repeats that wait for it go on. */
  settle(answer: string | undefined): Promise<void>;
  /**
   * Keeps the answer as part of a transaction; `settle(undefined)` still has to follow. Throws `TakenMeanwhile`, and with it undoes the transaction, when the same call has
   * come through another gateway.
   */
  keepIn(tx: Writing, answer: string): Promise<void>;
}

const conflict = (): ApiError => new ApiError(409, 'Another request was made under this Idempotency-Key.', { code: 'idempotency_key_conflict', param: 'Idempotency-Key' });

const nameOf = (c: Context<HttpEnv>): string | undefined => {
  const name = c.req.header('idempotency-key');
  if (name !== undefined && !/^[\x21-\x7E]{1,255}$/.test(name)) throw new ApiError(400, 'Idempotency-Key takes 1 to 255 visible ASCII characters.', { code: 'invalid_header', param: 'Idempotency-Key' });
  return name;
};

/** The call was made elsewhere a moment ago, and answered so. */
export class TakenMeanwhile extends Error {
  readonly earlier: string;

  constructor(earlier: string) {
    super('the same call was taken by another gateway');
    this.name = 'TakenMeanwhile';
    this.earlier = earlier;
  }
}

interface UnderWay {
  readonly fingerprint: string;
  readonly ended: Promise<void>;
}

/** Answers that are given again for a day to whoever repeats a call under the same `Idempotency-Key`. */
export class Replays {
  readonly #store: Store;
  readonly #underWay = new Map<string, UnderWay>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Undefined for a call without a name. Waits while the same call is under way; throws the refusal for another one of that name. */
  async take(c: Context<HttpEnv>, caller: Caller, asked: unknown): Promise<NamedCall | undefined> {
    const name = nameOf(c);
    if (name === undefined) return undefined;
    const fingerprint = createHash('sha256').update(JSON.stringify(asked)).digest('hex');
    const at = JSON.stringify([caller.id, name]);
    for (let other = this.#underWay.get(at); other !== undefined; other = this.#underWay.get(at)) {
      if (other.fingerprint !== fingerprint) throw conflict();
      await other.ended;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const own: UnderWay = { fingerprint, ended: promise };
    this.#underWay.set(at, own);
    const end = (): void => {
      if (this.#underWay.get(at) === own) this.#underWay.delete(at);
      resolve();
    };
    try {
      const known = await this.#store.read((db) => findReplay(db, { keyId: caller.id, name }));
      if (known !== undefined && known.fingerprint !== fingerprint) throw conflict();
      if (known !== undefined) end();
      const of = { keyId: caller.id, name };
      return {
        earlier: known?.answer,
        settle: (answer) => this.#settle({ ...of, fingerprint }, answer).finally(end),
        async keepIn(tx, answer) {
          const there = await keepReplay(tx, of, { fingerprint, answer });
          if (there !== undefined) throw there.fingerprint === fingerprint ? new TakenMeanwhile(there.answer) : conflict();
        },
      };
    } catch (error) {
      end();
      throw error;
    }
  }

  async #settle(of: { readonly keyId: string; readonly name: string; readonly fingerprint: string }, answer: string | undefined): Promise<void> {
    if (answer !== undefined) await this.#store.write((tx) => keepReplay(tx, of, { fingerprint: of.fingerprint, answer }));
  }
}
