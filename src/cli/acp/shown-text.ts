import { cursor } from '../../delivery/preview.ts';

/** What an editor has been shown of messages that grow. Editors only add: what was shown cannot be taken back. */
export class ShownTexts {
  readonly #growing = new Map<string, string>();
  readonly #shown = new Map<string, string>();

  /** Takes in a piece of a growing message; answers what can be added to what is shown. */
  grow(id: string, at: number, piece: string): string {
    const text = (this.#growing.get(id) ?? '').slice(0, at) + piece;
    this.#growing.set(id, text);
    return this.#add(id, text.endsWith(cursor) ? text.slice(0, -cursor.length) : text);
  }

  /** The last words of a message; all of them anew when they are not those that were shown. */
  settle(id: string, text: string): string {
    const shown = this.#shown.get(id) ?? '';
    this.#growing.delete(id);
    this.#shown.delete(id);
    if (text.startsWith(shown)) return text.slice(shown.length);
    return `\n\n${text}`;
  }

  #add(id: string, text: string): string {
    const shown = this.#shown.get(id) ?? '';
    if (!text.startsWith(shown)) return '';
    this.#shown.set(id, text);
    return text.slice(shown.length);
  }
}
