import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { createGunzip } from 'node:zlib';
import { ConfigError } from '../core/errors.ts';
import { ArchiveFault, readTar } from '../lib/tar.ts';
import type { TarEntry } from '../lib/tar.ts';
import { manifestName, manifestSchema } from './manifest.ts';
import type { Manifest } from './manifest.ts';

/** A name that stays below the folder it is unpacked into. What separates folders and disks elsewhere is part of a name here. */
const isSafeName = (name: string): boolean => !name.includes('\0') && (sep === '/' || !/[\\:]/.test(name)) && name.split('/').every((part) => part !== '' && part !== '.' && part !== '..');

const maxManifestBytes = 256 * 1024 * 1024;

const readManifest = async (entry: TarEntry): Promise<Manifest> => {
  if (entry.sizeBytes > maxManifestBytes) throw new ArchiveFault('its list of files is too long');
  const pieces: Buffer[] = [];
  for await (const piece of entry.content) pieces.push(piece);
  const parsed = manifestSchema.safeParse(JSON.parse(Buffer.concat(pieces).toString('utf8')));
  if (!parsed.success) throw new ArchiveFault('it was not made by hermes backup, or by a version that this one cannot read');
  return parsed.data;
};

/** The SHA-256 of what came, which is written to `path` when there is one. */
const take = async (entry: TarEntry, path: string | undefined): Promise<string> => {
  const hash = createHash('sha256');
  if (path === undefined) {
    for await (const piece of entry.content) hash.update(piece);
    return hash.digest('hex');
  }
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, 'wx', (entry.mode & 0o700) | 0o600);
  try {
    for await (const piece of entry.content) {
      hash.update(piece);
      // A bare write may take a part of it, as on a disk that is just full.
      await file.appendFile(piece);
    }
    await file.sync();
    const seconds = entry.mtimeMs / 1000;
    await file.utimes(seconds, seconds);
  } finally {
    await file.close();
  }
  return hash.digest('hex');
};

const compare = (manifest: Manifest, found: ReadonlyMap<string, string>): void => {
  for (const { path, sha256 } of manifest.files) {
    const hash = found.get(path);
    if (hash === undefined) throw new ArchiveFault(`${path} is missing`);
    if (hash !== sha256) throw new ArchiveFault(`${path} is not what was put into it`);
  }
  if (found.size !== manifest.files.length) throw new ArchiveFault('it holds files that nobody put into it');
};

/** zlib names what is wrong with compressed data by codes of its own. */
const isFault = (error: unknown): error is Error => error instanceof ArchiveFault || error instanceof SyntaxError || (error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('Z_'));

/** Reads a backup from end to end and compares every file with its checksum; with `into`, a folder that is empty, the files are there afterwards. */
export const unpackBackup = async (file: string, options: { readonly into?: string; readonly signal?: AbortSignal | undefined } = {}): Promise<Manifest> => {
  const found = new Map<string, string>();
  const source = createReadStream(file, { signal: options.signal });
  const unzipped = source.pipe(createGunzip());
  source.on('error', (error) => unzipped.destroy(error));
  let manifest: Manifest | undefined;
  try {
    for await (const entry of readTar(unzipped)) {
      if (!isSafeName(entry.name)) throw new ArchiveFault('it holds a file that would lie outside of the home');
      if (manifest !== undefined) throw new ArchiveFault('it goes on after its end');
      if (entry.name === manifestName) manifest = await readManifest(entry);
      else found.set(entry.name, await take(entry, options.into === undefined ? undefined : join(options.into, entry.name)));
    }
    if (manifest === undefined) throw new ArchiveFault('it has no list of its files');
    compare(manifest, found);
    return manifest;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && (error as NodeJS.ErrnoException).path === file) throw new ConfigError(`There is no file ${file}.`, { cause: error });
    if (isFault(error)) throw new ConfigError(`${file} cannot be used as a backup: ${error instanceof ArchiveFault ? error.message : 'it is damaged'}. Nothing was changed.`, { cause: error });
    throw error;
  } finally {
    source.destroy();
  }
};
