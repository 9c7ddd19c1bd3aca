import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { ClientEvent, createClient, MsgType } from 'matrix-js-sdk';
import type { MatrixClient } from 'matrix-js-sdk';
import { CryptoEvent, VerificationPhase, VerificationRequestEvent } from 'matrix-js-sdk/lib/crypto-api/index.js';
import type { ShowSasCallbacks, VerificationRequest } from 'matrix-js-sdk/lib/crypto-api/index.js';
import { logger } from 'matrix-js-sdk/lib/logger.js';
import type { Logger } from 'matrix-js-sdk/lib/logger.js';
import { eventually, eventWith } from '../conformance-bench.ts';
import type { DeviceCheck, DeviceChecks } from '../contract.ts';
import { newDeviceChecks } from './device-checks.ts';
import { alice, following, openAccount, runAccount, textsOf } from './matrix.test-support.ts';
import type { Running, TestAccount } from './matrix.test-support.ts';
import { startMatrixSimulator } from './simulator.ts';
import type { MatrixSimulator } from './simulator.ts';
import { addEvent } from './simulator/world.ts';

const quiet: Logger = { trace: () => undefined, debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined, getChild: () => quiet };
Object.assign(logger, quiet);

let simulator: MatrixSimulator;
let account: TestAccount;
let running: Running;
let client: MatrixClient;
let checks: DeviceChecks;

beforeEach(async () => {
  simulator = await startMatrixSimulator();
  const room = simulator.world.rooms.get('!direct:sim.test') ?? assert.fail();
  addEvent(simulator.world, room, { type: 'm.room.encryption', sender: alice, stateKey: '', content: { algorithm: 'm.megolm.v1.aes-sha2' } });
  account = await openAccount(simulator);
  running = await runAccount(account.adapter);
  await following(simulator);
  // Somebody at a terminal: another process, which has nothing but what the account keeps.
  checks = newDeviceChecks(account.data, () => Date.now());
  client = createClient({ baseUrl: simulator.baseUrl, accessToken: simulator.logIn(alice, 'SDK'), userId: alice, deviceId: 'SDK', logger: quiet });
  await client.initRustCrypto({ useIndexedDB: false });
  const ready = new Promise<void>((resolve) => client.on(ClientEvent.Sync, (state) => void (state === 'PREPARED' && resolve())));
  await client.startClient({ pollTimeout: 1000 });
  await ready;
  // Clients get to know each other's devices when they first write.
  await client.sendMessage('!direct:sim.test', { msgtype: MsgType.Text, body: 'hello' });
  await eventWith(running.inbox, 'hello');
});
afterEach(async () => {
  client.stopClient();
  await running.stop();
  account[Symbol.dispose]();
  await simulator[Symbol.asyncDispose]();
});

const cryptoOf = (sdk: MatrixClient): NonNullable<ReturnType<MatrixClient['getCrypto']>> => sdk.getCrypto() ?? assert.fail('the SDK has no crypto');

const inPhase = (request: VerificationRequest, phase: VerificationPhase): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => void (request.phase === phase && resolve());
    request.on(VerificationRequestEvent.Change, look);
    look();
  });

/** The newest check in a state, as a terminal sees it. */
const checkThat = async (state: DeviceCheck['state']): Promise<DeviceCheck> => {
  let found: DeviceCheck | undefined;
  let isAsking = false;
  return eventually(() => {
    if (!isAsking) {
      isAsking = true;
      void checks.list().then((all) => {
        found = all.findLast((check) => check.state === state);
        isAsking = false;
      });
    }
    return found;
  }, `a check is in the state ${state}`);
};

/** What the SDK shows its person. */
const sasOf = async (request: VerificationRequest): Promise<{ sas: ShowSasCallbacks; verified: Promise<void> }> => {
  const verifier = request.verifier ?? (await request.startVerification('m.sas.v1'));
  const verified = verifier.verify();
  verified.catch(() => undefined);
  return { sas: await eventually(() => verifier.getShowSasCallbacks() ?? undefined, 'the SDK shows emoji'), verified };
};

const patienceMs = 20_000;

/** A check of devices that the other side does not answer is begun again, as people do: under load one of the two clients now and then leaves the other waiting. */
const again = async (attempt: () => Promise<void>): Promise<void> => {
  for (let left = 3; ; left -= 1) {
    const late = AbortSignal.timeout(patienceMs);
    const outcome = await Promise.race([attempt().then(() => 'done' as const), new Promise<'late'>((resolve) => late.addEventListener('abort', () => resolve('late')))]);
    if (outcome === 'done') return;
    assert.ok(left > 1, 'a check of devices did not come to its end three times');
  }
};

describe('verification by emoji', () => {
  it('of a person: both show the same, the owner says so, and the person trusts the account', async () => {
    await cryptoOf(client).bootstrapCrossSigning({ authUploadDeviceSigningKeys: async (make) => void (await make(null)) });
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
    assert.ok((await cryptoOf(client).getUserVerificationStatus(simulator.bot.id)).isCrossSigningVerified());
    assert.deepEqual(textsOf(running.inbox), ['hello'], 'nothing of it is a message');
  });

  it('of a device: emoji that differ end it, and nothing is trusted', () => again(async () => {
    const request = await cryptoOf(client).requestDeviceVerification(simulator.bot.id, 'HERMES');
    await inPhase(request, VerificationPhase.Ready);
    await sasOf(request);
    await checks.answer((await checkThat('compare')).id, false);
    await inPhase(request, VerificationPhase.Cancelled);
    assert.equal((await checkThat('cancelled')).userId, alice);
    assert.equal((await cryptoOf(client).getDeviceVerificationStatus(simulator.bot.id, 'HERMES'))?.localVerified, false);
  }));

  it('that the owner begins', () => again(async () => {
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
  }));
});
