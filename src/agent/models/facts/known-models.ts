/** What is known about models by the beginning of their name, for endpoints that do not tell. */
interface KnownModel {
  readonly contextTokens: number;
  readonly outputTokens?: number;
  /** Thinks for long without a sign of it. */
  readonly thinks?: true;
  readonly sees?: true;
}

const k = 1000;
const million = 1_000_000;

/** Names as after `plainName`. The longest that the model's name begins with counts. */
const knownModels: Readonly<Record<string, KnownModel>> = {
  'claude-3': { contextTokens: 200 * k, outputTokens: 4096, sees: true },
  'claude-3-5': { contextTokens: 200 * k, outputTokens: 8192, sees: true },
  'claude-3-7': { contextTokens: 200 * k, outputTokens: 64 * k, sees: true },
  'claude-opus-4': { contextTokens: 200 * k, outputTokens: 32 * k, sees: true },
  'claude-opus-4-5': { contextTokens: 200 * k, outputTokens: 64 * k, sees: true },
  'claude-opus-4-6': { contextTokens: 200 * k, outputTokens: 128 * k, sees: true },
  'claude-opus-4-7': { contextTokens: million, outputTokens: 128 * k, sees: true },
  'claude-opus-4-8': { contextTokens: million, outputTokens: 128 * k, sees: true },
  'claude-sonnet-4': { contextTokens: 200 * k, outputTokens: 64 * k, sees: true },
  'claude-haiku-4-5': { contextTokens: 200 * k, outputTokens: 64 * k, sees: true },
  'claude-opus-5': { contextTokens: million, outputTokens: 128 * k, sees: true },
  'claude-sonnet-5': { contextTokens: million, outputTokens: 128 * k, sees: true },
  'claude-haiku-5': { contextTokens: million, outputTokens: 128 * k, sees: true },
  'claude-fable-5': { contextTokens: million, outputTokens: 128 * k, sees: true },
  'claude-mythos-5': { contextTokens: million, outputTokens: 128 * k, sees: true },
  'gpt-3-5-turbo': { contextTokens: 16_385 },
  'gpt-4': { contextTokens: 8192 },
  'gpt-4-turbo': { contextTokens: 128 * k, sees: true },
  'gpt-4o': { contextTokens: 128 * k, sees: true },
  'gpt-4-1': { contextTokens: 1_047_576, sees: true },
  'gpt-5': { contextTokens: 400 * k, thinks: true, sees: true },
  'gpt-5-chat-latest': { contextTokens: 128 * k, sees: true },
  'gpt-5-4': { contextTokens: 1_050_000, thinks: true, sees: true },
  'gpt-5-4-mini': { contextTokens: 400 * k, thinks: true, sees: true },
  'gpt-5-4-nano': { contextTokens: 400 * k, thinks: true, sees: true },
  'gpt-5-5': { contextTokens: 1_050_000, thinks: true, sees: true },
  'gpt-6': { contextTokens: 400 * k, thinks: true, sees: true },
  'gpt-oss': { contextTokens: 131_072, thinks: true },
  o1: { contextTokens: 200 * k, thinks: true, sees: true },
  o3: { contextTokens: 200 * k, thinks: true, sees: true },
  'o3-mini': { contextTokens: 200 * k, thinks: true },
  'o4-mini': { contextTokens: 200 * k, thinks: true, sees: true },
  gemini: { contextTokens: 1_048_576, thinks: true, sees: true },
  'deepseek-chat': { contextTokens: 128 * k, thinks: true },
  'deepseek-reasoner': { contextTokens: 128 * k, thinks: true },
  'deepseek-flash': { contextTokens: million, thinks: true, sees: true },
  'deepseek-v4': { contextTokens: million, thinks: true },
  'grok-3': { contextTokens: 131_072 },
  'grok-4': { contextTokens: 256 * k, thinks: true, sees: true },
  'grok-4-3': { contextTokens: million, thinks: true, sees: true },
  'grok-4-5': { contextTokens: 500 * k, thinks: true, sees: true },
  'grok-4-6': { contextTokens: 500 * k, thinks: true, sees: true },
  'grok-4-7': { contextTokens: 500 * k, thinks: true, sees: true },
  'grok-4-20': { contextTokens: million, thinks: true, sees: true },
  'grok-code-fast': { contextTokens: 256 * k, thinks: true },
  'kimi-k2': { contextTokens: 262_144, thinks: true },
  'kimi-k2-5': { contextTokens: 262_144, thinks: true, sees: true },
  'kimi-k2-6': { contextTokens: 262_144, thinks: true, sees: true },
  'glm-4-6': { contextTokens: 200 * k, thinks: true },
  'glm-5': { contextTokens: 200 * k, thinks: true },
  'mistral-large': { contextTokens: 128 * k },
  'mistral-large-2512': { contextTokens: 256 * k, sees: true },
  'mistral-large-latest': { contextTokens: 128 * k, sees: true },
  'mistral-medium': { contextTokens: 128 * k, sees: true },
  'mistral-small': { contextTokens: 128 * k, sees: true },
  codestral: { contextTokens: 256 * k },
  'llama-3-1': { contextTokens: 128 * k },
  'llama-3-3': { contextTokens: 128 * k },
  'llama-4': { contextTokens: 128 * k, sees: true },
  'qwen3-coder': { contextTokens: 262_144 },
};

