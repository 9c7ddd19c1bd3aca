/** Knows what is under way, so that closing can wait for it. */
export class InFlight {
  readonly #running = new Set<Promise<unknown>>();

  add<T>(work: Promise<T>): Promise<T> {
    const done = (): void => void this.#running.delete(work);
    this.#running.add(work);
    work.then(done, done);
    return work;
  }

  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }
}
