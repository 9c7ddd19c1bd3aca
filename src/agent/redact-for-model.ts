import type { Redactor } from '../lib/redact.ts';

const privateKey = /-----BEGIN ((?:[A-Z0-9]{1,12} ){0,3})PRIVATE KEY-----[A-Za-z0-9+/=\s:,]{0,20000}(?:-----END \1PRIVATE KEY-----)?/g;

/** Names that speak of a credential, with or without something before them: `OPENAI_API_KEY`, `client-secret`, `db.password`. */
const secretName = String.raw`[A-Za-z0-9_.-]{0,60}(?:api[_-]?key|apikey|access[_-]?key|secret[_-]?key|private[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token|bot[_-]?token|token|client[_-]?secret|secret|password|passwd|passphrase|credentials?)`;
/** A value as people write one down: no call, no reference to something else, no sentence. */
const literal = String.raw`[A-Za-z0-9_+/=~!@#%^&*.:-]{8,400}`;

/** `NAME=value` and `name: value`, alone on a line as in .env and YAML files; the line's start keeps prose and code out. */
const assignment = new RegExp(String.raw`^(\s{0,40}(?:export\s{1,4}|-\s{1,4})?["']?${secretName}["']?[ \t]{0,4}[=:][ \t]{0,4})(["']?)(${literal})\2([ \t]{0,10}(?:,|#.*)?)$`, 'gim');
const inJson = new RegExp(String.raw`("${secretName}"\s{0,10}:\s{0,10}")(?:[^"\\\n]|\\.){8,4000}"`, 'gi');
const inQuery = new RegExp(String.raw`([?&]${secretName}=)[^\s&#"'<>]{6,}`, 'gi');

/** A name of something else, such as a variable; nothing is gained by hiding it. */
const isReference = (value: string): boolean => /^(?:process\.env|os\.environ|env\.|\$)/.test(value) || /^[A-Za-z_.]+$/.test(value);

/**
 * Text as a model, a memory or a memory provider may have it: known secrets, things that look like credentials, private keys and values of settings that are
 * named like secrets are gone. Ordinary text and code stay as they are.
 */
export const redactForModel = (redactor: Redactor, text: string): string =>
  redactor
    .redact(text.replace(privateKey, '-----BEGIN $1PRIVATE KEY----- ***'))
    .replace(assignment, (whole, start: string, quote: string, value: string, end: string) => (isReference(value) ? whole : `${start}${quote}***${quote}${end}`))
    .replace(inJson, '$1***"')
    .replace(inQuery, '$1***');
