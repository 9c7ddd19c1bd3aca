import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** The configured token is the key to those that came after it: what is kept is of no use to whoever reads the database alone. */
const keyOf = (configured: string): Buffer => Buffer.from(hkdfSync('sha256', configured, '', 'hermes e-mail refresh token', 32));

/** What only `unseal` with the same configured token can read. */
export const seal = (configured: string, token: string): string => {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', keyOf(configured), iv);
  const sealed = Buffer.concat([cipher.update(token, 'utf8'), cipher.final()]);
  return [iv, cipher.getAuthTag(), sealed].map((part) => part.toString('base64url')).join('.');
};

/** Undefined for what was sealed with another token: the owner has made a new one since. */
export const unseal = (configured: string, kept: string): string | undefined => {
  const [iv, tag, sealed] = kept.split('.').map((part) => Buffer.from(part, 'base64url'));
  if (iv === undefined || tag === undefined || sealed === undefined) return undefined;
  try {
    const decipher = createDecipheriv('aes-256-gcm', keyOf(configured), iv).setAuthTag(tag);
    return Buffer.concat([decipher.update(sealed), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
};
