import { domainOf } from './addresses.ts';
import { namelessServer } from './providers.ts';

export interface Header {
  /** In lower case. */
  readonly key: string;
  readonly value: string;
}

/** Whether the mail server vouches for who wrote a mail, and by what. */
export type Proof = { readonly verified: true; readonly by: string } | { readonly verified: false; readonly why: string };

interface Finding {
  readonly method: string;
  readonly result: string;
  readonly properties: ReadonlyMap<string, string>;
}

/** Comments may hold anything, also what looks like a result, and may be nested. */
const withoutComments = (value: string): string => {
  let depth = 0;
  let kept = '';
  for (const char of value) {
    if (char === '(') depth += 1;
    else if (char === ')' && depth > 0) depth -= 1;
    else if (depth === 0) kept += char;
  }
  return kept;
};

const readFinding = (part: string): Finding | undefined => {
  const [first = '', ...rest] = part.trim().split(/\s+/);
  const [, method = '', result = ''] = /^([\w-]+)(?:\/\d+)?=(\w+)$/.exec(first) ?? [];
  if (method === '') return undefined;
  const properties = rest.map((word) => /^([\w.-]+)=(.*)$/.exec(word)).filter((match) => match !== null);
  return { method: method.toLowerCase(), result: result.toLowerCase(), properties: new Map(properties.map(([, name = '', value = '']) => [name.toLowerCase(), value.replace(/^"|"$/g, '').toLowerCase()])) };
};

/** RFC 8601. Microsoft leaves the name of the server out. */
const readResults = (value: string): { readonly server: string; readonly findings: readonly Finding[] } => {
  const parts = withoutComments(value).split(';').map((part) => part.trim());
  const named = !(parts[0] ?? '').includes('=');
  const server = named ? ((parts[0] ?? '').split(/\s+/, 1)[0] ?? '').toLowerCase() : namelessServer;
  return { server, findings: parts.slice(named ? 1 : 0).map(readFinding).filter((finding) => finding !== undefined) };
};

const isTrusted = (server: string, trusted: readonly string[]): boolean => trusted.some((id) => id === server || (id.startsWith('*.') && server.endsWith(id.slice(1))));

/** A domain may speak for itself and for what lies below it; a single label may not. */
const speaksFor = (domain: string, author: string): boolean => domain === author || (domain.includes('.') && author.endsWith(`.${domain}`));

const signer = ({ properties }: Finding): string => properties.get('header.d') ?? domainOf(properties.get('header.i') ?? '');
const envelope = ({ properties }: Finding): string => {
  const sender = properties.get('smtp.mailfrom') ?? '';
  return domainOf(sender) || sender;
};

/** DMARC decides where there is a word of it; otherwise a signature or an envelope of the author's own domain does, or the login of a neighbour on the same server. */
const judge = (findings: readonly Finding[], from: string): Proof => {
  const author = domainOf(from);
  const passed = (method: string): readonly Finding[] => findings.filter((finding) => finding.method === method && finding.result === 'pass');
  const dmarc = findings.filter(({ method }) => method === 'dmarc');
  if (dmarc.some(({ result }) => result === 'fail')) return { verified: false, why: 'dmarc=fail' };
  const aligned = dmarc.find(({ result, properties }) => result === 'pass' && (properties.get('header.from') ?? author) === author);
  if (aligned !== undefined) return { verified: true, by: 'dmarc' };
  if (author !== '' && passed('dkim').some((finding) => speaksFor(signer(finding), author))) return { verified: true, by: 'dkim' };
  if (author !== '' && passed('spf').some((finding) => speaksFor(envelope(finding), author))) return { verified: true, by: 'spf' };
  if (passed('auth').some(({ properties }) => properties.get('smtp.auth') === from.toLowerCase())) return { verified: true, by: 'auth' };
  const told = findings.map(({ method, result }) => `${method}=${result}`).join(', ');
  return { verified: false, why: `nothing that passed speaks for ${author || 'the sender'} (${told || 'no results'})` };
};

const resultsHeader = 'authentication-results';

/**
 * Reads only the topmost `Authentication-Results` of a trusted server: whatever a sender writes stands below it. Without trusted names
 * it has to stand above the first `Received`, where only the last server can have put it.
 */
export const proveSender = (mail: { readonly headers: readonly Header[]; readonly from: string }, trusted: readonly string[]): Proof => {
  const at = mail.headers.findIndex(({ key, value }) => key === resultsHeader && (trusted.length === 0 || isTrusted(readResults(value).server, trusted)));
  const header = mail.headers[at];
  if (header === undefined) {
    const others = mail.headers.filter(({ key }) => key === resultsHeader).map(({ value }) => readResults(value).server);
    return { verified: false, why: others.length === 0 ? 'no Authentication-Results' : `no Authentication-Results of a trusted server, only of ${others.join(', ')}` };
  }
  const { server, findings } = readResults(header.value);
  const firstHop = mail.headers.findIndex(({ key }) => key === 'received');
  if (trusted.length === 0 && firstHop !== -1 && firstHop < at) return { verified: false, why: `Authentication-Results of ${server} could be the sender's own; add it to authserv_ids if that is your mail server` };
  const proof = judge(findings, mail.from);
  return proof.verified ? { verified: true, by: `${proof.by} at ${server}` } : { verified: false, why: `${proof.why} at ${server}` };
};
