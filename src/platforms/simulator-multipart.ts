/** One field of a form with files. */
export interface FormPart {
  readonly name: string;
  /** Undefined for a field that is no file. */
  readonly fileName: string | undefined;
  readonly mime: string | undefined;
  readonly content: Buffer;
}

/** The boundary that a request names; undefined for one that carries no form with files. */
export const boundaryOf = (contentType: string): string | undefined => {
  const found = /boundary=(?:"([^"]+)"|([^;]+))/.exec(contentType);
  return found?.[1] ?? found?.[2];
};

/** The fields of a form as a simulated platform receives it. */
export const partsOf = (body: Buffer, boundary: string): readonly FormPart[] => {
  const parts: FormPart[] = [];
  const delimiter = Buffer.from(`--${boundary}`);
  for (let from = body.indexOf(delimiter); from !== -1; ) {
    const start = from + delimiter.length;
    const next = body.indexOf(delimiter, start);
    if (next === -1) break;
    const part = body.subarray(start + 2, next - 2);
    const split = part.indexOf('\r\n\r\n');
    const head = part.subarray(0, split).toString('utf8');
    parts.push({
      name: /name="([^"]*)"/i.exec(head)?.[1] ?? '',
      fileName: /filename="?([^"\r\n]*)"?/i.exec(head)?.[1],
      mime: /content-type: *([^\r\n]+)/i.exec(head)?.[1],
      content: part.subarray(split + 4),
    });
    from = next;
  }
  return parts;
};
