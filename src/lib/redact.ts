/** Hides known secret values and things that look like credentials in text that leaves the process (logs, errors, metrics). */
export interface Redactor {
  /** Values of at least six characters are remembered; shorter ones would hit ordinary text. */
  remember(secret: string): void;
  redact(text: string): string;
}

const shapes: readonly RegExp[] = [
  /\b\d{6,12}:[A-Za-z0-9_-]{30,}\b/g, // Telegram bot token
  /\b[A-Za-z0-9_-]{23,30}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,45}\b/g, // Discord bot token
  /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}\b/g,
  /\bxox[abeprs]-[A-Za-z0-9-]{10,}\b/g,
  /\bxapp-[A-Za-z0-9-]{10,}\b/g,
  /\bgh[pousr]_[A-Za-z0-9]{20,}\b/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}\b/g,
];

const bearer = /\b(Bearer|Basic|Bot)\s+[A-Za-z0-9._~+/=-]{12,}/g;
const inUrl = /(:\/\/[^\s:/@]+:)[^\s:/@]+@/g;

export const newRedactor = (): Redactor => {
  const values = new Set<string>();
  return {
    remember(secret) {
      if (secret.length >= 6) values.add(secret);
    },
    redact(text) {
      let out = text;
      for (const value of values) if (out.includes(value)) out = out.replaceAll(value, '***');
      for (const shape of shapes) out = out.replace(shape, '***');
      return out.replace(bearer, '$1 ***').replace(inUrl, '$1***@');
    },
  };
};

/** `sk-a…9f2c` for people who need to recognise a secret; short ones show nothing. */
export const mask = (secret: string): string => (secret.length < 24 ? '***' : `${secret.slice(0, 4)}…${secret.slice(-4)}`);
