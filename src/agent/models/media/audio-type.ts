export interface AudioType {
  readonly mime: string;
  /** With its dot. */
  readonly extension: string;
}

const starts = (bytes: Uint8Array, at: number, text: string): boolean => [...text].every((letter, index) => bytes[at + index] === letter.charCodeAt(0));

const types = {
  ogg: { mime: 'audio/ogg', extension: '.ogg' },
  mp3: { mime: 'audio/mpeg', extension: '.mp3' },
  aac: { mime: 'audio/aac', extension: '.aac' },
  m4a: { mime: 'audio/mp4', extension: '.m4a' },
  wav: { mime: 'audio/wav', extension: '.wav' },
  flac: { mime: 'audio/flac', extension: '.flac' },
  webm: { mime: 'audio/webm', extension: '.webm' },
} as const satisfies Readonly<Record<string, AudioType>>;

/** MP3 and AAC without a header begin with eleven bits set; the layer tells them apart. */
const byFrame = (bytes: Uint8Array): AudioType | undefined => {
  const [first = 0, second = 0] = bytes;
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return undefined;
  return (second & 0x06) === 0 ? types.aac : types.mp3;
};

/** What a recording is by its first bytes, whatever it is called; undefined when it is none that is known. */
export const audioTypeOf = (bytes: Uint8Array): AudioType | undefined => {
  if (starts(bytes, 0, 'OggS')) return types.ogg;
  if (starts(bytes, 0, 'ID3')) return types.mp3;
  if (starts(bytes, 0, 'RIFF') && starts(bytes, 8, 'WAVE')) return types.wav;
  if (starts(bytes, 0, 'fLaC')) return types.flac;
  if (starts(bytes, 4, 'ftyp')) return types.m4a;
  if (starts(bytes, 0, '\u001A\u0045\u00DF\u00A3')) return types.webm;
  return byFrame(bytes);
};
