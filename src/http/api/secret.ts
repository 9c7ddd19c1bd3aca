import { createHash, randomBytes } from 'node:crypto';
import type { HashedSecret } from '../../store/api/api-keys.ts';

/** 256 random bits need no slow hash: nobody can try them out. */
export const hashApiSecret = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** A new credential; whoever makes it shows it once. */
export const newApiSecret = (): HashedSecret & { readonly secret: string } => {
  const secret = `hk_${randomBytes(32).toString('base64url')}`;
  return { secret, hash: hashApiSecret(secret), hint: `${secret.slice(0, 7)}…` };
};
