import { createHash } from 'node:crypto';

const maxChars = 80;

/** A name as Honcho takes it: letters, digits, `_` and `-`. Two different inputs never give the same name. */
export const honchoName = (...parts: readonly string[]): string => {
  const plain = parts.join('-');
  const safe = plain.replaceAll(/[^A-Za-z0-9_-]+/g, '_');
  // Parts that contain the joint could stand for others.
  const faithful = safe === plain && safe.length <= maxChars && parts.slice(0, -1).every((part) => !part.includes('-'));
  return faithful ? safe : `${safe.slice(0, maxChars - 17)}-${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16)}`;
};