/** Without the maker's name in front, and with the same letters wherever it is sold: `anthropic/claude-opus-4.5` is `claude-opus-4-5`. */
export const plainName = (model: string): string => model.slice(model.lastIndexOf('/') + 1).toLowerCase().replaceAll('.', '-');

const partEnds: ReadonlySet<string> = new Set(['-', ':', '@']);

/** The entry under the longest key with which the model's name begins. A key ends where a part of the name ends. */
export const longestPrefix = <T>(table: Readonly<Record<string, T>>, model: string): T | undefined => {
  const name = plainName(model);
  for (let end = name.length; end > 0; end -= 1) {
    if (end < name.length && !partEnds.has(name.charAt(end))) continue;
    const key = name.slice(0, end);
    if (Object.hasOwn(table, key)) return table[key];
  }
  return undefined;
};

const known = (model: string): KnownModel | undefined => longestPrefix(knownModels, model);

/** Undefined when nothing is known about the model. */
export const knownContextTokens = (model: string): number | undefined => known(model)?.contextTokens;

export const thinksBeforeSpeaking = (model: string): boolean => known(model)?.thinks === true;

/** Whether the model can look at images; undefined when nothing is known about it. */
export const seesImages = (model: string): boolean | undefined => {
  const found = known(model);
  return found === undefined ? undefined : found.sees === true;
};

/** More is seldom one answer, and what is cut off is continued. */
const longestAnswerTokens = 32 * k;
const unknownAnswerTokens = 8192;

/** For endpoints that insist on a limit. */
export const mostOutputTokens = (model: string): number => Math.min(known(model)?.outputTokens ?? unknownAnswerTokens, longestAnswerTokens);

/** How a Claude is told to think: with a budget, as it sees fit, or as it sees fit and bound to the conversation in which it thought. */
export const thinkingOf = (model: string): 'budget' | 'adaptive' | 'bound' => {
  const name = plainName(model);
  if (/^claude-\d/.test(name)) return 'budget';
  const [, major, minor] = /^claude-[a-z]+-(\d+)(?:-(\d{1,2}))?(?!\d)/.exec(name) ?? [];
  const version = major === undefined ? undefined : Number(major) + Number(minor ?? 0) / 100;
  if (version === undefined) return 'adaptive';
  return version < 4.06 ? 'budget' : version < 5.01 ? 'adaptive' : 'bound';
};
