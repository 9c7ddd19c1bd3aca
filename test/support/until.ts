/** Waits until something holds, for as long as a slow machine may need; says what it waited for when it never does. */
export const until = async (condition: () => boolean | Promise<boolean>, what = String(condition), patienceMs = 60_000): Promise<void> => {
  const endMs = performance.now() + patienceMs;
  while (!(await condition())) {
    if (performance.now() > endMs) throw new Error(`waited ${patienceMs} ms in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
};
