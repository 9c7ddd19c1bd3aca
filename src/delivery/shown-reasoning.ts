const usualCharacters = 1_500;
/** Nobody reads more than this in a chat. */
const mostCharacters = 50_000;

/** What the model thought, as a quotation above its answer. Empty when it thought nothing. */
export const shownReasoning = (reasoning: string | undefined, { full }: { readonly full: boolean }): string => {
  const text = reasoning?.trim() ?? '';
  if (text === '') return '';
  const most = full ? mostCharacters : usualCharacters;
  const bounded = text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text;
  return bounded
    .split('\n')
    .map((line, i) => `> ${i === 0 ? '💭 ' : ''}${line}`)
    .join('\n');
};
