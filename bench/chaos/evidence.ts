import type { Stored } from './stored.ts';
import { tellStories } from './verdict.ts';
import type { Violation } from './verdict.ts';
import type { World } from './world.ts';

/** The life of one message from both sides, in the order a person would ask. */
export const evidenceFor = (world: World, stored: Stored, violation: Violation): string => {
  const story = violation.id === undefined ? undefined : tellStories(world, stored).get(violation.id);
  if (story === undefined) return '';
  const { said, item, deliveries } = story;
  const turn = stored.turns.find(({ id }) => id === item?.turnId);
  const rows = stored.rows.filter(({ turnId, content }) => (item?.turnId !== null && turnId === item?.turnId) || content.includes(said.id));
  const calls = world.calls.filter(({ account, shown }) => account === said.place.account && shown.ids.includes(said.id));
  const visible = world.telegrams[said.place.account].visible(said.place.chatId).filter(({ text, replyTo }) => text.includes(said.id) || replyTo === said.nativeId);
  const lines = [
    `said      ${said.place.account} ${said.place.chatId} ${said.place.threadId ?? ''} as message ${said.nativeId}`,
    `inbox     ${JSON.stringify(item)}`,
    `turn      ${JSON.stringify(turn)}`,
    ...rows.map((row) => `row       ${JSON.stringify(row)}`),
    ...deliveries.map((delivery) => `delivery  ${JSON.stringify(delivery)}`),
    ...calls.map(({ shown, atMs, answer }) => `call      ${new Date(atMs).toISOString()} ${shown.kind}${shown.marked ? ', marked' : ''} -> ${answer.status}`),
    ...visible.map(({ id, text, replyTo }) => `visible   ${id} in reply to ${replyTo ?? '-'}: ${JSON.stringify(text)}`),
    ...world.kills.filter(({ atMs }) => calls.some((call) => Math.abs(call.atMs - atMs) < 3000)).map(({ atMs, signal }) => `end       ${new Date(atMs).toISOString()} ${signal}`),
  ];
  return lines.map((line) => `      ${line}`).join('\n');
};
