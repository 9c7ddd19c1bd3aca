import type { AfterCommit, AfterWork } from '../commands/contract.ts';
import { ModelError } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { replyTarget } from '../core/message.ts';
import type { OutboundMedia } from '../core/message.ts';
import { enqueueText } from '../delivery/compose.ts';
import { slept } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Platform } from '../platforms/contract.ts';
import { abandonedWork, endWork } from '../store/agents/command-work.ts';
import { findItem } from '../store/messages/inbox.ts';
import type { InboxItem } from '../store/messages/inbox.ts';
import { persist } from '../store/persist.ts';
import type { Store, Writing } from '../store/store.ts';

export interface WorksDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  platform(account: string): Platform | undefined;
}

/** What a command that has committed still does. It is written down in the store already. */
export interface PlannedWork {
  readonly item: InboxItem;
  readonly platform: Platform;
  readonly works: readonly AfterWork[];
}

interface Output {
  readonly text: string;
  readonly media: readonly OutboundMedia[];
}

/** Of all commands together; what comes later waits. */
const mostAtOnce = 16;
/** A node that has given no sign of life for so long does nothing any more. */
const silentMs = 120_000;
/** What does not end when it is told to is left to itself. */
const obedienceMs = 5_000;

const outputOf = async (works: readonly AfterWork[], after: AfterCommit): Promise<Output> => {
  const texts: string[] = [];
  const media: OutboundMedia[] = [];
  for (const work of works) {
    const done = await work(after);
    texts.push(typeof done === 'string' ? done : done.text);
    if (typeof done !== 'string') media.push(...done.media);
  }
  return { text: texts.filter((text) => text !== '').join('\n\n'), media };
};

/** Answers for a piece of work, unless that has been done: once, whoever tries. */
const answer = async (tx: Writing, done: { item: InboxItem; platform: Platform | undefined }, { text, media }: Output): Promise<void> => {
  const { item, platform } = done;
  if (!(await endWork(tx, item.id)) || platform === undefined || (text === '' && media.length === 0)) return;
  await enqueueText(tx, platform, { key: `command:${item.id}:after`, target: replyTarget(item.event), text, inboxId: item.id, ...(media.length > 0 && { media }) });
};

/** What commands do after their transaction: beside everything else, once, and never silently lost. */
export class CommandWorks {
  readonly #deps: WorksDeps;
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #queue: (() => void)[] = [];
  #free = mostAtOnce;

  constructor(deps: WorksDeps) {
    this.#deps = deps;
  }

  begin(planned: PlannedWork): void {
    const running = this.#run(planned).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Tells about what was under way when its process ended: nobody knows how far it came, so it is not done again. */
  async recover(): Promise<void> {
    const { store, platform } = this.#deps;
    for (const { inboxId, command } of await store.read((db) => abandonedWork(db, silentMs))) {
      await store.write(async (tx) => {
        const item = await findItem(tx, inboxId);
        if (item === undefined) return void (await endWork(tx, inboxId));
        const text = `⚠️ ${command} was cut off when the gateway ended. It may or may not have had its effect; give it again if you still want it.`;
        return answer(tx, { item, platform: platform(item.event.account) }, { text, media: [] });
      });
    }
  }

  /** Cuts off what is under way. Those who gave the commands are told after the next start. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the gateway is shutting down'));
    for (const go of this.#queue.splice(0)) go();
    const late = new AbortController();
    await Promise.race([Promise.all(this.#running), slept(this.#deps.clock, obedienceMs, late.signal)]);
    late.abort();
  }

  async #run(planned: PlannedWork): Promise<void> {
    const { store, clock, log } = this.#deps;
    const { signal } = this.#stop;
    await this.#turn();
    try {
      if (signal.aborted) return;
      const output = await outputOf(planned.works, { store, clock, log, signal }).catch((error: unknown) => this.#failed(planned, error));
      if (output !== undefined) await persist(() => store.write((tx) => answer(tx, planned, output)), { clock, log, signal });
    } catch (error) {
      log.error({ err: error, inbox: planned.item.id }, 'command.work_not_answered');
    } finally {
      this.#leave();
    }
  }

  /** Undefined when it was cut off. */
  #failed({ item }: PlannedWork, error: unknown): Output | undefined {
    const { clock, log } = this.#deps;
    if (this.#stop.signal.aborted) return undefined;
    const errorId = newId('err', clock.now());
    log.error({ err: error, inbox: item.id, error_id: errorId }, 'command.work_failed');
    return { text: error instanceof ModelError ? `⚠️ ${error.rule.sentence} (${errorId})` : `⚠️ That command failed (${errorId}).`, media: [] };
  }

  async #turn(): Promise<void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((go) => this.#queue.push(go));
  }

  #leave(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
