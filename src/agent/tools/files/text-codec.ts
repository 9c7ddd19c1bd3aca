/** How a text was written down, so that a changed one is written the same way. */
export interface TextForm {
  readonly bom: boolean;
  /** Every line ends with CR LF. */
  readonly crlf: boolean;
}

export interface DecodedText extends TextForm {
  /** Without byte order mark, with plain line feeds when `crlf` is true. */
  readonly text: string;
}

const byteOrderMark = '\uFEFF';
const fatal = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Nothing when the bytes are not UTF-8. */
export const decodeText = (bytes: Uint8Array): DecodedText | undefined => {
  let whole: string;
  try {
    whole = fatal.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
  const bom = whole.startsWith(byteOrderMark);
  const text = bom ? whole.slice(1) : whole;
  const crlf = text.includes('\r\n') && !/(?<!\r)\n/.test(text);
  return { text: crlf ? text.replaceAll('\r\n', '\n') : text, bom, crlf };
};

export const encodeText = (text: string, { bom, crlf }: TextForm): Uint8Array => Buffer.from((bom ? byteOrderMark : '') + (crlf ? text.replaceAll(/\r?\n/g, '\r\n') : text), 'utf8');
