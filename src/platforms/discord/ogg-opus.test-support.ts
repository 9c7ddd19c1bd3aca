const page = (granule: number, number: number, packets: readonly Buffer[]): Buffer => {
  const lacing = packets.flatMap(({ length }) => [...Array.from({ length: Math.floor(length / 255) }, () => 255), length % 255]);
  const head = Buffer.alloc(27);
  head.write('OggS');
  head.writeBigInt64LE(BigInt(granule), 6);
  head.writeUInt32LE(number, 18);
  head[26] = lacing.length;
  return Buffer.concat([head, Buffer.from(lacing), ...packets]);
};

const preSkip = 312;

/** A recording of so many seconds, louder in its second half, as a player would measure it. */
export const oggOpus = (seconds: number): Buffer => {
  const head = Buffer.alloc(19);
  head.write('OpusHead');
  head.writeUInt16LE(preSkip, 10);
  const packets = Array.from({ length: seconds * 50 }, (_, index) => Buffer.alloc(index < seconds * 25 ? 20 : 200, 1));
  return Buffer.concat([page(0, 0, [head]), page(0, 1, [Buffer.from('OpusTags')]), page(seconds * 48_000 + preSkip, 2, packets.slice(0, 100)), ...(packets.length > 100 ? [page(seconds * 48_000 + preSkip, 3, packets.slice(100))] : [])]);
};
