/** `{ ok: false, error }`, and what stands beside it. */
export class Refusal extends Error {
  readonly error: string;
  readonly more: Readonly<Record<string, unknown>>;
  readonly retryAfterMs: number | undefined;

  constructor(error: string, more: Readonly<Record<string, unknown>> = {}, retryAfterMs?: number) {
    super(error);
    this.name = 'Refusal';
    this.error = error;
    this.more = more;
    this.retryAfterMs = retryAfterMs;
  }
}
