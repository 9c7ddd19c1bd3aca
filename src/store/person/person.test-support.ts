import type { InboundEvent } from '../../core/message.ts';
import { earlierHead, quotedEarlier, quotedReply } from '../../core/quotes.ts';
import { insertJob } from '../cron/cron-jobs.ts';
import { enqueueLane, outLane, turnLane } from '../lanes/lanes.ts';
import { writeLimit } from '../limits.ts';
import { insertInboxItem, setTranscriptRow } from '../messages/inbox.ts';
import { bindSession, changeSettings, createSession } from '../sessions/sessions.ts';
import { appendMessage } from '../sessions/transcripts.ts';
import type { Store, Writing } from '../store.ts';

/** A person whose every trace can be searched for: id, name, chat and words all contain `planted`. */
export const planted = { account: 'telegram', userId: 'planted-7' } as const;
export const other = { account: 'telegram', userId: 'other-8' } as const;

type Who = typeof planted | typeof other;

const word = (who: Who): string => (who === planted ? 'planted' : 'other');

const eventOf = (who: Who, nativeId: string, chat: InboundEvent['chat']): InboundEvent => ({
  account: who.account,
  kind: 'message',
  nativeId,
  chat,
  sender: { id: who.userId, name: `${word(who)} name`, isBot: false },
  text: `${word(who)} words`,
  media: [],
  addressed: true,
  mentioned: false,
  sentAtMs: 1,
});

const arrive = async (tx: Writing, event: InboundEvent, sessionId: string, rowId: number): Promise<void> => {
  const id = await insertInboxItem(tx, { event, class: 'chat', decisions: [{ step: 'access', verdict: 'allowed' }], place: { lane: turnLane(sessionId), sessionId, sessionKey: `key:${sessionId}` } });
  if (id !== undefined) await setTranscriptRow(tx, id, rowId);
};

const addDirect = async (tx: Writing, who: Who): Promise<void> => {
  const id = `dm_${word(who)}`;
  const chatId = `${word(who)}-chat`;
  const target = { account: who.account, chatId, chatType: 'dm' } as const;
  await createSession(tx, { id, agent: 'main', account: who.account, chatType: 'dm', userId: who.userId, title: `${word(who)} title` });
  await bindSession(tx, { sessionKey: `agent:main:telegram:dm:${chatId}`, sessionId: id, target });
  const row = await appendMessage(tx, { sessionId: id, turnId: null }, { role: 'user', content: `${word(who)} words` });
  await appendMessage(tx, { sessionId: id, turnId: null }, { role: 'assistant', content: `about ${word(who)}` });
  await arrive(tx, eventOf(who, `${word(who)}-1`, { id: chatId, type: 'dm' }), id, row);
  await createSession(tx, { id: `child_${word(who)}`, agent: 'main', account: 'cron', chatType: 'dm', parentId: id });
  await appendMessage(tx, { sessionId: `child_${word(who)}`, turnId: null }, { role: 'user', content: `${word(who)} helper` });
  const json = JSON.stringify(target);
  await tx.q.insertInto('outbox').values({ key: `${word(who)}-out`, lane: outLane(who.account, chatId), account: who.account, chat_id: chatId, target: json, payload: JSON.stringify({ message: { key: `${word(who)}-out`, target, text: word(who) } }), state: 'sent', turn_id: null, inbox_id: null, message_ids: null, error: null, created_at: 1, updated_at: 1 }).execute();
  await tx.q.insertInto('channels').values({ account: who.account, chat_id: chatId, thread_id: '', name: `${word(who)} name`, chat_type: 'dm', scope_id: null, scope_name: null, listed: 0, spoken_at: 1 }).execute();
  await tx.q.insertInto('journal').values({ account: who.account, stream: chatId, key: `${word(who)}`, entry: `{"text":"${word(who)}"}`, created_at: 1 }).execute();
  for (const key of [`chat:${chatId}`, `thread:${chatId}/42`, `undecrypted:${chatId} s`]) await tx.q.insertInto('account_values').values({ account: who.account, key, value: word(who) }).execute();
  await tx.q.insertInto('prompts').values({ session_id: id, fingerprint: 'f', text: word(who), updated_at: 1 }).execute();
  await enqueueLane(tx, { lane: turnLane(id), kind: 'turn' });
  await enqueueLane(tx, { lane: outLane(who.account, chatId), kind: 'out' });
  await changeSettings(tx, 'shared', { former: [{ ...planted }, { ...other }] });
};

