import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { aMoment, eventually, eventWith, failure, never, newInbox } from '../../conformance-bench.ts';
import type { Running } from '../../conformance-bench.ts';
import type { AccountData } from '../../contract.ts';
import { openAccountData } from '../../../../test/support/account-data.ts';
import { alice, direct, following, message, openAccount, runAccount, textsOf } from '../matrix.test-support.ts';
import { startMatrixSimulator } from '../simulator.ts';
import type { MatrixSimulator } from '../simulator.ts';
import { advance, stateName } from '../simulator/world.ts';

let simulator: MatrixSimulator;
let data: AccountData & Disposable;
let running: Running | undefined;

beforeEach(async () => {
  simulator = await startMatrixSimulator({ encrypted: true });
  data = openAccountData(':memory:');
});
afterEach(async () => {
  await running?.stop();
  running = undefined;
  data[Symbol.dispose]();
  await simulator[Symbol.asyncDispose]();
});

const open = (options: Readonly<Record<string, unknown>> = {}, kept: AccountData = data) => openAccount(simulator, { data: kept, options });

const run = async (adapter: Awaited<ReturnType<typeof open>>['adapter'], inbox = newInbox()): Promise<Running> => {
  running = await runAccount(adapter, inbox);
  await following(simulator);
  return running;
};

const say = (text: string): Promise<string> => simulator.say({ chatId: direct.chatId, chatType: 'dm', senderId: alice, text });

const room = () => simulator.world.rooms.get(direct.chatId) ?? assert.fail('there is no room');

/** What the account has put into the room, as the homeserver sees it. */
const sent = () => room().timeline.map(({ event }) => event).filter(({ sender, type }) => sender === simulator.bot.id && type.startsWith('m.room.') && type !== 'm.room.member');

const shown = (): readonly string[] => simulator.visible(direct.chatId).map(({ text }) => text);

/** Session and number of a message: the same pair twice would mean a key used twice. */
const ratchetOf = ({ content }: ReturnType<typeof sent>[number]): string => {
  const bytes = Buffer.from(String(content['ciphertext']), 'base64');
  let index = 0;
  // A version, a tag, and a number in groups of seven bits.
  for (let at = 2, shift = 0; ; at += 1, shift += 7) {
    const byte = bytes[at] ?? 0;
    index |= (byte & 0x7f) << shift;
    if (byte < 0x80) return `${String(content['session_id'])} ${index}`;
  }
};

describe('nothing goes into an encrypted room in the clear', () => {
  it('not when the homeserver does not say whether it is encrypted', async () => {
    using account = await open();
    await account.adapter.identify(never);
    for (const fault of [{ type: 'status', status: 500 }, { type: 'refuse' }, { type: 'garbage' }] as const) {
      simulator.fail({ what: 'any', fault });
      await failure(account.adapter.send(message('secret'), never), 'unavailable', 'unknown_outcome');
    }
    await aMoment();
    assert.deepEqual(sent(), []);
  });

  it('not when the homeserver takes it back, also after a restart', async () => {
    using first = await open();
    await run(first.adapter);
    await first.adapter.send(message('one'), never);
    room().state.delete(stateName('m.room.encryption', ''));
    await first.adapter.send(message('two'), never);
    await running?.stop();
    using second = await open();
    await second.adapter.send(message('three'), never);
    assert.deepEqual(sent().map(({ type }) => type), ['m.room.encrypted', 'm.room.encrypted', 'm.room.encrypted']);
    await eventually(() => shown().length === 3, 'all of it can be read');
  });

  it('not without encryption: it is refused', async () => {
    using account = await open({ encryption: 'off' });
    await failure(account.adapter.send(message('secret'), never), 'unsupported');
    assert.deepEqual(sent(), []);
  });

  it('not by files: what the homeserver gets is no longer the file', async () => {
    using account = await open();
    const { writeFile, mkdtemp, rm } = await import('node:fs/promises');
    const folder = await mkdtemp('/tmp/hermes-matrix-');
    await writeFile(`${folder}/plan.txt`, 'the plan');
    await account.adapter.send(message('look', { media: [{ kind: 'document', path: `${folder}/plan.txt`, mime: 'text/plain', name: 'plan.txt' }] }), never);
    await rm(folder, { recursive: true });
    const [file] = simulator.world.files.values();
    assert.ok(file !== undefined && !Buffer.from(file.bytes).includes('the plan'));
    assert.deepEqual([file.mime, file.name], ['application/octet-stream', undefined]);
  });

  it('and not into others, where it is required', async () => {
    room().state.delete(stateName('m.room.encryption', ''));
    using account = await open({ encryption: 'required' });
    await failure(account.adapter.send(message('hello'), never), 'unsupported');
    assert.deepEqual(sent(), []);
  });
});

