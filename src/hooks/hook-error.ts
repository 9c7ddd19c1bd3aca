export type HookErrorCode =
  | 'timeout'
  | 'failed' // its code threw, or left with an exit code
  | 'bad_answer' // not JSON, too long, or not what the event can be answered with
  | 'not_started' // its code cannot be loaded or run
  | 'aborted'; // we are ending

/** Why a hook gave no answer. The message is for the owner; it says nothing about what the hook was told. */
export class HookError extends Error {
  readonly code: HookErrorCode;

  constructor(code: HookErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'HookError';
    this.code = code;
  }
}
