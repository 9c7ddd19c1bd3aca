import type { AccountName } from '../core/ids.ts';
import { enqueueText } from '../delivery/compose.ts';
import type { ChatMove } from '../platforms/contract.ts';
import { moveChatPlaces } from '../store/sessions/move-chat.ts';
import type { InboxDeps } from './arrival.ts';

const stayedText = (conversations: number): string =>
  `↪ This chat goes on from an earlier one. ${conversations === 1 ? 'One conversation' : `${conversations} conversations`} could not come along; \`/sessions\` lists yours, and \`/resume\` continues one here.`;

/** A chat goes on under another id: its conversations go on there, and people there are told of those that cannot. */
export const moveChat = async ({ store, log, account: find }: Pick<InboxDeps, 'store' | 'log' | 'account'>, account: AccountName, move: ChatMove): Promise<void> => {
  const { from, to } = move;
  const known = find(account);
  if (known === undefined || from === to) return;
  const places = await store.write(async (tx) => {
    const found = await moveChatPlaces(tx, { account, from, to, withoutThreads: move.withoutThreads === true });
    if (found.stayed > 0) await enqueueText(tx, known.platform, { key: `moved:${account}:${from}:${to}`, target: { account, chatId: to, chatType: 'group' }, text: stayedText(found.stayed), quiet: true });
    return found;
  });
  const named = [...known.common.group_allowed_chats, known.common.home_channel?.chat_id].includes(from);
  const line = { account, from, to, ...places };
  if (named) log.warn({ ...line, fix: 'group_allowed_chats or home_channel names the old chat: put the new id there' }, 'chat.moved');
  else log.info(line, 'chat.moved');
};
