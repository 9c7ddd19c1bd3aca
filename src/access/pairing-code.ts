import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import type { CodeHash } from '../core/code-hash.ts';

/** Without characters that people confuse. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const length = 8;

export const newCode = (): string => Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');

/** What somebody typed as a code, or undefined when it cannot be one. */
export const readCode = (text: string): string | undefined => {
  const code = text.trim().toUpperCase();
  return code.length === length && [...code].every((character) => alphabet.includes(character)) ? code : undefined;
};

const digest = (salt: string, code: string): Buffer => createHash('sha256').update(Buffer.from(salt, 'hex')).update(code).digest();

export const hashCode = (code: string): CodeHash => {
  const salt = randomBytes(16).toString('hex');
  return { salt, hash: digest(salt, code).toString('hex') };
};

export const isCode = (kept: CodeHash, code: string): boolean => timingSafeEqual(digest(kept.salt, code), Buffer.from(kept.hash, 'hex'));