const addNames = async (tx: Writing, who: Who): Promise<void> => {
  const { account, userId } = who;
  await tx.q.insertInto('pairings').values({ account, user_id: userId, user_name: `${word(who)} name`, approved_by: 'cli', approved_at: 1 }).execute();
  await tx.q.insertInto('pairing_requests').values({ id: word(who), account, kind: 'request', user_id: userId, user_name: null, salt: 's', hash: 'h', created_at: 1 }).execute();
  await tx.q.insertInto('denials').values({ account, user_id: userId, chat_id: 'group', kind: 'message', reason: 'r', count: 1, first_at: 1, last_at: 1 }).execute();
  await tx.q.insertInto('questions').values({ key: word(who), account, chat_id: 'group', session_id: 'shared', turn_id: null, target: '{}', asker: userId, question: `{"text":"${word(who)}"}`, purpose: 'p', state: 'answered', answer: null, answered_by: userId, answered_name: word(who), answer_inbox_id: null, created_at: 1, expires_at: 1 }).execute();
  await tx.q.insertInto('memory_proposals').values({ agent: 'main', session_id: 'shared', account, user_id: userId, target: 'user', change: `{"content":"${word(who)}"}`, created_at: 1 }).execute();
  // Asked by the gateway, answered in words of their own.
  await tx.q.insertInto('questions').values({ key: who === planted ? 'q1' : 'q2', account, chat_id: 'group', session_id: 'shared', turn_id: null, target: '{}', asker: null, question: '{"text":"?","options":[]}', purpose: 'p', state: 'used', answer: `${word(who)} words`, answered_by: userId, answered_name: word(who), answer_inbox_id: null, created_at: 1, expires_at: 1 }).execute();
  await tx.q.insertInto('grants').values({ session_id: 'shared', pattern: word(who) === 'planted' ? 'rm' : 'mv', granted_by: userId, granted_at: 1 }).execute();
  await tx.q.insertInto('api_replays').values({ key_id: userId, name: 'n', fingerprint: 'f', answer: word(who), created_at: 1 }).execute();
  await writeLimit(tx, `pairing asks:${account}:${userId}`, { count: 1, forMs: 1_000_000 });
  const settings = { name: word(who), schedule: { kind: 'interval', minutes: 60 }, zone: 'UTC', missed: 'once', overlap: 'skip', times: null, prompt: word(who), display: 'every 1h', skills: [], deliver: 'origin' } as const;
  await insertJob(tx, { id: `removed_${word(who)}`, agent: 'main', settings, nextAtMs: 1e15, origin: { target: { account, chatId: `${word(who)}-chat`, chatType: 'dm' }, userId } });
  await tx.q.updateTable('cron_jobs').set({ state: 'removed' }).where('id', '=', `removed_${word(who)}`).execute();
  await insertJob(tx, { id: `job_${word(who)}`, agent: 'main', settings, nextAtMs: 1e15, origin: { target: { account, chatId: `${word(who)}-chat`, chatType: 'dm' }, userId } });
};

/** Two people who have used everything that keeps something under their id, and a conversation that they share. */
export const fillWithPeople = (store: Store): Promise<void> =>
  store.write(async (tx) => {
    await createSession(tx, { id: 'shared', agent: 'main', account: 'telegram', chatType: 'group', title: 'What planted wants' });
    await tx.q.insertInto('homes').values({ account: 'telegram', target: '{"chatId":"group"}', name: null, set_by: planted.userId, set_at: 1 }).execute();
    await tx.q.insertInto('account_wishes').values({ account: 'telegram', paused: 0, restarts: 1, changed_by: planted.userId, changed_at: 1 }).execute();
    for (const [turnId, who] of [planted, other].entries()) {
      await tx.q.insertInto('memory_work').values({ key: `main:turn:turn:${turnId}`, agent: 'main', session_id: 'shared', kind: 'turn', payload: JSON.stringify({ turn: { key: `turn:${turnId}`, user: word(who) } }), ready_at: 1e15, owner: null, error: null, created_at: 1 }).execute();
      const row = await appendMessage(tx, { sessionId: 'shared', turnId }, { role: 'user', content: `[${word(who)} name] ${word(who)} words`, speaker: `${who.account}:${who.userId}`, attachments: [{ kind: 'photo', mime: 'image/png', name: `${word(who)}.png`, path: `sessions/shared/${word(who)}.png` }] });
      await arrive(tx, eventOf(who, `${word(who)}-2`, { id: 'group', type: 'group' }), 'shared', row);
      await addDirect(tx, who);
      await addNames(tx, who);
    }
    // What others quote of them; the inbox has forgotten the second.
    const quote = `[other name] ${quotedReply('planted name', 'planted words')}\n${quotedReply('other name', 'other quote')}\nother opinion`;
    const quoting = { ...eventOf(other, 'other-9', { id: 'group', type: 'group' }), replyTo: { messageId: '1', text: 'planted words', authorId: planted.userId, authorName: 'planted name', isOwn: false }, earlier: [{ author: 'planted name', text: 'planted before', sender: { id: planted.userId, isBot: false } }] };
    await arrive(tx, quoting, 'shared', await appendMessage(tx, { sessionId: 'shared', turnId: null }, { role: 'user', content: quote, speaker: `${other.account}:${other.userId}` }));
    await appendMessage(tx, { sessionId: 'shared', turnId: null }, { role: 'user', content: `[other name] ${earlierHead}\n${quotedEarlier('planted name', 'planted before')}\n${quotedEarlier('other name', 'other quote')}]\nother opinion`, speaker: `${other.account}:${other.userId}` });
    // Long ago: the inbox has forgotten it.
    await appendMessage(tx, { sessionId: 'shared', turnId: null }, { role: 'user', content: '[planted name] planted in spring', speaker: `${planted.account}:${planted.userId}` });
    // From before rows knew their speaker: only the inbox does.
    const old = await appendMessage(tx, { sessionId: 'shared', turnId: null }, { role: 'user', content: '[planted name] planted just now' });
    await arrive(tx, eventOf(planted, 'planted-3', { id: 'group', type: 'group' }), 'shared', old);
  });
