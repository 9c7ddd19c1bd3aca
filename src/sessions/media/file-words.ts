import type { MediaKind, MediaRef } from '../../core/message.ts';

const kinds: Readonly<Record<MediaKind, string>> = {
  photo: 'photo',
  video: 'video',
  audio: 'audio file',
  voice: 'voice message',
  document: 'file',
  sticker: 'sticker',
  animation: 'animation',
};

const minute = 60;

const durationWords = (ms: number): string => {
  const seconds = Math.max(1, Math.round(ms / 1000));
  return seconds < minute ? `${seconds} s` : `${Math.floor(seconds / minute)}:${String(seconds % minute).padStart(2, '0')} min`;
};

/** A file as a sentence names it: `audio file "talk.mp3", 3:20 min`. */
export const fileWords = ({ kind, name, durationMs }: Pick<MediaRef, 'kind' | 'name' | 'durationMs'>): string => {
  const named = name === undefined ? kinds[kind] : `${kinds[kind]} ${JSON.stringify(name.slice(0, 80).toWellFormed())}`;
  return durationMs === undefined ? named : `${named}, ${durationWords(durationMs)}`;
};

export const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const units = ['bytes', 'KB', 'MB', 'GB'] as const;

export const sizeWords = (bytes: number): string => {
  const power = bytes < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const amount = bytes / 1024 ** power;
  return `${amount < 10 && power > 0 ? amount.toFixed(1) : Math.round(amount)} ${units[power] ?? 'bytes'}`;
};
