import { randomBytes } from 'node:crypto';
import { systemClock } from '../../lib/clock.ts';
import type { Adapter, AdapterContext, Platform } from '../contract.ts';
import { journalEdits, liveChoices, liveTyping, sendToJournal } from '../journal-sending.ts';
import { newLive } from '../live.ts';
import { openFiles } from './files.ts';
import { openWebJournal } from './journal.ts';
import { newMenu } from './menu.ts';
import { webOptions } from './options.ts';
import type { WebOptions } from './options.ts';
import { webRoutes } from './routes.ts';
import type { Running } from './routes.ts';
import { newMedia, newNames, newReactions, webChats } from './send.ts';
import { openWebSimulator } from './simulator.ts';
import { maxTextLength } from './wire.ts';

const aliveEveryMs = 15_000;

const open = async (context: AdapterContext<WebOptions>): Promise<Adapter> => {
  const clock = systemClock;
  const { account, data, log, options } = context;
  const journal = openWebJournal(data, clock.now);
  const live = newLive(clock.now);
  const files = await openFiles(context.mediaFolder, clock.now);
  const chats = webChats(journal, live, files);
  let running: Running | undefined;
  return {
    identify: async () => ({ id: account, name: options.title }),
    async run(inbox, _identity, signal) {
      running = { inbox, signal };
      try {
        for (;;) {
          inbox.alive();
          await clock.sleep(aliveEveryMs, signal);
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        running = undefined;
      }
    },
    send: (message, signal) => sendToJournal(chats, message, signal),
    repeatsAreSafe: true,
    edits: journalEdits(chats),
    typing: liveTyping(chats),
    reactions: newReactions(journal),
    choices: liveChoices(live),
    media: newMedia(files),
    names: newNames(journal),
    menu: newMenu(data),
    webhook: { guard: 'login', routes: webRoutes({ account, title: options.title, data, journal, live, files, clock, log }, () => running) },
  };
};

const noNetwork = 'Between the gateway and the journal that the page reads there is no network.';

/** The page's chat. Whoever is logged in to the page is the owner. */
export const web: Platform<WebOptions> = {
  name: 'web',
  label: 'Web page',
  options: webOptions,
  limits: { text: maxTextLength, measure: (markdown) => markdown.length, editIntervalMs: 60 },
  newChatId: () => randomBytes(6).toString('hex'),
  display: { tier: 'high' },
  hints: 'The person reads in a web page that renders markdown: headings, lists, tables, links and fenced code with a language all look right. Images and files are shown inline.',
  asyncDelivery: true,
  authenticatesSenders: true,
  surface: 'page',
  alwaysOn: true,
  credential: () => undefined,
  open,
  simulate: openWebSimulator,
  exceptions: {
    'a refused credential is called one': 'The page has the login of the gateway and no credential of its own.',
    'a file above the limit is named, and nothing is shown': 'The file is on this machine already; only what people bring is limited.',
    'a lost connection ends receiving with an error, and the next one goes on': noNetwork,
    'garbage from the platform does not pass for success': noNetwork,
    'a send that hangs ends with its caller': noNetwork,
    'a rate limit carries its delay, and nothing is tried again': noNetwork,
    'a platform that cannot be reached is unavailable': noNetwork,
    'a connection that breaks during a send is no success, and the next send works': noNetwork,
    'a lost answer is an unknown outcome': noNetwork,
    'its own messages do not come back': 'Only people can speak through the page.',
  },
};
