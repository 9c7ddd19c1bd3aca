/** YAML's own signs that may stand inside `${NAME:-default}`, and characters of the private area that stand in for them. */
const signs = '{}[],';
const firstStandIn = 0xf8d0;
const standIns = [...signs].map((_sign, index) => String.fromCharCode(firstStandIn + index));
const anyStandIn = new RegExp(`[${standIns.join('')}]`);
const reference = /\$\{[A-Za-z_]\w*(?::-[^}\r\n]*)?\}/g;

/**
 * Makes `{ key: ${NAME} }` YAML: outside quotes the braces of a reference would be read as a mapping. Every character
 * is replaced by one other, so that lines and columns stay.
 */
export const hideReferences = (text: string): string =>
  anyStandIn.test(text) ? text : text.replace(reference, (whole) => whole.replace(/[{}[\],]/g, (sign) => standIns[signs.indexOf(sign)] ?? sign));

export const unhideReferences = (text: string): string => text.replace(new RegExp(anyStandIn, 'g'), (standIn) => signs[standIn.charCodeAt(0) - firstStandIn] ?? standIn);
