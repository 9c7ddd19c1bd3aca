/** A JSON object that nobody has checked yet. */
export type Json = Readonly<Record<string, unknown>>;

export const record = (value: unknown): Json | undefined => (typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined);

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const records = (value: unknown): readonly Json[] => list(value).map(record).filter((item) => item !== undefined);

/** Empty texts count as absent: Slack writes `""` where it has nothing to say. */
export const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value.toWellFormed() : undefined);

export const integer = (value: unknown): number | undefined => (Number.isSafeInteger(value) ? (value as number) : undefined);

/** Undefined for what is no JSON. */
export const parseJson = (source: string): unknown => {
  try {
    return JSON.parse(source) as unknown;
  } catch {
    return undefined;
  }
};

const tsShape = /^\d{1,12}\.\d{1,9}$/;

/** The id of a message within its channel, which is also the time it was sent. */
export const timestamp = (value: unknown): string | undefined => (typeof value === 'string' && tsShape.test(value) ? value : undefined);

export const tsToMs = (ts: string): number => Math.floor(Number(ts) * 1000);

export const msToTs = (ms: number): string => `${(ms / 1000).toFixed(3)}000`;

/** Timestamps have as many digits before the point for the next two centuries, but not behind it. */
export const isNewer = (ts: string, than: string): boolean => {
  const [seconds = '', fraction = ''] = ts.split('.');
  const [otherSeconds = '', otherFraction = ''] = than.split('.');
  return seconds === otherSeconds ? fraction.padEnd(9, '0') > otherFraction.padEnd(9, '0') : Number(seconds) > Number(otherSeconds);
};

/** A direct chat has an id of its own kind; everything else, group messages included, is a place of several people. */
export const isDirect = (channelId: string): boolean => channelId.startsWith('D');
