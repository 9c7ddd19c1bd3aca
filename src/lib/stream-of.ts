/** A stream that takes from a generator as it is read. Whoever leaves it early ends the generator. */
export const streamOf = (source: AsyncGenerator<Uint8Array, void>): ReadableStream<Uint8Array> =>
  new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await source.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await source.return();
    },
  });
