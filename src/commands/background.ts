import { randomBytes } from 'node:crypto';
import type { InboundEvent } from '../core/message.ts';
import { delegationsOf, keepDelegation } from '../store/agents/delegations.ts';
import { enqueueLane, turnLane } from '../store/lanes/lanes.ts';
import { countWaiting, insertInboxItem } from '../store/messages/inbox.ts';
import { changeSettings, createSession, findSession } from '../store/sessions/sessions.ts';
import type { SessionSettings } from '../store/sessions/sessions.ts';
import { copyMessages } from '../store/sessions/transcripts.ts';
import { unfinishedTurn } from '../store/sessions/turns.ts';
import type { Reading, Writing } from '../store/store.ts';
import type { Command, CommandCall } from './contract.ts';

/** How many one conversation may have beside it at a time. */
const mostApart = 5;
const lookedAt = 50;

const pad = (value: number): string => String(value).padStart(2, '0');

const newBackgroundId = (nowMs: number): string => {
  const now = new Date(nowMs);
  return `bg_${pad(now.getHours())}${pad(now.getMinutes())}${pad(now.getSeconds())}_${randomBytes(4).toString('hex')}`;
};

/** Whether a conversation that stands apart still has something to answer. */
export const isAtWork = async (db: Reading, sessionId: string): Promise<boolean> => (await unfinishedTurn(db, turnLane(sessionId))) !== undefined || (await countWaiting(db, turnLane(sessionId))) > 0;

const countApart = async (tx: Writing, sessionId: string): Promise<number> => {
  let count = 0;
  for (const { id, state } of await delegationsOf(tx, sessionId, lookedAt)) if (state === 'apart' && (await isAtWork(tx, id))) count += 1;
  return count;
};

/** What was chosen for the conversation holds beside it as well; what tools do there is not shown. */
const inherited = ({ model, personality, reasoningEffort, showReasoning, fullReasoning }: SessionSettings): SessionSettings => ({
  ...(model !== undefined && { model }),
  ...(personality !== undefined && { personality }),
  ...(reasoningEffort !== undefined && { reasoningEffort }),
  ...(showReasoning !== undefined && { showReasoning }),
  ...(fullReasoning !== undefined && { fullReasoning }),
  toolProgress: 'off',
});

/** The prompt as if it had been said at this moment, to nobody but the new conversation. */
const promptEvent = (event: InboundEvent, text: string): InboundEvent => {
  const { button: _button, batch: _batch, ...rest } = event;
  return { ...rest, kind: 'message', nativeId: `${event.nativeId}:background`, text };
};

/** A side question knows what was said so far; other work begins with nothing. */
const isSideQuestion = ({ event }: CommandCall): boolean => /^\s*\W?btw\b/i.test(event.text);

const begin = async (tx: Writing, call: CommandCall): Promise<string> => {
  const { event, agent, sessionId, args } = call;
  const id = newBackgroundId(call.nowMs);
  const settings = (await findSession(tx, sessionId))?.settings ?? {};
  await createSession(tx, { id, agent, account: event.account, chatType: event.chat.type, userId: event.sender.id, parentId: sessionId });
  await changeSettings(tx, id, inherited(settings));
  if (isSideQuestion(call)) await copyMessages(tx, sessionId, id);
  await keepDelegation(tx, { id, sessionId, request: { prompt: args } });
  const lane = turnLane(id);
  await enqueueLane(tx, { lane, kind: 'turn' });
  await insertInboxItem(tx, { event: promptEvent(event, args), class: 'chat', decisions: [{ step: 'command', verdict: 'background' }], place: { lane, sessionId: id, sessionKey: '' } });
  return id;
};

/** A turn of its own beside the conversation, kept and resumed like any other; its answer comes to this chat and leaves the conversation as it is. */
export const background: Command = {
  name: 'background',
  aliases: ['bg', 'btw'],
  category: 'Session',
  description: 'Do something beside this conversation; /btw asks a side question about it',
  args: '<prompt>',
  whileRunning: 'allowed',
  async run(tx, call) {
    if (call.args === '') return 'Usage: /background <prompt>, or /btw <question about this conversation>';
    if ((await countApart(tx, call.sessionId)) >= mostApart) return `⛔ ${mostApart} pieces of work are under way beside this conversation already. /agents shows them; \`/agents stop <id>\` ends one.`;
    const id = await begin(tx, call);
    return isSideQuestion(call) ? '' : `🔄 I am on it, beside our conversation (\`${id}\`). The answer comes here; /agents shows what is under way.`;
  },
};
