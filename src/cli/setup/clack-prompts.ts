import { isCancel, intro, log, note, outro, confirm, password, select, text } from '@clack/prompts';
import type { CANCEL_SYMBOL } from '@clack/prompts';
import { Cancelled } from './prompts.ts';
import type { Prompts, Tone } from './prompts.ts';

const taken = <Value>(answer: Value | typeof CANCEL_SYMBOL): Value => {
  if (isCancel(answer)) throw new Cancelled();
  return answer;
};

const logs: Readonly<Record<Tone, (message: string) => void>> = { info: log.step, success: log.success, warning: log.warn, error: log.error };

const validation = (validate: ((text: string) => string | undefined) | undefined): ((text: string | undefined) => string | undefined) | undefined => (validate === undefined ? undefined : (typed) => validate(typed ?? ''));

/** Prompts that are drawn in place, for terminals that can move the cursor. Colours follow `NO_COLOR`. */
export const clackPrompts = (): Prompts => ({
  begin: (title) => intro(title),
  say: (tone, message) => logs[tone](message),
  show: (title, message) => note(message, title),
  async choose({ message, options, initial }) {
    // Places instead of values: these may be anything, and clack tells its options apart by them.
    const at = options.findIndex(({ value }) => value === initial);
    const index = taken(await select({ message, options: options.map(({ label, hint }, value) => ({ value, label, ...(hint !== undefined && { hint }) })), initialValue: Math.max(0, at), showInstructions: false }));
    const chosen = options[index];
    if (chosen === undefined) throw new Cancelled();
    return chosen.value;
  },
  async ask({ message, initial, example, validate }) {
    const check = validation(validate);
    const answer = taken(await text({ message, ...(initial !== undefined && { initialValue: initial }), ...(example !== undefined && { placeholder: example }), ...(check !== undefined && { validate: check }) }));
    return (answer ?? '').trim();
  },
  async askSecret({ message, validate }) {
    const check = validation(validate);
    return (taken(await password({ message, ...(check !== undefined && { validate: check }) })) ?? '').trim();
  },
  confirm: async (message, initial) => taken(await confirm({ message, initialValue: initial })),
  end: (message) => outro(message),
  close: () => undefined,
});
