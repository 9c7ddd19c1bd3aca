import type { AccountName } from './ids.ts';

/** A chat named by its native id. */
export interface ChatRef {
  readonly chatId: string;
  readonly threadId?: string;
}

/** Reads what stands after `<platform>:`; undefined when it is a name that the directory has to look up. */
export type ReadChat = (ref: string) => ChatRef | undefined;

/** A `Platform` fits as it is. */
export interface TargetPlatform {
  readonly name: string;
  readonly readChat?: ReadChat;
}

/** A place that a person or a job has written down. */
export type TargetRef =
  | { readonly type: 'origin' }
  | { readonly type: 'local' }
  | { readonly type: 'home'; readonly account: AccountName }
  | ({ readonly type: 'chat'; readonly account: AccountName } & ChatRef)
  | { readonly type: 'name'; readonly account: AccountName; readonly name: string };

/** Has to be shown to whoever wrote the target; it never stands for another place. */
export type TargetError =
  | { readonly type: 'unknown_platform'; readonly platform: string }
  | { readonly type: 'malformed'; readonly text: string };

/** `origin`, `local`, `<account>`, `<account>:<chat>[:<thread>]` or `<account>:<name>`, with `<account>` as `telegram` or `telegram@work`. */
export const parseTarget = (text: string, platforms: readonly TargetPlatform[]): TargetRef | TargetError => {
  const trimmed = text.trim();
  const word = trimmed.toLowerCase();
  if (word === 'origin' || word === 'local') return { type: word };
  const [, name = '', label = '', colon = '', ref = ''] = /^([^:@\s]+)(@[^:@\s]+)?(?:(:)\s*(.*))?$/s.exec(trimmed) ?? [];
  if (name === '' || (colon !== '' && ref === '')) return { type: 'malformed', text };
  const platform = platforms.find((known) => known.name === name.toLowerCase());
  if (platform === undefined) return { type: 'unknown_platform', platform: name };
  const account = platform.name + label;
  if (ref === '') return { type: 'home', account };
  const chat = (platform.readChat ?? readPlainChat)(ref);
  return chat === undefined ? { type: 'name', account, name: ref } : { type: 'chat', account, ...chat };
};

/** The inverse of `parseTarget`. */
export const printTarget = (target: TargetRef): string => {
  switch (target.type) {
    case 'origin':
    case 'local':
      return target.type;
    case 'home':
      return target.account;
    case 'chat':
      return [target.account, target.chatId, target.threadId].filter((part) => part !== undefined).join(':');
    case 'name':
      return `${target.account}:${target.name}`;
    default:
      return target satisfies never;
  }
};

/** For platforms whose chats have the given shape; it may contain colons, what follows one more colon is the thread. */
export const chatsLike =
  (shape: RegExp): ReadChat =>
  (ref) => {
    if (shape.test(ref)) return { chatId: ref };
    for (let colon = ref.lastIndexOf(':'); colon > 0; colon = ref.lastIndexOf(':', colon - 1)) {
      const [chatId, threadId] = [ref.slice(0, colon), ref.slice(colon + 1)];
      if (threadId !== '' && shape.test(chatId)) return { chatId, threadId };
    }
    return undefined;
  };

/** Numbers (also phone numbers and negative ids) and addresses; anything else is a name. */
const readPlainChat = chatsLike(/^(?:[+-]?\d+|[^\s:@#]+@[^\s:@]+)$/);
