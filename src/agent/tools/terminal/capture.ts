/** Keeps the beginning and the end of a stream, whatever comes between. */
export interface Capture {
  add(piece: Buffer): void;
  /** `dropped` counts the bytes that are missing between head and tail. */
  result(): { readonly head: Buffer; readonly tail: Buffer; readonly droppedBytes: number };
}

/** Never holds more than about `headBytes` and twice `tailBytes`. */
export const newCapture = (limits: { readonly headBytes: number; readonly tailBytes: number }): Capture => {
  const head: Buffer[] = [];
  let tail: Buffer[] = [];
  let headBytes = 0;
  let tailBytes = 0;
  let droppedBytes = 0;

  const shorten = (): void => {
    const all = Buffer.concat(tail);
    const kept = all.subarray(Math.max(0, all.length - limits.tailBytes));
    droppedBytes += all.length - kept.length;
    tail = [kept];
    tailBytes = kept.length;
  };

  return {
    add(piece) {
      const room = limits.headBytes - headBytes;
      const first = piece.subarray(0, Math.max(0, room));
      const rest = piece.subarray(first.length);
      if (first.length > 0) head.push(Buffer.from(first));
      headBytes += first.length;
      if (rest.length === 0) return;
      tail.push(Buffer.from(rest));
      tailBytes += rest.length;
      if (tailBytes > 2 * limits.tailBytes) shorten();
    },
    result() {
      shorten();
      return { head: Buffer.concat(head), tail: tail[0] ?? Buffer.alloc(0), droppedBytes };
    },
  };
};
