export interface StoredMail {
  readonly uid: number;
  readonly raw: Buffer;
  readonly arrivedAt: Date;
  readonly flags: Set<string>;
}

/** A folder as the server keeps it. */
export interface SimulatedFolder {
  readonly name: string;
  uidValidity: number;
  uidNext: number;
  mails: StoredMail[];
}

/** All folders of one mailbox, and whoever wants to know about new mail. */
export interface Mailboxes {
  get(name: string): SimulatedFolder | undefined;
  readonly names: readonly string[];
  append(name: string, mail: { readonly raw: Buffer; readonly arrivedAt?: Date | undefined; readonly flags?: readonly string[] | undefined }): void;
  /** The folder is rebuilt: the same mails under new numbers. */
  renumber(name: string): void;
  onChange(listener: (folder: SimulatedFolder) => void): Disposable;
}

export const newMailboxes = (names: readonly string[], now: () => number): Mailboxes => {
  const folders = new Map<string, SimulatedFolder>(names.map((name, i) => [name, { name, uidValidity: 1000 + i, uidNext: 1, mails: [] }]));
  const listeners = new Set<(folder: SimulatedFolder) => void>();
  const find = (name: string): SimulatedFolder | undefined => folders.get(name.toUpperCase() === 'INBOX' ? 'INBOX' : name);
  const require = (name: string): SimulatedFolder => {
    const folder = find(name);
    if (folder === undefined) throw new Error(`there is no folder ${name}`);
    return folder;
  };
  return {
    get: find,
    names,
    append(name, { raw, arrivedAt = new Date(now()), flags }) {
      const folder = require(name);
      folder.mails.push({ uid: folder.uidNext, raw, arrivedAt, flags: new Set(flags) });
      folder.uidNext += 1;
      for (const listener of listeners) listener(folder);
    },
    renumber(name) {
      const folder = require(name);
      folder.uidValidity += 100;
      folder.mails = folder.mails.map((mail, i) => ({ ...mail, uid: i + 1 }));
      folder.uidNext = folder.mails.length + 1;
    },
    onChange(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
};
