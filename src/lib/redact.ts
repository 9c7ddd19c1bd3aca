/** Hides known secret values and things that look like credentials in text that leaves the process (logs, errors, metrics). */
export interface Redactor {
  /** Values of at least six characters are remembered, also as they look in an address, in JSON and in base64; shorter ones would hit ordinary text. */
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
const inUrl = /(:\/\/[^\s:/@]*:)[^\s:/@]+@/g;

/** Shorter ones would be found in ordinary text once they are encoded. */
const leastEncoded = 13;
const mayHoldBase64 = /[A-Za-z0-9+/_-]{16}/;

/** What stays of a value in base64, wherever in a longer text it stood: without the characters that its neighbours have a part in. */
const base64Forms = (value: string): readonly string[] =>
  [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]);
    const [start, end] = [Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6)];
    return [bytes.toString('base64').slice(start, end), bytes.toString('base64url').slice(start, end)];
  });

const jsonForm = (value: string): string => JSON.stringify(value).slice(1, -1);

/** The longest first: of a value that begins another one, hiding the short one would leave the rest of the long one to read. */
const withForms = (known: ReadonlySet<string>, forms: readonly string[]): ReadonlySet<string> => new Set([...known, ...forms].toSorted((a, b) => b.length - a.length));

export const newRedactor = (): Redactor => {
  let values: ReadonlySet<string> = new Set();
  let escaped: ReadonlySet<string> = new Set();
  let inBase64: ReadonlySet<string> = new Set();
  const hide = (text: string, some: Iterable<string>): string => {
    let out = text;
    for (const value of some) if (out.includes(value)) out = out.replaceAll(value, '***');
    return out;
  };
  return {
    remember(secret) {
      if (secret.length < 6 || values.has(secret)) return;
      values = withForms(values, [secret]);
      escaped = withForms(escaped, [encodeURIComponent(secret.toWellFormed()), encodeURI(secret.toWellFormed()), jsonForm(secret)].filter((form) => form !== secret));
      if (secret.length >= leastEncoded) inBase64 = withForms(inBase64, base64Forms(secret));
    },
    redact(text) {
      // First the longer forms: a part of a secret may be known as well.
      let out = text.includes('%') || text.includes('\\') ? hide(text, escaped) : text;
      out = hide(out, values);
      if (mayHoldBase64.test(out)) out = hide(out, inBase64);
      for (const shape of shapes) out = out.replace(shape, '***');
      return out.replace(bearer, '$1 ***').replace(inUrl, '$1***@');
    },
  };
};

/** `sk-a…9f2c` for people who need to recognise a secret; short ones show nothing. */
export const mask = (secret: string): string => (secret.length < 24 ? '***' : `${secret.slice(0, 4)}…${secret.slice(-4)}`);
