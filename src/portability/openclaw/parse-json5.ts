const space = /(?:[\s\uFEFF]|\/\/[^\n\r\u2028\u2029]*|\/\*[^]*?\*\/)*/y;
const text = /"(?:[^"\\\n\r]|\\[^])*"|'(?:[^'\\\n\r]|\\[^])*'/y;
const number = /[+-]?(?:0[xX][\da-fA-F]+|Infinity|NaN|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)/y;
const word = /[\p{L}\p{Nl}$_][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}$\u200C\u200D]*/uy;
const sign = /[[\]{}:,]/y;

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', 0: '\0', '\n': '', '\r': '', '\r\n': '', '\u2028': '', '\u2029': '' };

const unquoted = (quoted: string): string =>
  quoted.slice(1, -1).replaceAll(/\\(?:u([\da-fA-F]{4})|x([\da-fA-F]{2})|(\r\n|[^]))/g, (_all, long: string | undefined, short: string | undefined, one: string | undefined) => {
    const code = long ?? short;
    return code === undefined ? (escapes[one ?? ''] ?? one ?? '') : String.fromCharCode(Number.parseInt(code, 16));
  });

/** A row of digits that no number can hold as it is written is an id, and stays text. */
const numberOf = (written: string): number | string => {
  const size = Number(written.replace(/^[+-]/, ''));
  if (/^\d+$/.test(written) && String(size) !== written) return written;
  return written.startsWith('-') ? -size : size;
};

const constants: Readonly<Record<string, unknown>> = { true: true, false: false, null: null };
const deepest = 100;

class Json5Reader {
  #at = 0;
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  #fail(): never {
    throw new SyntaxError(`unexpected at ${this.#at}`);
  }

  #take(shape: RegExp): string | undefined {
    space.lastIndex = this.#at;
    space.exec(this.#source);
    shape.lastIndex = space.lastIndex;
    const found = shape.exec(this.#source)?.[0];
    if (found !== undefined) this.#at = shape.lastIndex;
    return found;
  }

  #peek(): string | undefined {
    const before = this.#at;
    const found = this.#take(sign);
    this.#at = before;
    return found;
  }

  /** What stands between two brackets, with or without a comma at its end. */
  #list<T>(close: string, read: () => T): readonly T[] {
    const items: T[] = [];
    while (this.#peek() !== close) {
      items.push(read());
      if (this.#peek() !== ',') break;
      this.#take(sign);
    }
    if (this.#take(sign) !== close) this.#fail();
    return items;
  }

  #key(): string {
    const quoted = this.#take(text);
    return quoted === undefined ? (this.#take(word) ?? this.#fail()) : unquoted(quoted);
  }

  #value(depth: number): unknown {
    if (depth > deepest) this.#fail();
    const quoted = this.#take(text);
    if (quoted !== undefined) return unquoted(quoted);
    const written = this.#take(number);
    if (written !== undefined) return numberOf(written);
    const name = this.#take(word);
    if (name !== undefined) return Object.hasOwn(constants, name) ? constants[name] : this.#fail();
    const open = this.#take(sign);
    if (open === '[') return this.#list(']', () => this.#value(depth + 1));
    if (open !== '{') return this.#fail();
    const entries = this.#list('}', (): readonly [string, unknown] => {
      const key = this.#key();
      if (this.#take(sign) !== ':') this.#fail();
      return [key, this.#value(depth + 1)];
    });
    return Object.fromEntries(entries);
  }

  read(): unknown {
    const value = this.#value(0);
    if (this.#take(/$/y) === undefined) this.#fail();
    return value;
  }
}

/** JSON as people write it (https://spec.json5.org). Undefined for anything else. */
export const parseJson5 = (source: string): unknown => {
  try {
    return new Json5Reader(source).read();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};
