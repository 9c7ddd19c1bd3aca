export interface TimeLimit extends Disposable {
  /** Aborted when the time is up, or with what is around it. */
  readonly signal: AbortSignal;
}

/** For what is done often: `AbortSignal.timeout` would keep its timer for the whole time, long after the work is done. */
export const timeLimit = (ms: number, around: AbortSignal): TimeLimit => {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(around.reason);
  const timer = setTimeout(() => controller.abort(new DOMException('the time is up', 'TimeoutError')), ms);
  if (around.aborted) onAbort();
  else around.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      clearTimeout(timer);
      around.removeEventListener('abort', onAbort);
    },
  };
};
