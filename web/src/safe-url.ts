const safe: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:']);

/** The address when a link may lead there; undefined for scripts, data, files and what is no address. */
export const safeUrl = (url: string): string | undefined => {
  const parsed = URL.parse(url.trim());
  return parsed !== null && safe.has(parsed.protocol) ? parsed.href : undefined;
};
