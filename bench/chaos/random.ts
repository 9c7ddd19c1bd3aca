/** Chance that can be had again: the same seed gives the same decisions in the same order. */
export interface Random {
  /** From 0 up to and without 1. */
  next(): number;
  /** A whole number from `from` up to and with `to`. */
  between(from: number, to: number): number;
  chance(share: number): boolean;
  pick<T>(list: readonly [T, ...T[]]): T;
  /** A source of its own, so that what one part draws does not move the others. */
  fork(name: string): Random;
}

const hash = (text: string): number => {
  let value = 2_166_136_261;
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 16_777_619);
  return value >>> 0;
};

/** Mulberry32: small, fast, and even enough for this. */
export const newRandom = (seed: string): Random => {
  let state = hash(seed);
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1));
  return {
    next,
    between,
    chance: (share) => next() < share,
    pick: (list) => list[between(0, list.length - 1)] ?? list[0],
    fork: (name) => newRandom(`${seed}/${name}`),
  };
};
