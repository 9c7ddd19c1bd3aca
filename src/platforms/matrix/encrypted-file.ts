import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { PlatformError } from '../../core/errors.ts';
import type { Json } from './wire.ts';

/** https://spec.matrix.org/latest/client-server-api/#sending-encrypted-attachments */
const algorithm = 'aes-256-ctr';

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

/** Encrypts a file under a key of its own; `file` goes into the encrypted message, without the address. */
export const encryptFile = (plain: Buffer): { readonly bytes: Buffer<ArrayBuffer>; readonly file: Json } => {
  const key = randomBytes(32);
  // The lower half counts blocks, and must not run over.
  const iv = Buffer.concat([randomBytes(8), Buffer.alloc(8)]);
  const cipher = createCipheriv(algorithm, key, iv);
  const bytes = Buffer.concat([cipher.update(plain), cipher.final()]);
  const file = {
    v: 'v2',
    key: { kty: 'oct', key_ops: ['encrypt', 'decrypt'], alg: 'A256CTR', k: key.toString('base64url'), ext: true },
    iv: unpadded(iv),
    hashes: { sha256: unpadded(createHash('sha256').update(bytes).digest()) },
  };
  return { bytes, file };
};

export interface FileKey {
  readonly key: string;
  readonly iv: string;
  readonly sha256: string;
}

/** Reads an encrypted file as it comes. Fails at its end when it is not the file that the message spoke of. */
export async function* decryptFile(source: AsyncIterable<Uint8Array>, { key, iv, sha256 }: FileKey): AsyncGenerator<Uint8Array, void> {
  const [secret, start] = [Buffer.from(key, 'base64url'), Buffer.from(iv, 'base64')];
  if (secret.length !== 32 || start.length !== 16) throw new PlatformError('rejected', 'the key of the file is malformed');
  const decipher = createDecipheriv(algorithm, secret, start);
  const hash = createHash('sha256');
  for await (const chunk of source) {
    hash.update(chunk);
    yield decipher.update(chunk);
  }
  const rest = decipher.final();
  if (rest.length > 0) yield rest;
  if (!hash.digest().equals(Buffer.from(sha256, 'base64'))) throw new PlatformError('rejected', 'the file is not the one that was sent');
}
