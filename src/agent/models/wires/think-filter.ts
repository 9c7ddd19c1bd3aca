export type Emit = (type: 'text' | 'reasoning', delta: string) => void;

/** Splits the text of one answer, in whatever pieces it comes, into what is said and what is thought. */
export interface ThinkFilter {
  push(piece: string, emit: Emit): void;
  /** Lets go of what was held back because it could have become a tag. */
  end(emit: Emit): void;
}

const tags: readonly { readonly open: string; readonly close: string }[] = [
  { open: '<think>', close: '</think>' },
  { open: '<thinking>', close: '</thinking>' },
];

/** How many characters at the end of `text` could be the beginning of `tag`. */
const partialAtEnd = (text: string, tag: string): number => {
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length -= 1) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
};

const endsAtLineStart = (text: string, before: boolean): boolean => {
  const lineFeed = text.lastIndexOf('\n');
  if (lineFeed === -1 && !before) return false;
  return text.slice(lineFeed + 1).trim() === '';
};

/** An opening tag counts only at the start of a line: a sentence may well mention `<think>`. */
export const newThinkFilter = (): ThinkFilter => {
  let close: string | undefined;
  let held = '';
  let lineStart = true;
  let dropBlank = false;

  const say = (text: string, emit: Emit): void => {
    if (text === '') return;
    lineStart = endsAtLineStart(text, lineStart);
    emit('text', text);
  };

  /** Answers what follows the closing tag, or undefined when all of it was thought. */
  const think = (text: string, closing: string, emit: Emit): string | undefined => {
    const at = text.indexOf(closing);
    const end = at === -1 ? text.length - partialAtEnd(text, closing) : at;
    if (end > 0) emit('reasoning', text.slice(0, end));
    if (at === -1) {
      held = text.slice(end);
      return undefined;
    }
    close = undefined;
    dropBlank = true;
    lineStart = true;
    return text.slice(at + closing.length);
  };

  /** Answers what follows an opening tag, or undefined when all of it was said. */
  const speak = (text: string, emit: Emit): string | undefined => {
    for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at + 1)) {
      if (!endsAtLineStart(text.slice(0, at), lineStart)) continue;
      const rest = text.slice(at);
      const tag = tags.find(({ open }) => rest.startsWith(open));
      if (tag !== undefined) {
        say(text.slice(0, at), emit);
        close = tag.close;
        return rest.slice(tag.open.length);
      }
      if (tags.some(({ open }) => open.startsWith(rest))) {
        say(text.slice(0, at), emit);
        held = rest;
        return undefined;
      }
    }
    say(text, emit);
    return undefined;
  };

  return {
    push(piece, emit) {
      let text: string | undefined = held + piece;
      held = '';
      while (text !== undefined && text !== '') {
        if (close !== undefined) {
          text = think(text, close, emit);
          continue;
        }
        if (dropBlank) {
          text = text.trimStart();
          if (text === '') return;
          dropBlank = false;
        }
        text = speak(text, emit);
      }
    },
    end(emit) {
      if (held !== '') emit(close === undefined ? 'text' : 'reasoning', held);
      held = '';
    },
  };
};
