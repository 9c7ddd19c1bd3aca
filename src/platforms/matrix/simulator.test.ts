import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { ClientEvent, EventType, MatrixEventEvent, MsgType, RoomEvent } from 'matrix-js-sdk';
import type { MatrixClient, MatrixEvent } from 'matrix-js-sdk';
import { eventually, eventWith, never } from '../conformance-bench.ts';
import { alice, following, message, openAccount, runAccount } from './matrix.test-support.ts';
import { newSdk } from './sdk.test-support.ts';
import { startMatrixSimulator } from './simulator.ts';
import type { MatrixSimulator } from './simulator.ts';

let simulator: MatrixSimulator;
let client: MatrixClient;

beforeEach(async () => {
  simulator = await startMatrixSimulator();
});
afterEach(async () => {
  client.stopClient();
  await simulator[Symbol.asyncDispose]();
});

/** A client of the Matrix foundation's own SDK, which knows nothing of us. */
const startClient = async (encrypts: boolean): Promise<MatrixClient> => {
  const made = newSdk(simulator, 'SDK');
  if (encrypts) await made.initRustCrypto({ useIndexedDB: false });
  const ready = new Promise<void>((resolve) => made.on(ClientEvent.Sync, (state) => void (state === 'PREPARED' && resolve())));
  await made.startClient({ initialSyncLimit: 10, pollTimeout: 1000 });
  await ready;
  return made;
};

/** What the SDK shows of others, with what was encrypted as it became readable. */
const heardBy = (sdk: MatrixClient): MatrixEvent[] => {
  const heard: MatrixEvent[] = [];
  sdk.on(RoomEvent.Timeline, (event) => void (event.getSender() !== alice && heard.push(event)));
  return heard;
};

describe('the simulator serves matrix-js-sdk', () => {
  it('in the clear: both sides read, answer, edit and react', async () => {
    using account = await openAccount(simulator);
    const running = await runAccount(account.adapter);
    await following(simulator);
    client = await startClient(false);
    const heard = heardBy(client);
    const { event_id: asked } = await client.sendMessage('!direct:sim.test', { msgtype: MsgType.Text, body: 'hello' });
    const event = await eventWith(running.inbox, 'hello');
    assert.deepEqual([event.nativeId, event.sender.id, event.chat.type], [asked, alice, 'dm']);
    await account.adapter.send(message('**hi**', { target: { account: 'matrix', chatId: '!direct:sim.test', chatType: 'dm', replyTo: asked } }), never);
    const answer = await eventually(() => heard.find((each) => each.getType() === EventType.RoomMessage), 'the SDK hears the answer');
    assert.deepEqual([answer.getContent()['formatted_body'], answer.replyEventId], ['<strong>hi</strong>', asked]);
    await client.sendEvent('!direct:sim.test', EventType.Reaction, { 'm.relates_to': { rel_type: 'm.annotation' as never, event_id: answer.getId() ?? '', key: '👍' } });
    await eventually(() => running.inbox.events.find(({ reaction }) => reaction?.emoji === '👍'), 'the reaction arrives');
    await running.stop();
  });

  it('encrypted, with its own crypto: nothing readable passes through the homeserver', async () => {
    using account = await openAccount(simulator);
    const running = await runAccount(account.adapter);
    await following(simulator);
    client = await startClient(true);
    const { room_id: roomId } = await client.createRoom({ invite: [simulator.bot.id], is_direct: true, initial_state: [{ type: EventType.RoomEncryption, state_key: '', content: { algorithm: 'm.megolm.v1.aes-sha2' } }] });
    const room = await eventually(() => simulator.world.rooms.get(roomId), 'the room exists');
    await eventually(() => room.state.get(`m.room.member ${simulator.bot.id}`)?.event.content['membership'] === 'join' && client.getRoom(roomId)?.getJoinedMembers().length === 2, 'the account has followed the invitation');
    const heard = heardBy(client);
    for (const text of ['a secret', 'another one']) {
      await client.sendMessage(roomId, { msgtype: MsgType.Text, body: text });
      await eventWith(running.inbox, text);
    }
    await account.adapter.send({ key: 'answer', target: { account: 'matrix', chatId: roomId, chatType: 'dm' }, text: 'kept **well**' }, never);
    const sealed = await eventually(() => heard.find((each) => each.isEncrypted()), 'the SDK hears something encrypted');
    if (sealed.getClearContent() === null) await new Promise<void>((resolve) => void sealed.once(MatrixEventEvent.Decrypted, () => resolve()));
    assert.equal(sealed.getContent()['body'], 'kept **well**');
    const stored = JSON.stringify(room.timeline.map(({ event }) => event));
    for (const secret of ['a secret', 'another one', 'kept']) assert.ok(!stored.includes(secret), `${secret} is on the homeserver`);
    await running.stop();
  });
});
