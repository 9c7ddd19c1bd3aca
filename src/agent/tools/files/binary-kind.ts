const starts = (bytes: Uint8Array, ...prefix: readonly number[]): boolean => prefix.every((byte, index) => bytes[index] === byte);
const has = (bytes: Uint8Array, at: number, text: string): boolean => [...text].every((letter, index) => bytes[at + index] === letter.charCodeAt(0));

/** How many bytes `binaryKind` wants to see. */
export const sniffBytes = 8192;

export type BinaryKind = { readonly type: 'image'; readonly name: string } | { readonly type: 'document'; readonly name: string } | { readonly type: 'other'; readonly name: string };

/** What a file is that cannot be shown as text, by its first bytes. Nothing when it may be text. */
export const binaryKind = (head: Uint8Array): BinaryKind | undefined => {
  if (starts(head, 0x89, 0x50, 0x4e, 0x47)) return { type: 'image', name: 'a PNG image' };
  if (starts(head, 0xff, 0xd8, 0xff)) return { type: 'image', name: 'a JPEG image' };
  if (has(head, 0, 'GIF8')) return { type: 'image', name: 'a GIF image' };
  if (has(head, 0, 'RIFF') && has(head, 8, 'WEBP')) return { type: 'image', name: 'a WebP image' };
  if (has(head, 4, 'ftypavif') || has(head, 4, 'ftyphei') || has(head, 4, 'ftypmif1')) return { type: 'image', name: 'an image' };
  if (has(head, 0, '%PDF-')) return { type: 'document', name: 'a PDF document' };
  if (starts(head, 0x50, 0x4b, 0x03, 0x04)) return { type: 'document', name: 'a ZIP archive or an office document' };
  if (has(head, 0, 'SQLite format 3')) return { type: 'other', name: 'an SQLite database' };
  if (starts(head, 0xff, 0xfe) || starts(head, 0xfe, 0xff)) return { type: 'other', name: 'UTF-16 text' };
  return head.subarray(0, sniffBytes).includes(0) ? { type: 'other', name: 'a binary file' } : undefined;
};

const hints: Readonly<Record<BinaryKind['type'], string>> = {
  image: 'To look at it, ask for it to be sent as a picture in the chat.',
  document: 'Convert it to text first, for example with a command in the terminal.',
  other: 'Only text can be shown here.',
};

export const binaryRefusal = (kind: BinaryKind, shown: string): string => `${shown} is ${kind.name}. ${hints[kind.type]}`;
