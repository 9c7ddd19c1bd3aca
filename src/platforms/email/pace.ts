/** More mail than this from one person within the window is a machine that does not say so. */
const most = 20;
const windowMs = 10 * 60_000;
/** So many people are watched at once. */
const mostPeople = 1000;

/** Tells an auto-responder that hides from a person, by how often they write. */
export interface Pace {
  /** Counts a mail that reached the server at a time; answers whether a machine must be writing. */
  isTooFast(address: string, atMs: number): boolean;
}

export const newPace = (): Pace => {
  const times = new Map<string, readonly number[]>();
  return {
    isTooFast(address, atMs) {
      const recent = [...(times.get(address) ?? []).filter((time) => Math.abs(atMs - time) < windowMs), atMs].slice(-most - 1);
      times.delete(address);
      times.set(address, recent);
      if (times.size > mostPeople) times.delete(times.keys().next().value ?? '');
      return recent.length > most;
    },
  };
};
