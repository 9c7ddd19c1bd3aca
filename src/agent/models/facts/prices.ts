import type { Cost, Usage } from '../../../core/transcript.ts';
import { longestPrefix, plainName } from './known-models.ts';

/** When the table was last compared with what the makers publish. */
export const pricingVersion = '2026-11';

/** US dollars per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** As `input` when left out. */
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** Instead, for calls that read more than so many tokens. */
  readonly above?: { readonly tokens: number; readonly price: Price };
}

export type Prices = Readonly<Record<string, Price>>;

const claude = (input: number, output: number, cacheRead = input / 10): Price => ({ input, output, cacheRead, cacheWrite: input * 1.25 });
const gpt = (input: number, output: number, cacheRead: number): Price => ({ input, output, cacheRead });

/** Standard rates of the makers. Names as after `plainName`. */
const knownPrices: Prices = {
  'claude-opus-4': claude(15, 75),
  'claude-opus-4-5': claude(5, 25),
  'claude-opus-4-6': claude(5, 25),
  'claude-opus-4-7': claude(5, 25),
  'claude-opus-4-8': claude(5, 25),
  'claude-opus-5': claude(5, 25),
  'claude-opus-5-5': claude(4, 20, 0.2),
  'claude-sonnet-4': claude(3, 15),
  'claude-sonnet-5': claude(2, 10),
  'claude-sonnet-5-5': claude(2, 10, 0.1),
  'claude-haiku-4-5': claude(1, 5),
  'claude-haiku-5-5': { ...claude(0.1, 0.5), above: { tokens: 100_000, price: claude(0.5, 2.5) } },
  'claude-fable-5': claude(10, 50),
  'claude-fable-5-1': claude(10, 50, 0.25),
  'claude-3-5-haiku': claude(0.8, 4),
  'gpt-4o': gpt(2.5, 10, 1.25),
  'gpt-4o-mini': gpt(0.15, 0.6, 0.075),
  'gpt-4-1': gpt(2, 8, 0.5),
  'gpt-4-1-mini': gpt(0.4, 1.6, 0.1),
  'gpt-4-1-nano': gpt(0.1, 0.4, 0.025),
  o3: gpt(2, 8, 0.5),
  'o4-mini': gpt(1.1, 4.4, 0.275),
  'gpt-5': gpt(1.25, 10, 0.125),
  'gpt-5-mini': gpt(0.25, 2, 0.025),
  'gpt-5-nano': gpt(0.05, 0.4, 0.005),
  'gpt-5-1': gpt(1.25, 10, 0.125),
  'gpt-5-2': gpt(1.75, 14, 0.175),
  'gpt-5-3': gpt(1.75, 14, 0.175),
  'gpt-5-4': gpt(2.5, 15, 0.25),
  'gpt-5-4-mini': gpt(0.75, 4.5, 0.075),
  'gpt-5-5': gpt(5, 30, 0.5),
  'gpt-5-6-sol': gpt(5, 30, 0.5),
  'gpt-5-6-terra': gpt(2.5, 15, 0.25),
  'gpt-5-6-luna': gpt(1, 6, 0.1),
  'gpt-6-sol': { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 },
  'gpt-6-luna': { input: 0.1, output: 0.5, cacheRead: 0.01, cacheWrite: 0.125 },
  'gpt-6-1-sol': { ...gpt(2, 10, 0.1), above: { tokens: 272_000, price: gpt(4, 15, 0.2) } },
  'gemini-2-5-pro': { ...gpt(1.25, 10, 0.125), above: { tokens: 200_000, price: gpt(2.5, 15, 0.25) } },
  'gemini-2-5-flash': gpt(0.3, 2.5, 0.03),
  'gemini-2-5-flash-lite': gpt(0.1, 0.4, 0.01),
  'gemini-3-1-pro': { ...gpt(2, 12, 0.2), above: { tokens: 200_000, price: gpt(4, 18, 0.4) } },
  'deepseek-flash': gpt(0.15, 0.6, 0.003),
  'deepseek-v4-flash': gpt(0.15, 0.6, 0.003),
  'deepseek-v4-pro': gpt(0.66, 1.98, 0.022),
  'grok-4': gpt(3, 15, 0.75),
  'grok-4-3': gpt(1.25, 2.5, 0.3125),
  'grok-4-5': gpt(2, 6, 0.5),
};

export interface Costed {
  readonly usd: number;
  readonly status: 'actual' | 'estimated' | 'unknown';
}

const free: Price = { input: 0, output: 0 };

export interface CostOptions {
  /** The owner's own; by the model's name or the beginning of it. */
  readonly prices?: Prices;
  /** Nobody is paid for tokens. */
  readonly local?: boolean;
}

const sum = (usage: Usage, price: Price): number => {
  if (price.above !== undefined && usage.inputTokens > price.above.tokens) return sum(usage, price.above.price);
  const fresh = Math.max(0, usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens);
  const { input, output, cacheRead = input, cacheWrite = input } = price;
  return (fresh * input + usage.cacheReadTokens * cacheRead + usage.cacheWriteTokens * cacheWrite + usage.outputTokens * output) / 1_000_000;
};

const ownPrice = (prices: Prices, model: string): Price | undefined =>
  prices[model] ?? longestPrefix(Object.fromEntries(Object.entries(prices).map(([name, price]) => [plainName(name), price])), model);

/** What a call cost: what the endpoint said, or what the owner's prices or the table make of its tokens. */
export const costOf = (usage: Usage, model: string, options: CostOptions = {}): Costed => {
  if (usage.cost?.status === 'actual') return usage.cost;
  const price = ownPrice(options.prices ?? {}, model) ?? (options.local === true ? free : longestPrefix(knownPrices, model));
  return price === undefined ? { usd: 0, status: 'unknown' } : { usd: sum(usage, price), status: 'estimated' };
};

/** The usage with what it cost, if that is known. */
export const withCost = (usage: Usage, model: string, options: CostOptions): Usage => {
  const { usd, status } = costOf(usage, model, options);
  const cost: Cost | undefined = status === 'unknown' ? undefined : { usd, status };
  return cost === undefined ? usage : { ...usage, cost };
};
