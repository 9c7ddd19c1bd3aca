/** A call that Discord refuses, as it says so. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: number;
  readonly more: Readonly<Record<string, unknown>>;

  constructor(status: number, code: number, message: string, more: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.code = code;
    this.more = more;
  }
}

export const unknownChannel = (): Refusal => new Refusal(404, 10003, 'Unknown Channel');
export const unknownMessage = (): Refusal => new Refusal(404, 10008, 'Unknown Message');

/** A form in which one field is wrong. */
export const invalidForm = (field: string, code: string, message: string): Refusal => new Refusal(400, 50035, 'Invalid Form Body', { errors: { [field]: { _errors: [{ code, message }] } } });
