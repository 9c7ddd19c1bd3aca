import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ClientEvent, MsgType } from 'matrix-js-sdk';
import type { MatrixClient } from 'matrix-js-sdk';
import { CryptoEvent, VerificationPhase, VerificationRequestEvent } from 'matrix-js-sdk/lib/crypto-api/index.js';
import type { ShowSasCallbacks, VerificationRequest } from 'matrix-js-sdk/lib/crypto-api/index.js';
import { eventually, eventWith, never } from '../conformance-bench.ts';
import type { Running } from '../conformance-bench.ts';
import type { DeviceCheck, DeviceChecks } from '../contract.ts';
import { newDeviceChecks } from './device-checks.ts';
import { alice, following, message, openAccount, runAccount, textsOf } from './matrix.test-support.ts';
import type { MatrixAccount } from './matrix.test-support.ts';
import { newSdk } from './sdk.test-support.ts';
import { startMatrixSimulator } from './simulator.ts';
import type { MatrixSimulator } from './simulator.ts';
import { addEvent } from './simulator/world.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

let simulator: MatrixSimulator;
let account: MatrixAccount;
let running: Running;
let client: MatrixClient;
let checks: DeviceChecks;
const clients: MatrixClient[] = [];

/** The SDK on a device of Alice's. */
const newClient = async (deviceId: string): Promise<MatrixClient> => {
  const made = newSdk(simulator, deviceId);
  clients.push(made);
  await made.initRustCrypto({ useIndexedDB: false });
  const ready = new Promise<void>((resolve) => made.on(ClientEvent.Sync, (state) => void (state === 'PREPARED' && resolve())));
  await made.startClient({ pollTimeout: 1000 });
  await ready;
  return made;
};

/** Clients get to know each other's devices when they first write. */
const sayHello = (sdk: MatrixClient): Promise<unknown> => sdk.sendMessage('!direct:sim.test', { msgtype: MsgType.Text, body: 'hello' });

beforeEach(async () => {
  simulator = await startMatrixSimulator();
  const room = simulator.world.rooms.get('!direct:sim.test') ?? assert.fail();
  addEvent(simulator.world, room, { type: 'm.room.encryption', sender: alice, stateKey: '', content: { algorithm: 'm.megolm.v1.aes-sha2' } });
  account = await openAccount(simulator);
  running = await runAccount(account.adapter);
  await following(simulator);
  // Somebody at a terminal: another process, which has nothing but what the account keeps.
  checks = newDeviceChecks(account.data, () => Date.now());
  client = await newClient('SDK');
  await sayHello(client);
  await eventWith(running.inbox, 'hello');
});
afterEach(async () => {
  for (const each of clients.splice(0)) each.stopClient();
  held.clear();
  await running.stop();
  account[Symbol.dispose]();
  await simulator[Symbol.asyncDispose]();
});

const cryptoOf = (sdk: MatrixClient): NonNullable<ReturnType<MatrixClient['getCrypto']>> => sdk.getCrypto() ?? assert.fail('the SDK has no crypto');

/** The SDK tells a request of its changes by a weak reference: one that nothing holds but those who wait for it is collected together with them, and they wait for ever. */
const held = new Set<VerificationRequest>();

const inPhase = (request: VerificationRequest, phase: VerificationPhase): Promise<void> => {
  held.add(request);
  setImmediate(collectGarbage);
  return new Promise((resolve) => {
    const look = (): void => void (request.phase === phase && resolve());
    request.on(VerificationRequestEvent.Change, look);
    look();
  });
};

/** Asks until there is an answer. */
const answerTo = <T>(ask: () => Promise<T | undefined | false>, what: string): Promise<T> => {
  let found: T | undefined | false;
  let isAsking = false;
  return eventually(() => {
    if (!isAsking) {
      isAsking = true;
      void ask().then((answer) => {
        found = answer;
        isAsking = false;
      });
    }
    return found;
  }, what);
};

/** The newest check with a person in a state, as a terminal sees it. */
const checkThat = (state: DeviceCheck['state'], userId = alice): Promise<DeviceCheck> =>
  answerTo(async () => (await checks.list()).findLast((check) => check.state === state && check.userId === userId), `a check is in the state ${state}`);

/** What the SDK shows its person. */
const sasOf = async (request: VerificationRequest): Promise<{ sas: ShowSasCallbacks; verified: Promise<void> }> => {
  const verifier = request.verifier ?? (await request.startVerification('m.sas.v1'));
  const verified = verifier.verify();
  verified.catch(() => undefined);
  return { sas: await eventually(() => verifier.getShowSasCallbacks() ?? undefined, 'the SDK shows emoji'), verified };
};

/** Another gateway takes the account over. */
const takeOver = async (): Promise<void> => {
  await running.stop();
  const { adapter } = await openAccount(simulator, { data: account.data });
  running = await runAccount(adapter, running.inbox);
};

