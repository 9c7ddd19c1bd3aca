/** Whether the agent is to be asked after its script has run: not when the last line that the script wrote is `{"wakeAgent": false}`. */
export const wakesAgent = (stdout: string): boolean => {
  const last = stdout.trimEnd().split('\n').at(-1)?.trim() ?? '';
  if (!last.startsWith('{')) return true;
  try {
    const said: unknown = JSON.parse(last);
    return !(typeof said === 'object' && said !== null && 'wakeAgent' in said && said.wakeAgent === false);
  } catch (error) {
    if (error instanceof SyntaxError) return true;
    throw error;
  }
};
