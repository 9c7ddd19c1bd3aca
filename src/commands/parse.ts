export interface ParsedCommand {
  readonly name: string;
  readonly args: string;
}

/**
 * `/name args`, undefined for anything else. `/etc/hosts` is a path, not a command; `@bot` behind the name is dropped; dashes that a
 * phone has made long are made plain again.
 */
export const parseCommand = (text: string): ParsedCommand | undefined => {
  const match = /^\/([^\s/@]+)(?:@\S*)?(?:\s+([\s\S]*))?$/.exec(text.trim());
  if (match?.[1] === undefined) return undefined;
  const args = (match[2] ?? '').replaceAll('—', '--').replaceAll('–', '-').trim();
  return { name: match[1].toLowerCase(), args };
};
