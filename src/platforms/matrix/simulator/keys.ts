import { record } from '../wire.ts';
import type { Json } from '../wire.ts';
import { advance } from './world.ts';
import type { Device, User, World } from './world.ts';

/** `/keys/upload`: a device publishes who it is, and keys with which others can write to it first. */
export const uploadKeys = (world: World, device: Device, body: Json): Json => {
  const keys = record(body['device_keys']);
  const user = world.users.get(device.userId);
  if (keys !== undefined && user !== undefined) {
    device.keys = keys;
    user.keysChangedAt = advance(world);
  }
  for (const [id, key] of Object.entries(record(body['one_time_keys']) ?? {})) device.oneTimeKeys.set(id, key);
  for (const [id, key] of Object.entries(record(body['fallback_keys']) ?? {})) {
    device.fallbackKeys.clear();
    device.fallbackKeys.set(id, { key, used: false });
  }
  return { one_time_key_counts: { signed_curve25519: device.oneTimeKeys.size } };
};

const withSignatures = (keys: Json, more: Json | undefined): Json => (more === undefined ? keys : { ...keys, signatures: mergeDeep(record(keys['signatures']) ?? {}, more) });

const mergeDeep = (a: Json, b: Json): Json => {
  const merged: Record<string, unknown> = { ...a };
  for (const [key, value] of Object.entries(b)) merged[key] = record(value) !== undefined && record(merged[key]) !== undefined ? mergeDeep(record(merged[key]) ?? {}, record(value) ?? {}) : value;
  return merged;
};

export const queryKeys = (world: World, body: Json, asker: string): Json => {
  const users = Object.keys(record(body['device_keys']) ?? {}).map((id) => world.users.get(id)).filter((user) => user !== undefined);
  const crossSigning = (name: string, of: readonly User[]): Json => Object.fromEntries(of.flatMap((user) => {
    const key = user.crossSigning.get(name);
    return key === undefined ? [] : [[user.id, key]];
  }));
  return {
    device_keys: Object.fromEntries(users.map((user) => [user.id, Object.fromEntries([...user.devices.values()].filter(({ keys }) => keys !== undefined).map(({ id, keys }) => [id, keys]))])),
    master_keys: crossSigning('master_key', users),
    self_signing_keys: crossSigning('self_signing_key', users),
    user_signing_keys: crossSigning('user_signing_key', users.filter(({ id }) => id === asker)),
    failures: {},
  };
};

const claimOne = (device: Device): Json => {
  const [first] = device.oneTimeKeys;
  if (first !== undefined) {
    device.oneTimeKeys.delete(first[0]);
    return { [first[0]]: first[1] };
  }
  const [fallback] = device.fallbackKeys;
  if (fallback === undefined) return {};
  fallback[1].used = true;
  return { [fallback[0]]: fallback[1].key };
};

/** `/keys/claim`: gives each one-time key out once. */
export const claimKeys = (world: World, body: Json): Json => ({
  failures: {},
  one_time_keys: Object.fromEntries(
    Object.entries(record(body['one_time_keys']) ?? {}).map(([userId, devices]) => [
      userId,
      Object.fromEntries(
        Object.keys(record(devices) ?? {}).flatMap((id) => {
          const device = world.users.get(userId)?.devices.get(id);
          const claimed = device === undefined ? {} : claimOne(device);
          return Object.keys(claimed).length === 0 ? [] : [[id, claimed]];
        }),
      ),
    ]),
  ),
});

export const uploadSigningKeys = (world: World, user: User, body: Json): Json => {
  for (const name of ['master_key', 'self_signing_key', 'user_signing_key']) {
    const key = record(body[name]);
    if (key !== undefined) user.crossSigning.set(name, key);
  }
  user.keysChangedAt = advance(world);
  return {};
};

/** `/keys/signatures/upload`: signatures are added to what they sign, a device or a cross-signing key. */
export const uploadSignatures = (world: World, body: Json): Json => {
  for (const [userId, objects] of Object.entries(body)) {
    const user = world.users.get(userId);
    for (const [id, signed] of Object.entries(record(objects) ?? {})) {
      const signatures = record(record(signed)?.['signatures']);
      const device = user?.devices.get(id);
      if (device?.keys !== undefined) device.keys = withSignatures(device.keys, signatures);
      for (const [name, key] of user?.crossSigning ?? []) if (Object.values(record(key['keys']) ?? {}).includes(id)) user?.crossSigning.set(name, withSignatures(key, signatures));
    }
    if (user !== undefined) user.keysChangedAt = advance(world);
  }
  return { failures: {} };
};

/** `/sendToDevice`: puts messages into the queues of devices; `*` is all of a person's. */
export const sendToDevice = (world: World, sender: string, type: string, body: Json): Json => {
  for (const [userId, devices] of Object.entries(record(body['messages']) ?? {})) {
    for (const [deviceId, content] of Object.entries(record(devices) ?? {})) {
      const user = world.users.get(userId);
      const targets = deviceId === '*' ? [...(user?.devices.values() ?? [])] : [user?.devices.get(deviceId)].filter((device) => device !== undefined);
      for (const device of targets) device.toDevice.push({ at: world.position + 1, event: { type, sender, content: record(content) ?? {} } });
    }
  }
  advance(world);
  return {};
};
