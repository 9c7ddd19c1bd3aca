/** One line without control characters and brackets, so that a name cannot pretend to be something else. */
export const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\s[\]]+/gu, ' ').trim().slice(0, 80);

/** How a conversation tells the model what a message replies to; `author` is one line. */
export const quotedReply = (author: string, text: string): string => `[In reply to a message by ${author}: ${JSON.stringify(text)}]`;

export const earlierHead = '[Said in this thread before:';

/** One of the messages that were said before; `author` is one line. */
export const quotedEarlier = (author: string, text: string): string => `${author}: ${JSON.stringify(text)}`;

const jsonText = String.raw`"(?:[^"\\]|\\.)*"`;

/** The same text with a mark in place of everything that is quoted of somebody, and without their name there. */
export const withoutQuotesOf = (name: string, content: string, mark: string): string => {
  const by = RegExp.escape(name);
  const replied = content.replaceAll(new RegExp(String.raw`\[In reply to a message by ${by}: ${jsonText}\]`, 'gu'), () => quotedReply('somebody', mark));
  return replied.includes(earlierHead) ? replied.replaceAll(new RegExp(String.raw`^${by}: ${jsonText}(?=\]?$)`, 'gmu'), () => quotedEarlier('somebody', mark)) : replied;
};
