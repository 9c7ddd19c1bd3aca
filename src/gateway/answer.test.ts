import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleEvent, sampleTarget } from '../../test/support/samples.ts';
import { eachStore } from '../../test/support/stores.ts';
import { approvalQuestion } from '../agent/approvals/approval-question.ts';
import type { InboundEvent } from '../core/message.ts';
import { buttonData } from '../delivery/question-message.ts';
import { newTestFolder, startHooks } from '../hooks/hook-folder.test-support.ts';
import { pair } from '../store/accounts/pairing.ts';
import { findQuestionByKey, keepQuestion } from '../store/agents/questions.ts';
import { bindSession, createSession } from '../store/sessions/sessions.ts';
import type { Store } from '../store/store.ts';
import { newInbox } from './inbox.test-support.ts';
import { acceptEvent } from './inbox.ts';

const chat = { id: 'chat-1', type: 'dm' } as const;
const guest = { id: 'guest', isBot: false };
const request = { tool: 'terminal', subject: 'rm -r x', reasons: ['deletes folders'], pattern: 'rm -r' };

/** What a turn asks for somebody, the guest unless told otherwise; answers the number of the question. */
const ask = (store: Store, key: string, askerId = guest.id): Promise<number> =>
  store.write(async (tx) => {
    const asked = { key, sessionId: 's1', target: sampleTarget(), askerId, question: approvalQuestion(request, 60_000), purpose: { type: 'call', callId: key } } as const;
    return (await keepQuestion(tx, asked)).question.id;
  });

const decision = async (store: Store, key: string): Promise<string | undefined> => {
  const found = await store.read((db) => findQuestionByKey(db, key));
  return found?.answer?.value.split(':', 1)[0] ?? found?.state;
};

eachStore((_engine, open) => {
  test('what is allowed for good concerns everybody: whoever decides only for themselves allows it once or for the session', async () => {
    const opened = await open();
    const { store } = opened;
    await using folder = await newTestFolder();
    await using running = await startHooks(() => [{ path: folder.path }]);
    const inbox = await newInbox({ ...opened, home: folder.path, hooks: running.hooks, allowedUsers: ['owner'] });
    await store.write(async (tx) => {
      await pair(tx, { account: 'telegram', userId: guest.id, userName: null, approvedBy: 'owner' });
      await createSession(tx, { id: 's1', agent: 'main', account: 'telegram', chatType: 'dm', userId: guest.id });
      await bindSession(tx, { sessionKey: 'agent:main:telegram:dm:chat-1', sessionId: 's1', target: sampleTarget() });
    });
    const said: (string | undefined)[] = [];
    const hear = (facts: Partial<InboundEvent>) => acceptEvent({ ...inbox, onAccepted: (_event, { pressed }) => void said.push(pressed) }, sampleEvent({ chat, sender: guest, ...facts }));
    const id = await ask(store, 'a');
    await hear({ kind: 'button', button: { data: buttonData(id, 2) } });
    await hear({ text: 'always' });
    assert.equal(await decision(store, 'a'), 'open');
    assert.match(said[0] ?? '', /only admins/i);
    await hear({ kind: 'button', button: { data: buttonData(id, 1) } });
    assert.equal(await decision(store, 'a'), 'session');
    const next = await ask(store, 'b', 'owner');
    await hear({ sender: { id: 'owner', isBot: false }, kind: 'button', button: { data: buttonData(next, 2) } });
    assert.equal(await decision(store, 'b'), 'always');
  });
});
