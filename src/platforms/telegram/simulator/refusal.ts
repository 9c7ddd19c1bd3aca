/** A call that the Bot API refuses, as it says so. */
export class Refusal extends Error {
  readonly status: number;
  readonly parameters: Readonly<Record<string, number>> | undefined;

  constructor(status: number, description: string, parameters?: Readonly<Record<string, number>>) {
    super(description);
    this.name = 'Refusal';
    this.status = status;
    this.parameters = parameters;
  }
}

export const badRequest = (what: string): Refusal => new Refusal(400, `Bad Request: ${what}`);
