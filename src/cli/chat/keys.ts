type Letter = 'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i' | 'j' | 'k' | 'l' | 'm' | 'n' | 'o' | 'p' | 'q' | 'r' | 's' | 't' | 'u' | 'v' | 'w' | 'x' | 'y' | 'z';

export type KeyName =
  | 'enter'
  | 'newline'
  | 'tab'
  | 'backspace'
  | 'delete'
  | 'left'
  | 'right'
  | 'up'
  | 'down'
  | 'home'
  | 'end'
  | 'word-left'
  | 'word-right'
  | 'escape'
  | 'alt-backspace'
  | `ctrl-${Letter}`
  | `alt-${string}`;

/** Something that a person did at the keyboard. */
export type Key = { readonly type: 'key'; readonly name: KeyName } | { readonly type: 'text'; readonly text: string } | { readonly type: 'paste'; readonly text: string };

const key = (name: KeyName): Key => ({ type: 'key', name });

const escape = '\u001b';
const pasteStart = `${escape}[200~`;
const pasteEnd = `${escape}[201~`;

/** Behind an Escape: `[ parameters final`, and `O final` of terminals in application mode. */
const sequence = /^\[([0-9:;<=>?]*)[ -/]*([@-~])|^O([A-Za-z])/;
const unfinished = /^(?:\[[0-9:;<=>?]*[ -/]*|O)?$/;
const printableRun = /^\P{Cc}+/u;

const arrows: Readonly<Record<string, KeyName>> = { A: 'up', B: 'down', C: 'right', D: 'left', H: 'home', F: 'end' };
const numbered: Readonly<Record<string, KeyName>> = { '1': 'home', '3': 'delete', '4': 'end', '7': 'home', '8': 'end' };
const controls: Readonly<Record<string, KeyName>> = { '\r': 'enter', '\n': 'newline', '\t': 'tab', '\u007f': 'backspace', '\b': 'backspace' };

/** Return with a modifier, as terminals with extended keys send it. */
const isModifiedReturn = (parameters: readonly string[], final: string): boolean =>
  (final === 'u' && parameters[0] === '13' && parameters[1] !== undefined) || (final === '~' && parameters[0] === '27' && parameters[2] === '13');

const named = (body: string, final: string): KeyName | undefined => {
  const parameters = body.split(';');
  if (isModifiedReturn(parameters, final)) return 'newline';
  if (final === 'u') return parameters[0] === '13' ? 'enter' : parameters[0] === '27' ? 'escape' : undefined;
  const name = final === '~' ? numbered[parameters[0] ?? ''] : arrows[final];
  // Shift is 1, Alt 2, Control 4, and they are counted from 1.
  const byWord = ((Number(parameters[1] ?? 1) - 1) & 6) !== 0;
  if (byWord && name === 'left') return 'word-left';
  return byWord && name === 'right' ? 'word-right' : name;
};

const controlKey = (char: string): readonly Key[] => {
  const known = controls[char];
  if (known !== undefined) return [key(known)];
  const code = char.charCodeAt(0);
  return code >= 1 && code <= 26 ? [key(`ctrl-${String.fromCharCode(code + 96) as Letter}`)] : [];
};

const altKey = (char: string): readonly Key[] => {
  if (char === '\r' || char === '\n') return [key('newline')];
  if (char === '\u007f' || char === '\b') return [key('alt-backspace')];
  return char >= ' ' ? [key(`alt-${char}`)] : controlKey(char);
};

/** Reads what a terminal sends. Sequences and pasted text may be cut anywhere between two pieces. */
export class KeyDecoder {
  #rest = '';
  #pasted: string | undefined;

  read(piece: string): readonly Key[] {
    const keys: Key[] = [];
    this.#rest += piece;
    for (let next = this.#next(); next !== undefined; next = this.#next()) keys.push(...next);
    return keys;
  }

  /** Whether a lone Escape waits for what may follow it. */
  get isWaiting(): boolean {
    return this.#rest !== '' && this.#pasted === undefined;
  }

  /** Nothing followed: an Escape was meant. */
  flush(): readonly Key[] {
    const isEscape = this.#rest === escape;
    if (this.isWaiting) this.#rest = '';
    return isEscape ? [key('escape')] : [];
  }

  #next(): readonly Key[] | undefined {
    if (this.#pasted !== undefined) return this.#paste();
    const rest = this.#rest;
    if (rest === '' || (rest.startsWith(escape) && unfinished.test(rest.slice(1)))) return undefined;
    const run = printableRun.exec(rest)?.[0];
    if (run !== undefined) return this.#take(run.length, [{ type: 'text', text: run }]);
    if (!rest.startsWith(escape)) return this.#take(1, controlKey(rest.charAt(0)));
    return this.#escaped(rest);
  }

  #escaped(rest: string): readonly Key[] {
    if (rest.startsWith(pasteStart)) {
      this.#pasted = '';
      return this.#take(pasteStart.length, []);
    }
    const found = sequence.exec(rest.slice(1));
    if (found !== null) {
      const name = found[3] === undefined ? named(found[1] ?? '', found[2] ?? '') : arrows[found[3]];
      return this.#take(1 + found[0].length, name === undefined ? [] : [key(name)]);
    }
    if (rest.startsWith(escape + escape)) return this.#take(1, [key('escape')]);
    const [char = ''] = rest.slice(1);
    return this.#take(1 + char.length, altKey(char));
  }

  /** What is pasted is kept whole and never read as keys. */
  #paste(): readonly Key[] | undefined {
    const end = this.#rest.indexOf(pasteEnd);
    if (end === -1) {
      // The end mark itself may be cut.
      const sure = Math.max(0, this.#rest.length - pasteEnd.length);
      this.#pasted += this.#rest.slice(0, sure);
      this.#rest = this.#rest.slice(sure);
      return undefined;
    }
    const text = `${this.#pasted}${this.#rest.slice(0, end)}`;
    this.#pasted = undefined;
    return this.#take(end + pasteEnd.length, [{ type: 'paste', text }]);
  }

  #take(length: number, keys: readonly Key[]): readonly Key[] {
    this.#rest = this.#rest.slice(length);
    return keys;
  }
}
