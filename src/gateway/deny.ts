import { replyTarget } from '../core/message.ts';
import type { InboundEvent } from '../core/message.ts';
import { enqueueText } from '../delivery/compose.ts';
import { countDenial } from '../store/accounts.ts';
import { insertInboxItem } from '../store/inbox.ts';
import type { Writing } from '../store/store.ts';
import type { Arrival, Outcome } from './arrival.ts';
import { Duplicate } from './arrival.ts';

/** What a stranger wrote is not kept. */
const withoutContent = (event: InboundEvent): InboundEvent => {
  const { replyTo: _replyTo, location: _location, button: _button, ...rest } = event;
  return { ...rest, text: '', media: [] };
};

/** A stranger in a direct message is told, at most once a day, how the owner can let them in. Groups and bots get silence. */
const strangerNotice = async (tx: Writing, arrival: Arrival, inboxId: number): Promise<void> => {
  const { event, platform, common } = arrival;
  if (event.chat.type !== 'dm' || event.kind !== 'message' || event.sender.isBot || common.unauthorized_dm_behavior === 'ignore') return;
  const day = new Date(event.sentAtMs).toISOString().slice(0, 10);
  const variable = `${platform.name.toUpperCase()}_ALLOWED_USERS`;
  const text = `I do not know you yet, so I cannot answer. If the owner wants to let you in, they add your id \`${event.sender.id}\` to \`${variable}\`.`;
  await enqueueText(tx, platform, { key: `stranger:${event.account}:${event.sender.id}:${day}`, target: replyTarget(event), text, inboxId });
};

/** Records that somebody was not let in: counted, listed, without what they wrote. */
export const deny = async (tx: Writing, arrival: Arrival): Promise<Outcome> => {
  const { event, verdict } = arrival;
  const reason = `denied by ${verdict.by}`;
  const id = await insertInboxItem(tx, { event: withoutContent(event), class: 'chat', decisions: verdict.decisions, skipped: reason });
  if (id === undefined) throw new Duplicate();
  await countDenial(tx, { account: event.account, userId: event.sender.id, chatId: event.chat.id, kind: event.kind, reason });
  await strangerNotice(tx, arrival, id);
  return { accepted: 'skipped', reason };
};
