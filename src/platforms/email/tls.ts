import { readFile } from 'node:fs/promises';
import type { ConnectionOptions } from 'node:tls';
import { PlatformError } from '../../core/errors.ts';

/** How certificates are checked: by the machine's authorities, or by the owner's own. */
export const tlsOptions = async (caFile: string | undefined): Promise<ConnectionOptions> => {
  if (caFile === undefined) return { minVersion: 'TLSv1.2' };
  const ca = await readFile(caFile, 'utf8').catch((cause: unknown) => {
    throw new PlatformError('unavailable', `tls_ca_file ${caFile} cannot be read`, { cause });
  });
  return { minVersion: 'TLSv1.2', ca };
};
