import type { Clock } from '../../lib/clock.ts';
import type { Inbox } from '../contract.ts';
import type { Session } from './gateway-socket.ts';
import { integer, isNewer, record, snowflake, text } from './wire.ts';

/** What outlives the process. */
interface Stored {
  readonly session?: Session;
  /** How often the session was asked for in vain. */
  readonly tries: number;
  /** Every message up to this one is stored. */
  readonly after?: string;
}

const saveEveryMs = 1000;

/** A session that cannot be had so many times is given up for a new one. */
const mostTries = 3;

const readSession = (value: unknown): Session | undefined => {
  const raw = record(value);
  const [id, url, seq] = [text(raw?.['id']), text(raw?.['url']), integer(raw?.['seq'])];
  return id === undefined || url === undefined || seq === undefined ? undefined : { id, url, seq };
};

const readStored = (value: string | undefined): Stored => {
  const raw = record(value === undefined ? undefined : JSON.parse(value));
  const session = readSession(raw?.['session']);
  const after = snowflake(raw?.['after']);
  return { tries: integer(raw?.['tries']) ?? 0, ...(session !== undefined && { session }), ...(after !== undefined && { after }) };
};

/** Where we are in Discord's stream. It moves only past events that are stored, in whatever order they were. */
export interface Position {
  /** The session to ask for; undefined when a new one has to begin. */
  readonly session: Session | undefined;
  /** Every message up to this one was stored when the connection began. */
  readonly after: string | undefined;
  storedSeq(): number | undefined;
  /** The newest message that is stored with all before it. */
  newestMessage(): string | undefined;
  /** A new session has begun; `now` is where messages begin to count when none ever came. */
  opened(session: Omit<Session, 'seq'>, now: string): void;
  resumed(): void;
  /** The session is of no use any more. */
  forget(): void;
  began(seq: number): void;
  /** `messageId` when the event was a message. */
  stored(seq: number, messageId?: string): void;
  /** How many events have begun and are not stored. */
  pending(): number;
  /** Rejects when the position could not be written. */
  readonly failed: Promise<never>;
  save(): Promise<void>;
}

class Place implements Position {
  readonly session: Session | undefined;
  readonly after: string | undefined;
  readonly #cursor: Inbox['cursor'];
  readonly #name: string;
  readonly #clock: Clock;
  readonly #failure = Promise.withResolvers<never>();
  readonly #open = new Map<number, string | null>();
  readonly #done = new Map<number, string | undefined>();
  #named: Omit<Session, 'seq'> | undefined;
  #seq: number | undefined;
  #newest: string | undefined;
  /** `#newest` is what our own clock says, which may be ahead of Discord's; the first message corrects it. */
  #isGuess = false;
  #tries: number;
  #savedMs = 0;
  #saved = '';
  #writing: Promise<void> = Promise.resolve();

  constructor(cursor: Inbox['cursor'], clock: Clock, { name, stored }: { readonly name: string; readonly stored: Stored }) {
    const usable = stored.session !== undefined && stored.tries < mostTries ? stored.session : undefined;
    this.#cursor = cursor;
    this.#name = name;
    this.#clock = clock;
    this.session = usable;
    this.after = stored.after;
    this.#named = usable;
    this.#seq = usable?.seq;
    this.#newest = stored.after;
    this.#tries = usable === undefined ? 0 : stored.tries + 1;
    this.#failure.promise.catch(() => undefined);
  }

  get failed(): Promise<never> {
    return this.#failure.promise;
  }

  storedSeq(): number | undefined {
    return this.#seq;
  }

  newestMessage(): string | undefined {
    return this.#newest;
  }

  opened(session: Omit<Session, 'seq'>, now: string): void {
    this.#named = session;
    this.#seq = undefined;
    this.#tries = 0;
    if (this.#newest === undefined) this.#isGuess = true;
    this.#newest ??= now;
  }

  resumed(): void {
    this.#tries = 0;
  }

  forget(): void {
    this.#named = undefined;
  }

  began(seq: number): void {
    this.#open.set(seq, null);
  }

  stored(seq: number, messageId?: string): void {
    this.#done.set(seq, messageId);
    for (const [first] of this.#open) {
      if (!this.#done.has(first)) break;
      const message = this.#done.get(first);
      this.#open.delete(first);
      this.#done.delete(first);
      this.#seq = first;
      if (message !== undefined && (this.#isGuess || this.#newest === undefined || isNewer(message, this.#newest))) {
        this.#newest = message;
        this.#isGuess = false;
      }
    }
    if (this.#clock.now() - this.#savedMs >= saveEveryMs) this.save().catch((error: unknown) => this.#failure.reject(error));
  }

  pending(): number {
    return this.#open.size;
  }

  /** Writes follow each other, so that an older position never comes after a newer one. */
  save(): Promise<void> {
    this.#savedMs = this.#clock.now();
    this.#writing = this.#writing.then(async () => {
      const value = this.#print();
      if (value === this.#saved) return;
      await this.#cursor.write(this.#name, value);
      this.#saved = value;
    });
    return this.#writing;
  }

  #print(): string {
    const session = this.#named !== undefined && this.#seq !== undefined ? { id: this.#named.id, url: this.#named.url, seq: this.#seq } : undefined;
    const stored: Stored = { tries: this.#tries, ...(session !== undefined && { session }), ...(this.#newest !== undefined && { after: this.#newest }) };
    return JSON.stringify(stored);
  }
}

/** `name` is that of the cursor it is kept in. */
export const findPosition = async (cursor: Inbox['cursor'], clock: Clock, name: string): Promise<Position> => new Place(cursor, clock, { name, stored: readStored(await cursor.read(name)) });

/** A position without a session, whatever is kept under its name. */
export const newPosition = (cursor: Inbox['cursor'], clock: Clock, { name, after }: { readonly name: string; readonly after: string | undefined }): Position => new Place(cursor, clock, { name, stored: { tries: 0, ...(after !== undefined && { after }) } });
