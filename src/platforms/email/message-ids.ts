import { createHash } from 'node:crypto';

/** Ids as they stand in Message-ID, In-Reply-To and References, without their angle brackets. */
export const readIds = (value: string | undefined): readonly string[] => {
  const bracketed = [...(value ?? '').matchAll(/<\s*([^<>\s]+)\s*>/g)].map((match) => match[1] ?? '');
  return bracketed.length > 0 ? bracketed : (value ?? '').split(/\s+/).filter((id) => id.includes('@'));
};

const shortHash = (text: string, length: number): string => createHash('sha256').update(text).digest('hex').slice(0, length);

/** The shape of a thread's id; it is part of our Message-IDs. */
const threadShape = /^[\w-]{1,64}$/;

export const isThreadId = (id: string): boolean => threadShape.test(id);

/** The name of the thread that begins with a message. */
export const threadIdOf = (rootId: string): string => shortHash(`thread ${rootId}`, 12);

/** The same for the same message, so that a repeat can be recognised; says which thread it belongs to. */
export const ownMessageId = (message: { readonly key: string; readonly to: string; readonly threadId?: string | undefined }, domain: string): string =>
  `hermes-${shortHash(`${message.key} ${message.to}`, 24)}${message.threadId === undefined ? '' : `.${message.threadId}`}@${domain}`;

/** What a Message-ID of ours says; undefined for those of others. */
export const readOwnId = (id: string, domain: string): { readonly threadId?: string } | undefined => {
  const [, threadId, at = ''] = /^hermes-[0-9a-f]{24}(?:\.([\w-]{1,64}))?@(.+)$/i.exec(id) ?? [];
  if (at.toLowerCase() !== domain) return undefined;
  return threadId === undefined ? {} : { threadId };
};

export interface Lineage {
  readonly messageId?: string | undefined;
  readonly inReplyTo: readonly string[];
  /** Oldest first. */
  readonly references: readonly string[];
}

/**
 * The thread that a mail belongs to. The newest message of ours that it refers to knows; otherwise the thread is named after its oldest
 * known message. Undefined where an answer to something that we wrote outside any thread belongs to none, or nothing is known.
 */
export const threadOf = ({ messageId, inReplyTo, references }: Lineage, domain: string): string | undefined => {
  const chain = [...references, ...inReplyTo];
  const own = chain.map((id) => readOwnId(id, domain)).findLast((read) => read !== undefined);
  if (own !== undefined) return own.threadId;
  const root = chain[0] ?? messageId;
  return root === undefined ? undefined : threadIdOf(root);
};
