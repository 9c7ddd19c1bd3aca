import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { systemClock } from '../../lib/clock.ts';
import type { Adapter, AdapterContext, Platform } from '../contract.ts';
import { journalEdits, liveChoices, liveTyping, sendToJournal } from '../journal-sending.ts';
import type { OwnChats } from '../journal-sending.ts';
import { openJournal } from '../journal.ts';
import { newLive } from '../live.ts';
import { newDoing } from './doing.ts';
import { localMedia } from './media.ts';
import { localOptions } from './options.ts';
import type { LocalOptions } from './options.ts';
import { serveTerminals } from './receive.ts';
import { openSeen } from './seen.ts';
import { openLocalSimulator } from './simulator.ts';
import { socketPlace } from './socket-place.ts';
import { chatId, maxTextLength } from './wire.ts';
import type { LocalEntry, LocalFile } from './wire.ts';

const open = async ({ account, options, data, home, log }: AdapterContext<LocalOptions>): Promise<Adapter> => {
  const clock = systemClock;
  const journal = openJournal<LocalEntry>(data);
  const live = newLive(clock.now);
  const doing = newDoing();
  const seen = openSeen(data, journal);
  const place = socketPlace({ home, account, socket: options.socket, platform: process.platform, temporary: tmpdir(), userId: process.getuid?.() ?? 0 });
  const chats: OwnChats<LocalFile> = { journal, live, chatId, maxText: maxTextLength, files: async (message) => (message.media ?? []).map(({ name, path, kind, mime }) => ({ name, path, kind, mime })) };
  return {
    identify: async () => ({ id: account, name: 'Terminal' }),
    run: (inbox, _identity, signal) => serveTerminals({ account, data, journal, seen, live, doing, clock, log }, place, { inbox, signal }),
    send: (message, signal) => sendToJournal(chats, message, signal),
    repeatsAreSafe: true,
    edits: journalEdits(chats),
    typing: liveTyping(chats),
    choices: liveChoices(live),
    media: localMedia,
    activity: { show: async (target, activity) => doing.note(target.chatId, activity) },
  };
};

const noNetwork = 'Between the gateway and the journal that terminals read there is no network; a terminal that goes away ends nothing.';

/** The terminal. Whoever can open the socket is the user who runs the gateway, and so its owner. */
export const local: Platform<LocalOptions> = {
  name: 'local',
  label: 'Terminal',
  options: localOptions,
  limits: { text: maxTextLength, measure: (markdown) => markdown.length, editIntervalMs: 50 },
  newChatId: () => randomBytes(6).toString('hex'),
  display: { tier: 'high' },
  hints: 'The person reads in a terminal that renders markdown as text: headings, lists, quotes, code blocks and small tables look right, images do not. Lines wrap at the window, often at 80 columns; prefer short paragraphs and narrow tables.',
  asyncDelivery: true,
  authenticatesSenders: true,
  surface: 'terminal',
  alwaysOn: true,
  credential: () => undefined,
  open,
  simulate: openLocalSimulator,
  exceptions: {
    'a refused credential is called one': 'The socket belongs to the user who runs the gateway; there is no credential beside that.',
    'a file above the limit is named, and nothing is shown': 'The file is on this machine already; only what people bring is limited.',
    'a lost connection ends receiving with an error, and the next one goes on': noNetwork,
    'garbage from the platform does not pass for success': noNetwork,
    'a send that hangs ends with its caller': noNetwork,
    'a rate limit carries its delay, and nothing is tried again': noNetwork,
    'a platform that cannot be reached is unavailable': noNetwork,
    'a connection that breaks during a send is no success, and the next send works': noNetwork,
    'a lost answer is an unknown outcome': noNetwork,
    'its own messages do not come back': 'Only people can speak through a terminal.',
    'a person may answer one of our messages': 'In a terminal one cannot point at an earlier message.',
  },
};
