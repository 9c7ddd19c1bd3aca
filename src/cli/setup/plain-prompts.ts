import { createInterface } from 'node:readline';
import type { Interface } from 'node:readline';
import { Writable } from 'node:stream';
import { Cancelled } from './prompts.ts';
import type { Option, Prompts, Tone } from './prompts.ts';

const marks: Readonly<Record<Tone, string>> = { info: '', success: 'ok: ', warning: 'warning: ', error: 'error: ' };

/** Lines as they are typed or piped in. */
class Lines {
  readonly #input: Interface;
  readonly #waiting: string[] = [];
  #wanted: { take(line: string): void; leave(): void } | undefined;
  #isOver = false;

  constructor(input: NodeJS.ReadStream, output: Writable) {
    this.#input = createInterface({ input, output, terminal: input.isTTY });
    this.#input.on('line', (line) => {
      if (this.#wanted === undefined) this.#waiting.push(line);
      else this.#wanted.take(line);
    });
    for (const event of ['SIGINT', 'close'] as const) {
      this.#input.on(event, () => {
        this.#isOver = true;
        this.#wanted?.leave();
      });
    }
  }

  next(): Promise<string> {
    const [waiting] = this.#waiting.splice(0, 1);
    if (waiting !== undefined) return Promise.resolve(waiting);
    if (this.#isOver) return Promise.reject(new Cancelled());
    return new Promise((resolve, reject) => {
      const done = (settle: () => void): void => {
        this.#wanted = undefined;
        settle();
      };
      this.#wanted = { take: (line) => done(() => resolve(line)), leave: () => done(() => reject(new Cancelled())) };
    });
  }

  close(): void {
    this.#input.close();
  }
}

/** The option of that number, or the only one whose label begins like that. */
const pick = <Value>(options: readonly Option<Value>[], typed: string): Option<Value> | undefined => {
  if (/^\d+$/.test(typed)) return options[Number(typed) - 1];
  const begin = options.filter(({ label }) => label.toLowerCase().startsWith(typed.toLowerCase()));
  return begin.length === 1 ? begin[0] : undefined;
};

const listed = (options: readonly Option<unknown>[]): string => options.map(({ label, hint }, index) => `  ${index + 1}. ${label}${hint === undefined ? '' : ` (${hint})`}\n`).join('');

/** Questions and answers line by line: for dumb terminals, screen readers and pipes. */
export const plainPrompts = (input: NodeJS.ReadStream, write: (text: string) => void): Prompts => {
  // What the terminal echoes while a line is typed goes through here, so that it can be held back.
  let isMuted = false;
  const echo = new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      if (!isMuted) write(Buffer.from(chunk).toString());
      done();
    },
  });
  const lines = new Lines(input, echo);
  const repeat = async <Value>(question: string, read: (line: string) => { readonly value: Value } | { readonly refused: string }): Promise<Value> => {
    for (;;) {
      write(question);
      const answer = read((await lines.next()).trim());
      if ('value' in answer) return answer.value;
      write(`  ${answer.refused}\n`);
    }
  };
  const textOf = (validate: ((text: string) => string | undefined) | undefined, initial: string) => (line: string) => {
    const value = line === '' ? initial : line;
    const refused = validate?.(value);
    return refused === undefined ? { value } : { refused };
  };
  return {
    begin: (title) => write(`${title}\n\n`),
    say: (tone, text) => write(`${marks[tone]}${text}\n`),
    show: (title, text) => write(`\n${title}\n${text.replaceAll(/^(?=.)/gm, '  ')}\n\n`),
    choose: ({ message, options, initial }) => {
      const fallback = Math.max(0, options.findIndex(({ value }) => value === initial));
      return repeat(`${message}\n${listed(options)}Number or name [${fallback + 1}]: `, (line) => {
        const chosen = line === '' ? options[fallback] : pick(options, line);
        return chosen === undefined ? { refused: `A number from 1 to ${options.length}, or the beginning of a name, please.` } : { value: chosen.value };
      });
    },
    ask: ({ message, initial = '', example, validate }) => repeat(`${message}${initial === '' ? (example === undefined ? '' : ` (such as ${example})`) : ` [${initial}]`}: `, textOf(validate, initial)),
    async askSecret({ message, validate }) {
      isMuted = input.isTTY;
      try {
        return await repeat(`${message} (not shown): `, textOf(validate, ''));
      } finally {
        isMuted = false;
        if (input.isTTY) write('\n');
      }
    },
    confirm: (message, initial) =>
      repeat(`${message} [${initial ? 'Y/n' : 'y/N'}]: `, (line) => {
        if (line === '') return { value: initial };
        if (/^(?:y|yes|n|no)$/i.test(line)) return { value: /^y/i.test(line) };
        return { refused: 'yes or no, please.' };
      }),
    end: (text) => write(`\n${text}\n`),
    close: () => lines.close(),
  };
};
