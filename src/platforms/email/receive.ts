import { slept } from '../../lib/clock.ts';
import type { Folder, ImapLink } from './imap.ts';
import { cursorName, isOldNews, readPlace, rereadMs, writePlace } from './place.ts';
import type { Place } from './place.ts';
import { takeMail } from './take-mail.ts';
import type { Receiving } from './take-mail.ts';

export interface FolderReceiving extends Receiving {
  readonly folder: string;
  /** Where the folder ended when the account was checked; what came later is new. */
  readonly baseline: Folder | undefined;
  readonly pollMs: number;
  readonly checkMs: number;
  dial(signal: AbortSignal): Promise<ImapLink>;
}

const advance = async ({ inbox, folder }: FolderReceiving, place: Place): Promise<Place> => {
  await inbox.cursor.write(cursorName(folder), writePlace(place));
  inbox.alive();
  return place;
};

/** Where to go on. A mailbox that is seen for the first time is read from now on: nobody wants answers to what lies there already. */
const findPlace = async (receiving: FolderReceiving, opened: Folder): Promise<Place> => {
  const known = readPlace(await receiving.inbox.cursor.read(cursorName(receiving.folder)));
  if (known !== undefined) return known;
  const { baseline, clock } = receiving;
  const from = baseline?.uidValidity === opened.uidValidity ? baseline : opened;
  return advance(receiving, { uidValidity: from.uidValidity, uid: from.uidNext - 1, atMs: clock.now(), sinceMs: clock.now() });
};

interface Reading {
  readonly link: ImapLink;
  readonly place: Place;
  readonly signal: AbortSignal;
}

/** Stores what has come since, one by one; the position is written behind each. */
const takeNew = async (receiving: FolderReceiving, { link, place, signal }: Reading): Promise<Place> => {
  // `n:*` always names the last mail, also when its number is smaller than n.
  const uids = (await link.search({ uid: `${place.uid + 1}:*` })).filter((uid) => uid > place.uid);
  let at = place;
  for (const uid of uids) {
    await takeMail(receiving, link, { folder: receiving.folder, uidValidity: place.uidValidity, uid }, { wanted: () => true, signal });
    at = await advance(receiving, { ...place, uid, atMs: receiving.clock.now() });
  }
  return at;
};

/** The numbers that we know mean nothing any more: the last days are read again, and the inbox recognises what it has by Message-ID. */
const rereadFolder = async (receiving: FolderReceiving, opened: Folder, { link, place, signal }: Reading): Promise<Place> => {
  const { log, folder } = receiving;
  log.info({ folder, before: place.uidValidity, now: opened.uidValidity }, 'email.folder_renumbered');
  const uids = await link.search({ since: new Date(place.atMs - rereadMs) });
  for (const uid of uids) await takeMail(receiving, link, { folder, uidValidity: opened.uidValidity, uid }, { wanted: ({ dateMs }) => !isOldNews(dateMs, place), signal });
  return advance(receiving, { ...place, uidValidity: opened.uidValidity, uid: Math.max(opened.uidNext - 1, uids.at(-1) ?? 0), atMs: receiving.clock.now() });
};

type Woken = 'told' | 'looked';

/** Waits until the server tells of mail, or until it is time to look anyway. */
const waitForMail = async (link: ImapLink, wait: { readonly idle: boolean; readonly ms: number; readonly told: Promise<void>; readonly receiving: FolderReceiving; readonly signal: AbortSignal }): Promise<Woken> => {
  const done = new AbortController();
  const { clock, pollMs } = wait.receiving;
  const timer = slept(clock, wait.ms, AbortSignal.any([done.signal, wait.signal])).then((): Woken => 'looked');
  const told = wait.told.then((): Woken => 'told');
  try {
    // A server that ends IDLE by itself, or refuses it, is asked again like one that does not have it.
    const idling = wait.idle ? [link.idle().then(() => slept(clock, pollMs, done.signal)).then((): Woken => 'looked')] : [];
    return await Promise.race([timer, told, link.lost, ...idling]);
  } finally {
    done.abort();
  }
};

/** A bell that rings once, however often it is pulled, until it is wound up again. */
const newBell = () => {
  let bell = Promise.withResolvers<void>();
  return { ring: () => bell.resolve(), rung: () => bell.promise, windUp: () => void (bell = Promise.withResolvers<void>()) };
};

const watch = async (receiving: FolderReceiving, link: ImapLink, signal: AbortSignal): Promise<void> => {
  const { inbox, log, folder, pollMs, checkMs } = receiving;
  const bell = newBell();
  link.onMail(bell.ring);
  const opened = await link.open(folder);
  let place = await findPlace(receiving, opened);
  if (place.uidValidity !== opened.uidValidity) place = await rereadFolder(receiving, opened, { link, place, signal });
  let idle = link.canIdle;
  for (let woken: Woken = 'told'; !signal.aborted; ) {
    bell.windUp();
    // The search alone might be answered from what the server believes we know already.
    if (woken === 'looked') await link.noop();
    const before = place.uid;
    place = await takeNew(receiving, { link, place, signal });
    inbox.alive();
    if (idle && woken === 'looked' && place.uid > before) {
      idle = false;
      log.warn({ folder, poll_ms: pollMs }, 'email.idle_is_deaf');
    }
    woken = await waitForMail(link, { idle, ms: idle ? checkMs : pollMs, told: bell.rung(), receiving, signal });
  }
};

/** Reads one folder until aborted. A mail counts as read only when it is stored. */
export const receiveFolder = async (receiving: FolderReceiving, signal: AbortSignal): Promise<void> => {
  try {
    using link = await receiving.dial(signal);
    await watch(receiving, link, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
};
