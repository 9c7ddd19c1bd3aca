import type { Logger } from '../../lib/logger.ts';
import type { ImapLink } from './imap.ts';

interface Copy {
  readonly messageId: string;
  readonly raw: Buffer;
}

/** Copies of what was sent, in the folder where people look for it. */
export interface SentCopies {
  /** Nobody waits for it and nothing depends on it: the mail is out. What cannot be kept is in the log. */
  save(copy: Copy): void;
}

/** Mails that wait for their copy are held in memory. */
const mostWaitingBytes = 64_000_000;
const patienceMs = 600_000;

/** What SMTP mends on its way has to be right for IMAP: some servers refuse a mail with bare line feeds. */
const withNetworkLines = (raw: Buffer): Buffer => Buffer.from(raw.toString('latin1').replaceAll(/\r?\n/g, '\r\n'), 'latin1');

export const newSentCopies = ({ dial, log }: { dial(signal: AbortSignal): Promise<ImapLink>; readonly log: Logger }): SentCopies => {
  const waiting: Copy[] = [];
  let isBusy = false;
  let isPossible = true;

  const saveAll = async (): Promise<void> => {
    using link = await dial(AbortSignal.timeout(patienceMs));
    const folder = await link.sentFolder();
    if (folder === undefined) {
      isPossible = false;
      waiting.length = 0;
      return log.info('email.no_sent_folder');
    }
    await link.open(folder);
    for (let copy = waiting[0]; copy !== undefined; copy = waiting[0]) {
      // A repeat is the same mail, and some servers keep copies by themselves.
      if ((await link.search({ header: { 'message-id': `<${copy.messageId}>` } })).length === 0) await link.append(folder, withNetworkLines(copy.raw));
      waiting.shift();
    }
    return undefined;
  };

  const work = async (): Promise<void> => {
    isBusy = true;
    try {
      while (waiting.length > 0) await saveAll();
    } catch (error) {
      log.warn({ message_ids: waiting.map(({ messageId }) => messageId), err: error }, 'email.copy_not_saved');
    } finally {
      waiting.length = 0;
      isBusy = false;
    }
  };

  return {
    save(copy) {
      if (!isPossible) return;
      if (waiting.reduce((sum, { raw }) => sum + raw.byteLength, copy.raw.byteLength) > mostWaitingBytes) {
        log.warn({ message_ids: [copy.messageId], reason: 'too many wait already' }, 'email.copy_not_saved');
        return;
      }
      waiting.push(copy);
      if (!isBusy) void work();
    },
  };
};
