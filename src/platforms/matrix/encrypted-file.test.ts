import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Attachment, EncryptedAttachment, initAsync } from '@matrix-org/matrix-sdk-crypto-wasm';
import { PlatformError } from '../../core/errors.ts';
import { decryptFile, encryptFile } from './encrypted-file.ts';
import { record, text } from './wire.ts';
import type { Json } from './wire.ts';

const keyOf = (file: Json) => ({ key: text(record(file['key'])?.['k']) ?? '', iv: text(file['iv']) ?? '', sha256: text(record(file['hashes'])?.['sha256']) ?? '' });

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
}

const read = async (bytes: Uint8Array, file: Json): Promise<string> => Buffer.concat(await Array.fromAsync(decryptFile(chunksOf(bytes), keyOf(file)))).toString();

const plain = 'What nobody else may read. '.repeat(9);

describe('an encrypted file', () => {
  it('of ours is read by the library that other clients use', async () => {
    await initAsync();
    const { bytes, file } = encryptFile(Buffer.from(plain));
    assert.equal(Buffer.from(Attachment.decrypt(new EncryptedAttachment(bytes, JSON.stringify(file)))).toString(), plain);
  });

  it('of that library is read by us, in any pieces', async () => {
    await initAsync();
    const sealed = Attachment.encrypt(Buffer.from(plain));
    assert.equal(await read(sealed.encryptedData, JSON.parse(sealed.mediaEncryptionInfo ?? '') as Json), plain);
  });

  it('that was changed on its way is refused', async () => {
    const { bytes, file } = encryptFile(Buffer.from(plain));
    bytes[20] = (bytes[20] ?? 0) ^ 1;
    await assert.rejects(read(bytes, file), PlatformError);
  });

  it('has a key of its own each time', () => {
    const [one, two] = [encryptFile(Buffer.from(plain)), encryptFile(Buffer.from(plain))];
    assert.notEqual(keyOf(one.file).key, keyOf(two.file).key);
    assert.ok(!one.bytes.equals(two.bytes));
  });
});
