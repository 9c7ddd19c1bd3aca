/** `$0.42`, and `<$0.01` for what is less than a cent. */
export const printUsd = (usd: number): string => (usd > 0 && usd < 0.01 ? '<$0.01' : `$${usd.toFixed(2)}`);

/** The same with a mark where it is not certain. */
export const printCost = ({ usd, status }: { readonly usd: number; readonly status: 'actual' | 'estimated' }): string => (status === 'estimated' ? `~${printUsd(usd)}` : printUsd(usd));
