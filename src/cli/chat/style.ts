/** How a stretch of text looks. */
export interface Style {
  readonly bold?: boolean;
  readonly dim?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
  readonly strike?: boolean;
  readonly color?: keyof typeof colors;
}

export interface Span {
  readonly text: string;
  readonly style: Style;
}

/** One line of the screen. It holds no control characters: those are made from the styles when it is written. */
export type Line = readonly Span[];

const colors = { red: 31, green: 32, yellow: 33, blue: 34, magenta: 35, cyan: 36 } as const;

export const plain: Style = {};

export const span = (text: string, style: Style = plain): Span => ({ text, style });

export const line = (text: string, style: Style = plain): Line => [span(text, style)];

const codesOf = (style: Style): readonly number[] => [
  ...(style.bold === true ? [1] : []),
  ...(style.dim === true ? [2] : []),
  ...(style.italic === true ? [3] : []),
  ...(style.underline === true ? [4] : []),
  ...(style.strike === true ? [9] : []),
  ...(style.color === undefined ? [] : [colors[style.color]]),
];

export const lineText = (spans: Line): string => spans.map(({ text }) => text).join('');

/** The line as the terminal gets it. */
export const paintLine = (spans: Line, colored: boolean): string => {
  if (!colored) return lineText(spans);
  return spans
    .map(({ text, style }) => {
      const codes = codesOf(style);
      return codes.length === 0 || text === '' ? text : `\u001b[${codes.join(';')}m${text}\u001b[0m`;
    })
    .join('');
};
