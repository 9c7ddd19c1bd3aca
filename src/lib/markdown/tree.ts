/** Styles of running text. A style never contains itself, and two neighbours never have the same one. */
export type TextStyle = 'bold' | 'italic' | 'strike' | 'spoiler';

export type Inline =
  /** May contain newlines: in a chat a line break is a line break. */
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: TextStyle; readonly children: readonly Inline[] }
  | { readonly type: 'code'; readonly text: string }
  /** `bare` when the text is the address itself. Never contains another link. */
  | { readonly type: 'link'; readonly url: string; readonly bare: boolean; readonly children: readonly Inline[] }
  | { readonly type: 'image'; readonly url: string; readonly alt: string };

export interface ListItem {
  /** As written: `-`, `*`, `+`, `3.` or `3)`. */
  readonly marker: string;
  /** Present for an item of a task list. */
  readonly checked?: boolean;
  readonly blocks: readonly Block[];
  /** Blank lines before it. */
  readonly gap: number;
}

export type BlockContent =
  | { readonly type: 'paragraph'; readonly children: readonly Inline[] }
  | { readonly type: 'heading'; readonly level: number; readonly children: readonly Inline[] }
  | { readonly type: 'code'; readonly language: string; readonly text: string }
  | { readonly type: 'quote'; readonly blocks: readonly Block[] }
  | { readonly type: 'list'; readonly items: readonly ListItem[] }
  | { readonly type: 'table'; readonly header: readonly Cell[]; readonly rows: readonly (readonly Cell[])[] }
  | { readonly type: 'rule' };

/** With the number of blank lines before it. */
export type Block = BlockContent & { readonly gap: number };

export type Cell = readonly Inline[];
