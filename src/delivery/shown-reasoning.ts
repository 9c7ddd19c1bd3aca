const mostCharacters = 1_500;

/** What the model thought, as a quotation above its answer. Empty when it thought nothing. */
export const shownReasoning = (reasoning: string | undefined): string => {
  const text = reasoning?.trim() ?? '';
  if (text === '') return '';
  const bounded = text.length > mostCharacters ? `${text.slice(0, mostCharacters).toWellFormed()}…` : text;
  return bounded
    .split('\n')
    .map((line, i) => `> ${i === 0 ? '💭 ' : ''}${line}`)
    .join('\n');
};
