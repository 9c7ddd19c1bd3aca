const words = ['silent', 'no_reply', 'no reply'];
const markers = words.flatMap((word) => [word, `[${word}]`, `(${word})`]);
const bareMarkers = ['[silent]', ...words];

/** One stray dot and emphasis, as models like to put around a marker. */
const decoration = /^\.?[*_~`]{0,3}/;
const trailing = /^[*_~`]{0,3}$/;

const bare = (text: string): string => text.trim().toLowerCase();

const undecorated = (text: string): string => bare(text).replace(decoration, '');

/** A reply to a person that consists of nothing but a silence marker: it is not delivered. */
export const isSilentReply = (text: string): boolean => {
  const rest = undecorated(text);
  return markers.some((marker) => rest.startsWith(marker) && trailing.test(rest.slice(marker.length)));
};

/** The result of a turn nobody asked for (cron, heartbeat): silent also when a note follows the marker. */
export const isSilentResult = (text: string): boolean => bareMarkers.includes(bare(text)) || bare(text).startsWith('[silent]');

/** A streamed reply that may still turn out to be silent: show nothing of it yet. */
export const mayBecomeSilent = (text: string): boolean => {
  const rest = undecorated(text);
  return isSilentReply(text) || markers.some((marker) => marker.startsWith(rest));
};

const longestNarration = 64;
const narration = /^[*_~`]*(?:\((?:silent|silence)\)|\(?no (?:reply|response)\)?|[.…]+|🔇)[*_~`]*\.?$/u;

/** A message that only tells of saying nothing: dropped on delivery, unless it is the output of a job. */
export const isSilenceNarration = (text: string): boolean => text.length <= longestNarration && narration.test(bare(text));
