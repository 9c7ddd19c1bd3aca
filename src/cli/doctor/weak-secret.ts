/** Below this a credential may be found by trying, given time. */
const leastBits = 40;

/** What people write when they have to write something. */
const common = /pass(?:word|wort)?|change-?me|secret|qwerty\w*|letmein|hermes|gateway|admin|token|test|demo|example|default|key/gi;

const repeated = /^(.+?)\1+$/s;

/** Characters that follow the one before them, as in `abcd` and `4321`. */
const steps = (text: string): number => [...text].filter((_, at) => at > 0 && Math.abs(text.charCodeAt(at) - text.charCodeAt(at - 1)) <= 1).length;

const bitsOf = (text: string): number => {
  const counts = Map.groupBy(text, (character) => character).values().map((group) => group.length / text.length);
  return counts.reduce((sum, share) => sum - share * Math.log2(share), 0) * text.length;
};

/** Whether a credential looks made up by hand: few different characters, a word, a row, the same again and again. */
export const isWeakSecret = (secret: string): boolean => {
  const unit = repeated.exec(secret)?.[1] ?? secret;
  const rest = unit.replaceAll(common, '');
  return bitsOf(rest) < leastBits || steps(rest) > rest.length / 2;
};
