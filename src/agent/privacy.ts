import { createHash } from 'node:crypto';
import { z } from 'zod';
import { defineSection } from '../config/section.ts';

/** What models are told about people. */
export const privacySection = defineSection(
  'privacy',
  z
    .strictObject({
      redact_pii: z.boolean().default(false).describe('Models get a short hash in place of a person’s id (a number, an address) where nobody needs the id to be addressed, such as in Telegram and e-mail'),
    })
    .prefault({}),
  'live',
);

export type PrivacyOptions = z.output<(typeof privacySection)['schema']>;

/** A person's id as a model is told it. The same id gives the same hash, so that the model can tell people apart. */
export const idForModel = (id: string, options: PrivacyOptions, platform: { readonly hidesIds?: boolean }): string =>
  options.redact_pii && platform.hidesIds === true ? `user_${createHash('sha256').update(id).digest('hex').slice(0, 12)}` : id;
