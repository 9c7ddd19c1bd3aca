import type { PlatformErrorCode } from '../../core/errors.ts';

const fixes: Readonly<Partial<Record<PlatformErrorCode, string>>> = {
  bad_credential: 'Get a new credential from the platform and run: hermes setup platform',
  conflict: 'Another program uses this credential. Stop it, or make a bot of its own for this gateway',
  unavailable: 'Check the network, a proxy, and the address in the settings of the platform',
  forbidden: 'The platform has blocked this account or its rights are missing',
  rate_limited: 'The platform asks for patience. Try again later',
};

/** What a person can do about an account that does not work, by the code of what went wrong. */
export const accountFix = (code: string, platform: string): string => (fixes as Readonly<Record<string, string>>)[code] ?? `See docs/platforms/${platform}.md`;
