/** The agent's own instructions, and below them what callers tell it. */
export const withInstructions = (system: string, ...instructions: readonly (string | undefined)[]): string => {
  const told = instructions.map((text) => text?.trim() ?? '').filter((text) => text !== '');
  return told.length === 0 ? system : `${system}\n\n## Instructions of the caller\n\n${told.join('\n\n')}`;
};
