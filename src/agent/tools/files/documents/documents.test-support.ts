import { crc32, deflateRawSync } from 'node:zlib';

/** A ZIP archive with these files; what is short is not packed. */
export const zipOf = (files: Readonly<Record<string, string | Buffer>>): Buffer => {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let at = 0;
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content);
    const isPacked = bytes.length > 10;
    const packed = isPacked ? deflateRawSync(bytes) : bytes;
    const facts = Buffer.alloc(22);
    facts.writeUInt16LE(isPacked ? 8 : 0, 0);
    facts.writeUInt32LE(crc32(bytes), 6);
    facts.writeUInt32LE(packed.length, 10);
    facts.writeUInt32LE(bytes.length, 14);
    facts.writeUInt16LE(Buffer.byteLength(name), 18);
    const head = Buffer.concat([Buffer.from([0x50, 0x4b, 3, 4, 20, 0, 0, 0]), facts, Buffer.from(name)]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(at, 10);
    central.push(Buffer.concat([Buffer.from([0x50, 0x4b, 1, 2, 20, 0, 20, 0, 0, 0]), facts, place, Buffer.from(name)]));
    local.push(head, packed);
    at += head.length + packed.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(central.length, 8);
  end.writeUInt16LE(central.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...local, directory, end]);
};

export const docxOf = (body: string): Buffer => zipOf({ '[Content_Types].xml': '<Types/>', 'word/document.xml': `<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="w"><w:body>${body}</w:body></w:document>` });