const signIn = (sdk: MatrixClient): Promise<void> => cryptoOf(sdk).bootstrapCrossSigning({ authUploadDeviceSigningKeys: async (make) => void (await make(null)) });

describe('verification by emoji', () => {
  it('of a person: both show the same, the owner says so, and the person trusts the account', async () => {
    await signIn(client);
    assert.ok(await cryptoOf(client).userHasCrossSigningKeys(simulator.bot.id, true), 'the account has an identity');
    const request = await cryptoOf(client).requestVerificationDM(simulator.bot.id, '!direct:sim.test');
    await inPhase(request, VerificationPhase.Ready);
    const { sas, verified } = await sasOf(request);
    const check = await checkThat('compare');
    assert.deepEqual(check.emoji.map(({ symbol }) => symbol), sas.sas.emoji?.map(([symbol]) => symbol));
    assert.equal(check.userId, alice);
    await sas.confirm();
    await checks.answer(check.id, true);
    await verified;
    await checkThat('done');
    // An answer from before the signature may still be on its way to the SDK, which goes by the newest.
    await answerTo(async () => (await cryptoOf(client).getUserVerificationStatus(simulator.bot.id)).isCrossSigningVerified(), 'the person trusts the account');
    assert.deepEqual(textsOf(running.inbox), ['hello'], 'nothing of it is a message');
  });

  it('of a device: emoji that differ end it, and nothing is trusted', async () => {
    const request = await cryptoOf(client).requestDeviceVerification(simulator.bot.id, 'HERMES');
    await inPhase(request, VerificationPhase.Ready);
    await sasOf(request);
    await checks.answer((await checkThat('compare')).id, false);
    await inPhase(request, VerificationPhase.Cancelled);
    assert.equal((await checkThat('cancelled')).userId, alice);
    assert.equal((await cryptoOf(client).getDeviceVerificationStatus(simulator.bot.id, 'HERMES'))?.localVerified, false);
  });

  it('that the owner begins', async () => {
    const asked = new Promise<VerificationRequest>((resolve) => void client.on(CryptoEvent.VerificationRequestReceived, resolve));
    await checks.begin(alice, 'SDK');
    const request = await asked;
    await request.accept();
    await inPhase(request, VerificationPhase.Started);
    const { sas, verified } = await sasOf(request);
    const check = await checkThat('compare');
    assert.deepEqual(check.emoji.map(({ name }) => name.toLowerCase()), sas.sas.emoji?.map(([, name]) => name.toLowerCase()));
    await checks.answer(check.id, true);
    await sas.confirm();
    await verified;
    await checkThat('done');
  });

  it('of a device that is newer than what is known of its person', async () => {
    await account.adapter.send(message('hello'), never);
    await running.stop();
    const another = await newClient('NEW');
    await sayHello(another);
    const request = await cryptoOf(another).requestDeviceVerification(simulator.bot.id, 'HERMES');
    // One answer tells of the device and brings its request.
    running = await runAccount(account.adapter, running.inbox);
    await inPhase(request, VerificationPhase.Ready);
    assert.equal((await checkThat('waiting')).deviceId, 'NEW');
  });
});

describe('verification that cannot go on ends with a word', () => {
  const ways: readonly { readonly way: string; readonly sentToDevice: number; ask(): Promise<VerificationRequest> }[] = [
    { way: 'from device to device', sentToDevice: 1, ask: () => cryptoOf(client).requestDeviceVerification(simulator.bot.id, 'HERMES') },
    { way: 'through a room', sentToDevice: 0, ask: () => cryptoOf(client).requestVerificationDM(simulator.bot.id, '!direct:sim.test') },
  ];
  for (const { way, sentToDevice, ask } of ways) {
    it(`after a new connection, on both sides, and can begin again: ${way}`, async () => {
      await signIn(client);
      assert.ok(await cryptoOf(client).userHasCrossSigningKeys(simulator.bot.id, true));
      const request = await ask();
      await inPhase(request, VerificationPhase.Ready);
      await sasOf(request);
      const { id } = await checkThat('compare');
      await takeOver();
      const ended = await checkThat('cancelled');
      assert.deepEqual([ended.id, ended.emoji], [id, []]);
      assert.match(ended.reason ?? '', /begin again/);
      await inPhase(request, VerificationPhase.Cancelled);
      assert.equal(simulator.log.filter(({ path }) => path.includes('/sendToDevice/m.key.verification.cancel/')).length, sentToDevice, 'it is ended where it goes on');
      await inPhase(await ask(), VerificationPhase.Ready);
    });
  }

  it('when there is nobody to ask, or no such device', async () => {
    await checks.begin('@nobody:sim.test');
    await checks.begin(alice, 'NONE');
    assert.equal((await checkThat('cancelled', '@nobody:sim.test')).reason, 'no device of @nobody:sim.test that encrypts is known to the homeserver');
    assert.equal((await checkThat('cancelled')).reason, '@alice:sim.test has no device NONE that encrypts');
  });
});