describe('keys', () => {
  it('are kept across restarts: old conversations go on, in both directions', async () => {
    using first = await open();
    const before = await run(first.adapter);
    await say('one');
    await eventWith(before.inbox, 'one');
    await first.adapter.send(message('two'), never);
    await before.stop();
    await say('three');
    using second = await open();
    const after = await run(second.adapter, before.inbox);
    await eventWith(after.inbox, 'three');
    await second.adapter.send(message('four'), never);
    await eventually(() => shown().length === 2, 'both can be read');
    assert.equal(new Set(sent().map(({ content }) => content['session_id'])).size, 1);
    assert.equal(simulator.world.users.get(simulator.bot.id)?.devices.size, 1);
  });

  it('are never used twice, whoever writes at the same time', async () => {
    using receiving = await open();
    await run(receiving.adapter);
    using standby = await open();
    const texts = Array.from({ length: 12 }, (_, i) => `text ${i}`);
    await Promise.all(texts.map((text, i) => (i % 2 === 0 ? receiving : standby).adapter.send(message(text), never)));
    await eventually(() => shown().length === texts.length, 'all of it can be read');
    assert.deepEqual(shown().toSorted(), texts.toSorted());
    assert.equal(new Set(sent().map(ratchetOf)).size, texts.length);
  });

  it('do not leave before they are stored', async () => {
    let isFull = false;
    const change: AccountData['change'] = async (wanted) => {
      if (isFull) throw new Error('the disk is full');
      return data.change(wanted);
    };
    using account = await open({}, { ...data, change });
    await account.adapter.send(message('one'), never);
    isFull = true;
    await failure(account.adapter.send(message('two'), never), 'unavailable');
    await aMoment();
    assert.equal(sent().length, 1);
    isFull = false;
    await account.adapter.send(message('two'), never);
    await eventually(() => shown().length === 2, 'both can be read');
    assert.equal(new Set(sent().map(ratchetOf)).size, 2);
  });

  it('go to verified devices only, where that is wanted', async () => {
    using account = await open({ share_keys_with: 'verified_devices' });
    await account.adapter.send(message('for nobody yet'), never);
    await aMoment();
    assert.deepEqual([sent().length, shown()], [1, []]);
  });
});

describe('what cannot be read', () => {
  it('is kept until its key comes, also across a restart, and then heard', async () => {
    using first = await open();
    const before = await run(first.adapter);
    await say('hello');
    await eventWith(before.inbox, 'hello');
    await before.stop();
    const device = [...(simulator.world.users.get(simulator.bot.id)?.devices.values() ?? [])][0] ?? assert.fail();
    // A key that is new to the account, and gets lost on its way.
    const stranger = { chatId: direct.chatId, chatType: 'dm', senderId: '@dave:sim.test' } as const;
    await simulator.say({ ...stranger, text: 'read me later' });
    const lost = device.toDevice.splice(0);
    using second = await open();
    const during = await run(second.adapter, before.inbox);
    await eventually(() => second.lines.some((line) => line.includes('matrix.event.undecryptable')), 'it cannot be read');
    await say('in between');
    await eventWith(during.inbox, 'in between');
    await during.stop();
    const at = advance(simulator.world);
    device.toDevice.push(...lost.map((entry) => ({ ...entry, at })));
    using third = await open();
    const after = await run(third.adapter, before.inbox);
    await eventWith(after.inbox, 'read me later');
    assert.deepEqual(textsOf(after.inbox), ['hello', 'in between', 'read me later']);
    assert.deepEqual(await data.list('undecrypted:'), []);
  });

  it('does not stop what comes behind it, however it is made', async () => {
    using account = await open();
    const { inbox } = await run(account.adapter);
    const made = [{}, { algorithm: 'm.megolm.v1.aes-sha2', ciphertext: 'AAAA', session_id: 'x', sender_key: 'y', device_id: 'z' }, { algorithm: 'm.olm.v1.curve25519-aes-sha2', ciphertext: {} }, { algorithm: 7, ciphertext: [[]] }];
    for (const content of made) simulator.put(direct.chatId, alice, 'm.room.encrypted', content);
    simulator.put(direct.chatId, alice, 'm.key.verification.start', { nonsense: true });
    simulator.put(direct.chatId, alice, 'm.room.message', { msgtype: 'm.key.verification.request', body: 'x' });
    await say('behind it');
    await eventWith(inbox, 'behind it');
    assert.deepEqual(textsOf(inbox), ['behind it']);
  });

  it('is not heard when it was not encrypted at all', async () => {
    using account = await open();
    const { inbox } = await run(account.adapter);
    simulator.put(direct.chatId, alice, 'm.room.message', { msgtype: 'm.text', body: 'forged by the homeserver' });
    await say('genuine');
    await eventWith(inbox, 'genuine');
    assert.deepEqual(textsOf(inbox), ['genuine']);
    assert.ok(account.lines.some((line) => line.includes('not encrypted in an encrypted room')));
  });
});

it('an account whose keys were lost reads what is new on a new device, and says that nobody vouches for it', async () => {
  using first = await open();
  await (await run(first.adapter)).stop();
  using again = await open();
  await (await run(again.adapter)).stop();
  assert.ok(!again.lines.some((line) => line.includes('matrix.device_not_proven')), 'with its keys it can prove itself');
  using lost = openAccountData(':memory:');
  using fresh = await open({}, lost);
  const { inbox } = await run(fresh.adapter);
  const line = await eventually(() => fresh.lines.find((each) => each.includes('matrix.device_not_proven')), 'it is said');
  assert.match(line, /verify this device/);
  await say('can you read this?');
  await eventWith(inbox, 'can you read this?');
  await fresh.adapter.send(message('yes'), never);
  assert.deepEqual(shown(), ['yes']);
  await running?.stop();
});
