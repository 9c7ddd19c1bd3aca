import type { Clock } from '../../lib/clock.ts';

/** How long the status of an answer may wait for what comes first. */
const patienceMs = 5_000;

/** A stream, with what it begins with where that has come in time. Until then a failure can still be an answer of its own. */
export interface Peeked<T, R> {
  readonly first: IteratorResult<T, R> | undefined;
  readonly all: AsyncGenerator<T, R, undefined>;
}

/** The stream itself, but for its first step, which was taken before. */
const startingWith = <T, R>(first: Promise<IteratorResult<T, R>>, rest: AsyncGenerator<T, R, undefined>): AsyncGenerator<T, R, undefined> => {
  let taken: Promise<IteratorResult<T, R>> | undefined = first;
  const all: AsyncGenerator<T, R, undefined> = {
    next() {
      const step = taken ?? rest.next();
      taken = undefined;
      return step;
    },
    return: (value) => rest.return(value),
    throw: (error) => rest.throw(error),
    [Symbol.asyncIterator]: () => all,
    [Symbol.asyncDispose]: () => rest[Symbol.asyncDispose](),
  };
  return all;
};

export const peek = async <T, R>(stream: AsyncGenerator<T, R, undefined>, clock: Clock): Promise<Peeked<T, R>> => {
  const next = stream.next();
  const done = new AbortController();
  const late = clock.sleep(patienceMs, done.signal).then(
    () => undefined,
    () => undefined,
  );
  try {
    const first = await Promise.race([next, late]);
    return { first, all: startingWith(next, stream) };
  } finally {
    done.abort(null);
  }
};
