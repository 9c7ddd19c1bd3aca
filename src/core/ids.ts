import { randomBytes } from 'node:crypto';

/** `telegram`, or `telegram@work` for a further account of the platform. */
export type AccountName = string;

export const platformOf = (account: AccountName): string => {
  const at = account.indexOf('@');
  return at === -1 ? account : account.slice(0, at);
};

export const accountName = (platform: string, name: string | undefined): AccountName =>
  name === undefined || name === 'default' ? platform : `${platform}@${name}`;

const pad = (value: number): string => String(value).padStart(2, '0');

/** `YYYYMMDD_HHMMSS_<8 hex>`, local time, as the original writes it. */
export const newSessionId = (now: Date): string => {
  const day = `${now.getFullYear()}${pad(now.getMonth() + 1)}${pad(now.getDate())}`;
  const time = `${pad(now.getHours())}${pad(now.getMinutes())}${pad(now.getSeconds())}`;
  return `${day}_${time}_${randomBytes(4).toString('hex')}`;
};

/** Ids of inbox items, turns and outbox rows: sortable by time within a process, safe in a URL. */
export const newId = (prefix: 'in' | 'turn' | 'node' | 'file' | 'err', nowMs: number): string =>
  `${prefix}_${nowMs.toString(36).padStart(9, '0')}${randomBytes(5).toString('hex')}`;
