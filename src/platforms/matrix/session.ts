import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { PlatformError } from '../../core/errors.ts';
import type { AccountData } from '../contract.ts';
import { MatrixError } from './errors.ts';
import { newHttp } from './http.ts';
import type { Credential, Http } from './http.ts';
import type { MatrixOptions } from './options.ts';
import { record, text } from './wire.ts';

const key = 'login';

/** A login with a password, kept so that the device stays the same: its keys are worth nothing on another one. */
interface Login {
  readonly deviceId: string;
  /** Absent after the homeserver has ended the session but kept the device. */
  readonly token?: string;
  /** Which password it was made with, as a hash. */
  readonly salt: string;
  readonly proof: string;
}

const derive = promisify(scrypt) as (password: string, salt: Buffer, length: number) => Promise<Buffer>;

const proofOf = async (options: MatrixOptions, salt: string): Promise<string> =>
  (await derive(JSON.stringify([options.homeserver, options.user_id, options.password]), Buffer.from(salt, 'hex'), 32)).toString('hex');

const readLogin = (value: string | undefined): Login | undefined => {
  const stored = value === undefined ? undefined : record(JSON.parse(value));
  const [deviceId, token, salt, proof] = ['deviceId', 'token', 'salt', 'proof'].map((field) => text(stored?.[field]));
  if (deviceId === undefined || salt === undefined || proof === undefined) return undefined;
  return { deviceId, salt, proof, ...(token !== undefined && { token }) };
};

const logIn = async (http: Http, options: MatrixOptions, deviceId: string | undefined, signal: AbortSignal): Promise<{ token: string; deviceId: string }> => {
  const json = {
    type: 'm.login.password',
    identifier: { type: 'm.id.user', user: options.user_id },
    password: options.password,
    ...(deviceId === undefined ? { initial_device_display_name: options.device_name } : { device_id: deviceId }),
  };
  try {
    const answer = await http.call({ what: 'login', method: 'POST', path: '/_matrix/client/v3/login', json, anonymous: true }, signal);
    const [token, device] = [text(answer['access_token']), text(answer['device_id'])];
    if (token === undefined || device === undefined) throw new PlatformError('unavailable', 'login: the answer has no token');
    return { token, deviceId: device };
  } catch (error) {
    // A wrong password is refused as `M_FORBIDDEN`.
    if (error instanceof MatrixError && error.code === 'forbidden') throw new PlatformError('bad_credential', error.message);
    throw error;
  }
};

/** Logs in with the password once, and again when the homeserver wants it; the device stays. */
const passwordCredential = (options: MatrixOptions, data: AccountData): Credential => {
  const http = newHttp(options.homeserver, options.request_timeout_seconds * 1000);
  let current: Promise<Login & { readonly token: string }> | undefined;

  const obtain = async (signal: AbortSignal): Promise<Login & { readonly token: string }> => {
    const stored = readLogin(await data.get(key));
    const isOurs = stored !== undefined && timingSafeEqual(Buffer.from(await proofOf(options, stored.salt)), Buffer.from(stored.proof));
    if (isOurs && stored.token !== undefined) return { ...stored, token: stored.token };
    const { token, deviceId } = await logIn(http, options, isOurs ? stored.deviceId : undefined, signal);
    const salt = isOurs ? stored.salt : randomBytes(16).toString('hex');
    const login = { deviceId, token, salt, proof: isOurs ? stored.proof : await proofOf(options, salt) };
    await data.set(key, JSON.stringify(login satisfies Login));
    return login;
  };

  return {
    async token(signal) {
      const asked = (current ??= obtain(signal));
      try {
        return (await asked).token;
      } catch (error) {
        if (current === asked) current = undefined;
        throw error;
      }
    },
    async refused(error) {
      const asked = current;
      const login = await asked;
      if (login !== undefined && current === asked) {
        current = undefined;
        const { token: _ended, ...device } = login;
        if (error.refusal.softLogout) await data.set(key, JSON.stringify(device satisfies Login));
        else await data.remove(key);
      }
      return new PlatformError('unavailable', 'the homeserver has ended our session; the next connection logs in again', { cause: error });
    },
  };
};

export const newCredential = (options: MatrixOptions, data: AccountData): Credential => {
  const { access_token: token } = options;
  if (token === undefined) return passwordCredential(options, data);
  return { token: async () => token, refused: async (error) => error };
};
