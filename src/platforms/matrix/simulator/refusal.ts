/** A call that the homeserver refuses, in the words of the protocol. */
export class Refusal extends Error {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, errcode: string, error: string, more: Readonly<Record<string, unknown>> = {}) {
    super(`${errcode}: ${error}`);
    this.name = 'Refusal';
    this.status = status;
    this.body = { errcode, error, ...more };
  }
}

export const notFound = (what: string): Refusal => new Refusal(404, 'M_NOT_FOUND', `${what} not found`);
export const forbidden = (why: string): Refusal => new Refusal(403, 'M_FORBIDDEN', why);
