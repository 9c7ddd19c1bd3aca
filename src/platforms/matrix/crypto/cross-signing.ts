import { PlatformError } from '../../../core/errors.ts';
import type { Logger } from '../../../lib/logger.ts';
import { MatrixError } from '../errors.ts';
import { record } from '../wire.ts';
import type { Json } from '../wire.ts';
import { makeCalls, readRequest } from './requests.ts';
import type { Calling, KeyRequest } from './requests.ts';

interface Identity {
  readonly userId: string;
  readonly password: string | undefined;
  readonly log: Logger;
}

/** Whether the account has an identity already, made here or by another device. */
const isPublished = async ({ api }: Calling, userId: string, signal: AbortSignal): Promise<boolean> => {
  const answer = await api.http.call({ what: 'keys query', method: 'POST', path: '/_matrix/client/v3/keys/query', json: { device_keys: { [userId]: [] } } }, signal);
  return record(record(answer['master_keys'])?.[userId]) !== undefined;
};

/** The keys by which others know that the device is the account's. The same again until they were published. */
const prepare = (calling: Calling): Promise<{ readonly keys: Json; readonly before: KeyRequest | undefined; readonly after: KeyRequest | undefined }> =>
  calling.machine.change(async ({ olm, library }) => {
    const { uploadKeysRequest: upload, uploadSigningKeysRequest: signing, uploadSignaturesRequest: signatures } = await olm.bootstrapCrossSigning(false);
    const before = upload === undefined || upload === null ? undefined : readRequest(library, upload as Parameters<typeof readRequest>[1]);
    return { keys: record(JSON.parse(signing.body)) ?? {}, before, after: readRequest(library, signatures) };
  });

const uploadKeys = async ({ api }: Calling, keys: Json, { userId, password }: Identity, signal: AbortSignal): Promise<void> => {
  const post = (json: Json): Promise<Json> => api.http.call({ what: 'signing keys', method: 'POST', path: '/_matrix/client/v3/keys/device_signing/upload', json }, signal);
  try {
    await post(keys);
  } catch (error) {
    // Some homeservers want the password for that, and answer with a session in which to give it.
    if (!(error instanceof MatrixError) || error.refusal.session === undefined || password === undefined) throw error;
    await post({ ...keys, auth: { type: 'm.login.password', session: error.refusal.session, identifier: { type: 'm.id.user', user: userId }, password } });
  }
};

/** Whether others can tell that this device is the account's: by keys that it has itself, or because somebody who has them said so. */
const isVouchedFor = (calling: Calling, userId: string): Promise<boolean> =>
  calling.machine.change(async ({ olm, library }) => {
    if ((await olm.crossSigningStatus()).hasSelfSigning) return true;
    return (await olm.getDevice(new library.UserId(userId), olm.deviceId))?.isCrossSignedByOwner() === true;
  });

/** Gives the account an identity that people can verify, unless it has one. Without it everything else works, except with clients that share keys with proven devices only. */
export const signOurselves = async (calling: Calling, identity: Identity, signal: AbortSignal): Promise<void> => {
  if (await isPublished(calling, identity.userId, signal)) {
    const fix = 'log in to the account with a client that has its identity, and verify this device there';
    if (!(await isVouchedFor(calling, identity.userId))) identity.log.warn({ reason: 'the account has an identity whose keys are not here, so some clients will not let this device read', fix }, 'matrix.device_not_proven');
    return;
  }
  const made = await prepare(calling);
  try {
    await makeCalls(calling, made.before === undefined ? [] : [made.before], signal);
    await uploadKeys(calling, made.keys, identity, signal);
    await makeCalls(calling, made.after === undefined ? [] : [made.after], signal);
  } catch (error) {
    if (!(error instanceof PlatformError) || error.code === 'unavailable' || error.code === 'aborted') throw error;
    identity.log.info({ err: error }, 'matrix.identity_not_made');
  }
};
