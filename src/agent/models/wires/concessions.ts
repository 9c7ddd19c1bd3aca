import type { ErrorBody } from '../endpoints/refusal.ts';

/** Something that most endpoints take and some do not. Found out by a refusal, it is not sent again. */
export type Concession =
  | 'stream'
  | 'stream_options'
  | 'encrypted_reasoning'
  | 'effort'
  | 'token_limit' // the limit's usual name for this endpoint
  | 'images'
  | 'cache_control'
  | 'bare_calls' // tool calls without `reasoning_content`
  | 'unsigned_calls'; // tool calls without Google's signature

interface ConcessionRule {
  readonly concession: Concession;
  /** The field that the refusal names, where it names one. */
  readonly param?: RegExp;
  readonly phrase: RegExp;
}

const refusing = String.raw`(?:not (?:supported|allowed|available|permitted|recognized)|unsupported|unknown|unrecognized|does not support|doesn't support|extra (?:inputs|fields)|unexpected)`;
const refuses = new RegExp(refusing, 'i');

const refused = (what: string): RegExp => new RegExp(String.raw`(?:${what}).{0,80}${refusing}|${refusing}.{0,80}(?:${what})`, 'i');

/** In this order: a longer name comes before one that is a part of it. */
const rules: readonly ConcessionRule[] = [
  { concession: 'stream_options', param: /^stream_options/, phrase: refused('stream_options') },
  { concession: 'stream', param: /^stream$/, phrase: /verified to stream|\bstream(?:ing)?\b.{0,60}(?:not (?:supported|allowed|available)|unsupported|must be (?:set to )?false)|does(?: not|n't) support streaming/i },
  { concession: 'encrypted_reasoning', param: /^include/, phrase: /encrypted content is not supported|reasoning\.encrypted_content/i },
  { concession: 'effort', param: /^(?:reasoning|thinking|output_config)/, phrase: refused(String.raw`reasoning[._]effort|reasoning\.summary|output_config|\beffort\b|\bthinking\b`) },
  { concession: 'token_limit', param: /^max_(?:completion_)?tokens$/, phrase: refused('max_(?:completion_)?tokens') },
  { concession: 'images', phrase: /image (?:input|url|content)s?.{0,60}(?:not supported|unsupported)|(?:not|n't) support (?:image|vision)|support image input|unknown variant `?image_url|image_url is only supported by|image exceeds|image inputs? (?:is|are) not (?:enabled|supported)|at most 0 image|data required for image input|not a multimodal model/i },
  { concession: 'cache_control', param: /cache_control/, phrase: refused('cache_control') },
  { concession: 'bare_calls', phrase: /reasoning_content.{0,80}(?:must be passed back|is missing|is required)|missing.{0,40}reasoning_content/i },
  { concession: 'unsigned_calls', phrase: /missing an? `?thought_signature/i },
];

/** Refusals of the request itself. Some servers dress them as their own failure. */
const statuses: ReadonlySet<number> = new Set([400, 404, 415, 422, 500, 501]);

/** What not to send again after a refusal; undefined when leaving something out will not help. `used` is what the request held. */
export const concessionFor = (status: number, body: ErrorBody, used: ReadonlySet<Concession>): Concession | undefined => {
  if (!statuses.has(status)) return undefined;
  const text = body.text.slice(0, 4000);
  const named = (param: RegExp | undefined): boolean => body.param !== undefined && param?.test(body.param) === true && refuses.test(`${body.words.join(' ')} ${text}`);
  return rules.find(({ concession, param, phrase }) => used.has(concession) && (named(param) || phrase.test(text)))?.concession;
};
