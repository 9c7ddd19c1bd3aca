/** What a voice message has to say about its recording. */
export interface Recording {
  readonly durationSeconds: number;
  /** Up to 256 heights, one byte each. */
  readonly waveform: Uint8Array;
}

/** Opus counts in this, whatever was recorded. */
const samplesPerSecond = 48_000;
const mostHeights = 256;

interface Page {
  readonly granule: bigint;
  readonly packetBytes: readonly number[];
  readonly body: Buffer;
  readonly next: number;
}

const pageHeaderBytes = 27;

/** https://www.rfc-editor.org/rfc/rfc3533 */
const readPage = (file: Buffer, at: number): Page | undefined => {
  if (file.length < at + pageHeaderBytes || file.toString('latin1', at, at + 4) !== 'OggS') return undefined;
  const segments = file[at + 26] ?? 0;
  const bodyAt = at + pageHeaderBytes + segments;
  const lacing = file.subarray(at + pageHeaderBytes, bodyAt);
  const packetBytes: number[] = [];
  let open = 0;
  for (const size of lacing) {
    open += size;
    if (size === 255) continue;
    packetBytes.push(open);
    open = 0;
  }
  const bytes = lacing.reduce((sum, size) => sum + size, 0);
  if (lacing.length < segments || file.length < bodyAt + bytes) return undefined;
  return { granule: file.readBigInt64LE(at + 6), packetBytes, body: file.subarray(bodyAt, bodyAt + bytes), next: bodyAt + bytes };
};

const heights = (sizes: readonly number[]): Uint8Array => {
  const count = Math.min(mostHeights, sizes.length);
  const largest = Math.max(1, ...sizes);
  return Uint8Array.from({ length: count }, (_, index) => {
    const part = sizes.slice(Math.floor((index * sizes.length) / count), Math.max(Math.floor(((index + 1) * sizes.length) / count), Math.floor((index * sizes.length) / count) + 1));
    return Math.round((255 * part.reduce((sum, size) => sum + size, 0)) / part.length / largest);
  });
};

/**
 * Reads length and waveform out of an Ogg Opus file; undefined when it is something else. Opus spends more bytes where more is to be heard,
 * so that the sizes of its packets draw a waveform without decoding anything.
 */
export const readOggOpus = (file: Buffer): Recording | undefined => {
  let page = readPage(file, 0);
  if (page === undefined || page.body.length < 12 || page.body.toString('latin1', 0, 8) !== 'OpusHead') return undefined;
  const preSkip = page.body.readUInt16LE(10);
  const sizes: number[] = [];
  let samples = 0n;
  for (let index = 0; page !== undefined; index += 1) {
    if (index >= 2) sizes.push(...page.packetBytes);
    if (page.granule > samples) samples = page.granule;
    page = readPage(file, page.next);
  }
  const played = Number(samples) - preSkip;
  return played <= 0 || sizes.length === 0 ? undefined : { durationSeconds: played / samplesPerSecond, waveform: heights(sizes) };
};
