import { answersStrangers } from '../access/answers-strangers.ts';
import { askToPair, redeemInvite } from '../access/pairing.ts';
import type { Person } from '../access/pairing.ts';
import { replyTarget } from '../core/message.ts';
import type { InboundEvent } from '../core/message.ts';
import { enqueueText } from '../delivery/compose.ts';
import { countDenial } from '../store/accounts/accounts.ts';
import { insertInboxItem } from '../store/messages/inbox.ts';
import type { Writing } from '../store/store.ts';
import type { Arrival, Outcome } from './arrival.ts';
import { Duplicate } from './arrival.ts';

/** What a stranger wrote is not kept. */
const withoutContent = (event: InboundEvent): InboundEvent => {
  const { replyTo: _replyTo, location: _location, button: _button, ...rest } = event;
  return { ...rest, text: '', media: [] };
};

/** Whether a stranger gets an answer at all: only people, only those who are who they say, only where nobody else reads it, and not if the owner forbids it. */
const mayAnswer = ({ event, common, platform }: Arrival): boolean =>
  event.chat.type === 'dm' && event.kind === 'message' && !event.sender.isBot && event.sender.unverified === undefined && answersStrangers(platform, common);

const personOf = ({ account, sender }: InboundEvent): Person => ({ account, userId: sender.id, userName: sender.name ?? null });

/** A stranger who writes to us gets a code that an admin can approve, now and then. */
const offerCode = async (tx: Writing, arrival: Arrival, inboxId: number): Promise<void> => {
  const { event, platform } = arrival;
  const code = await askToPair(tx, personOf(event));
  if (code === undefined) return;
  const text = [
    `I do not know you yet. Show this code to the owner, who can let you in within an hour: \`${code}\``,
    `They approve it with \`/pair approve ${code}\`, or with \`hermes pairing approve ${event.account} ${code}\`, or add your id \`${event.sender.id}\` to \`${platform.name.toUpperCase()}_ALLOWED_USERS\`.`,
  ].join('\n');
  await enqueueText(tx, platform, { key: `stranger:${inboxId}`, target: replyTarget(event), text, secret: true, inboxId });
};

const welcome = async (tx: Writing, arrival: Arrival, invitedBy: string): Promise<Outcome> => {
  const { event, platform, verdict } = arrival;
  const reason = 'paired by an invitation';
  const id = await insertInboxItem(tx, { event: withoutContent(event), class: 'chat', decisions: [...verdict.decisions, { step: 'invitation', verdict: 'accepted' }], skipped: reason });
  if (id === undefined) throw new Duplicate();
  await enqueueText(tx, platform, { key: `paired:${id}`, target: replyTarget(event), text: '✅ You are in. Write to me as you would to a person; /help shows what I can do besides.', inboxId: id });
  return { accepted: 'skipped', reason, act: { act: 'pairing redeem', subject: `invited by ${invitedBy}` } };
};

/** Records that somebody was not let in: counted, listed, without what they wrote. */
export const deny = async (tx: Writing, arrival: Arrival): Promise<Outcome> => {
  const { event, verdict } = arrival;
  const redeemed = mayAnswer(arrival) ? await redeemInvite(tx, personOf(event), event.text) : undefined;
  if (redeemed?.type === 'in') return welcome(tx, arrival, redeemed.invitedBy);
  const reason = `denied by ${verdict.by}`;
  const id = await insertInboxItem(tx, { event: withoutContent(event), class: 'chat', decisions: verdict.decisions, skipped: reason });
  if (id === undefined) throw new Duplicate();
  await countDenial(tx, { account: event.account, userId: event.sender.id, chatId: event.chat.id, kind: event.kind, reason });
  if (mayAnswer(arrival)) await offerCode(tx, arrival, id);
  return { accepted: 'denied', reason, ...(redeemed?.locks === true && { act: { act: 'pairing locked', subject: 'too many wrong codes' } }) };
};
