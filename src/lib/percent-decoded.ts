/** A part of an address without its `%`; as it is when they stand for nothing. */
export const percentDecoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return text;
  }
};
