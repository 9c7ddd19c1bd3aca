import { extname } from 'node:path';
import type { MediaKind } from '../core/message.ts';

interface FileKind {
  readonly kind: MediaKind;
  readonly mime: string;
}

const of = (kind: MediaKind, mime: string): FileKind => ({ kind, mime });

/** Files that are known by the end of their name; everything else is a document. */
const kinds: Readonly<Record<string, FileKind>> = {
  png: of('photo', 'image/png'),
  jpg: of('photo', 'image/jpeg'),
  jpeg: of('photo', 'image/jpeg'),
  webp: of('photo', 'image/webp'),
  bmp: of('photo', 'image/bmp'),
  gif: of('animation', 'image/gif'),
  mp4: of('video', 'video/mp4'),
  mov: of('video', 'video/quicktime'),
  avi: of('video', 'video/x-msvideo'),
  mkv: of('video', 'video/x-matroska'),
  webm: of('video', 'video/webm'),
  ogg: of('audio', 'audio/ogg'),
  opus: of('audio', 'audio/opus'),
  mp3: of('audio', 'audio/mpeg'),
  wav: of('audio', 'audio/wav'),
  m4a: of('audio', 'audio/mp4'),
  flac: of('audio', 'audio/flac'),
  epub: of('document', 'application/epub+zip'),
  pdf: of('document', 'application/pdf'),
  zip: of('document', 'application/zip'),
  rar: of('document', 'application/vnd.rar'),
  '7z': of('document', 'application/x-7z-compressed'),
  doc: of('document', 'application/msword'),
  docx: of('document', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'),
  xls: of('document', 'application/vnd.ms-excel'),
  xlsx: of('document', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'),
  ppt: of('document', 'application/vnd.ms-powerpoint'),
  pptx: of('document', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'),
  txt: of('document', 'text/plain'),
  md: of('document', 'text/markdown'),
  csv: of('document', 'text/csv'),
  json: of('document', 'application/json'),
  html: of('document', 'text/html'),
  svg: of('document', 'image/svg+xml'),
  apk: of('document', 'application/vnd.android.package-archive'),
  ipa: of('document', 'application/octet-stream'),
};

/** For patterns that look for the end of a path. */
export const knownExtensions: readonly string[] = Object.keys(kinds);

/** What people see as a picture or a film at once. */
export const visualExtensions: readonly string[] = knownExtensions.filter((name) => ['photo', 'animation', 'video'].includes(kinds[name]?.kind ?? ''));
export const imageExtensions: readonly string[] = visualExtensions.filter((name) => kinds[name]?.kind !== 'video');

/** How a file is shown. `asVoice`: sound as if somebody had spoken it. `asDocument`: pictures as files, with every pixel. */
export const fileKind = (name: string, wish: { readonly asVoice: boolean; readonly asDocument: boolean }): FileKind => {
  const found = kinds[extname(name).slice(1).toLowerCase()] ?? of('document', 'application/octet-stream');
  if (found.kind === 'audio' && wish.asVoice) return { ...found, kind: 'voice' };
  return wish.asDocument && (found.kind === 'photo' || found.kind === 'animation') ? { ...found, kind: 'document' } : found;
};
