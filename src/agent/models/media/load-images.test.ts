import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Attachment, TranscriptMessage } from '../../../core/transcript.ts';
import { capturingLogger } from '../../../lib/logger.ts';
import { imageLimits, loadImages } from './load-images.ts';

const image = (path: string, mime = 'image/png'): Attachment => ({ kind: 'photo', mime, name: 'x', path });
const png = Buffer.from([0x89, 0x50, 0x4e, 0x47]);
const row = (...attachments: Attachment[]): TranscriptMessage => ({ role: 'user', content: '', attachments });

/** `<folder>/media` is the media folder; `<folder>/secret.png` lies beside it. */
const withFolder = async (run: (mediaFolder: string, folder: string) => Promise<void>): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-images-'));
  try {
    await mkdir(join(folder, 'media'));
    await writeFile(join(folder, 'secret.png'), 'secret');
    await run(join(folder, 'media'), folder);
  } finally {
    await rm(folder, { recursive: true });
  }
};

test('images in the media folder are read; other files are left alone', () =>
  withFolder(async (mediaFolder) => {
    await writeFile(join(mediaFolder, 'a.png'), png);
    const a = image('a.png');
    const absolute = image(join(mediaFolder, 'a.png'));
    const { log } = capturingLogger();
    const images = await loadImages([row(a, absolute, image('a.png', 'application/pdf'))], { mediaFolder, log });
    assert.deepEqual([...images], [[a, { mime: 'image/png', base64: 'iVBORw==' }], [absolute, { mime: 'image/png', base64: 'iVBORw==' }]]);
    assert.equal((await loadImages([row(a)], { mediaFolder: undefined, log })).size, 0);
  }));

test('nothing outside the media folder is read, by path or by link', () =>
  withFolder(async (mediaFolder, folder) => {
    await symlink(join(folder, 'secret.png'), join(mediaFolder, 'link.png'));
    const { log, lines } = capturingLogger();
    const tries = [image('../secret.png'), image(join(folder, 'secret.png')), image('link.png'), image('missing.png'), image('.')];
    assert.equal((await loadImages([row(...tries)], { mediaFolder, log })).size, 0);
    assert.deepEqual(lines.map((line) => (JSON.parse(line) as { reason: string }).reason), ['outside', 'outside', 'outside', 'unreadable', 'outside']);
  }));

test('what is no image is not sent as one, and an image is sent as what it is', () =>
  withFolder(async (mediaFolder) => {
    await writeFile(join(mediaFolder, 'broken.png'), 'not a picture');
    await writeFile(join(mediaFolder, 'renamed.png'), Buffer.from([0xff, 0xd8, 0xff, 0xe0]));
    const { log, lines } = capturingLogger();
    const renamed = image('renamed.png');
    const images = await loadImages([row(image('broken.png'), renamed)], { mediaFolder, log });
    assert.deepEqual([...images], [[renamed, { mime: 'image/jpeg', base64: '/9j/4A==' }]]);
    assert.deepEqual(lines.map((line) => (JSON.parse(line) as { reason: string }).reason), ['no_image']);
  }));

test('size and number are limited, and the newest go first', () =>
  withFolder(async (mediaFolder) => {
    await writeFile(join(mediaFolder, 'big.png'), png);
    await truncate(join(mediaFolder, 'big.png'), imageLimits.eachBytes + 1);
    await writeFile(join(mediaFolder, 'fits.png'), png);
    await truncate(join(mediaFolder, 'fits.png'), imageLimits.eachBytes);
    await writeFile(join(mediaFolder, 'small.png'), png);
    const { log, lines } = capturingLogger();
    const old = image('fits.png');
    const newer = [image('fits.png'), image('fits.png'), image('fits.png')];
    const images = await loadImages([row(old), ...newer.map((each) => row(each)), row(image('big.png'))], { mediaFolder, log });
    assert.deepEqual([...images.keys()], newer.toReversed());
    assert.equal(lines.length, 2);
    const many = Array.from({ length: imageLimits.count + 5 }, () => row(image('small.png')));
    assert.equal((await loadImages(many, { mediaFolder, log })).size, imageLimits.count);
  }));
