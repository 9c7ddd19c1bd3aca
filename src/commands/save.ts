import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { newId } from '../core/ids.ts';
import type { OutboundMedia } from '../core/message.ts';
import { exportSession } from '../sessions/export-session.ts';
import type { ExportFormat } from '../sessions/export-session.ts';
import { findSession } from '../store/sessions/sessions.ts';
import type { Session } from '../store/sessions/sessions.ts';
import type { AfterCommit, Command, CommandCall } from './contract.ts';

interface Kind {
  readonly format: ExportFormat;
  readonly extension: string;
  readonly mime: string;
}

const markdown: Kind = { format: 'markdown', extension: 'md', mime: 'text/markdown' };
const kinds: ReadonlyMap<string, Kind> = new Map([
  ['md', markdown],
  ['markdown', markdown],
  ['json', { format: 'json', extension: 'json', mime: 'application/json' }],
  ['jsonl', { format: 'jsonl', extension: 'jsonl', mime: 'application/jsonl' }],
]);

const usage = 'Usage: /save [md|json|jsonl] [name] [redact]';

interface Wanted {
  readonly kind: Kind;
  readonly name: string | undefined;
  readonly redact: boolean;
}

const read = (args: string): Wanted | undefined => {
  const words = args.split(/\s+/).filter((word) => word !== '');
  const redact = words.at(-1)?.toLowerCase() === 'redact';
  const [first, second, ...rest] = redact ? words.slice(0, -1) : words;
  const named = first === undefined ? undefined : kinds.get(first.toLowerCase());
  const name = named === undefined ? first : second;
  const surplus = rest.length > 0 || (named === undefined && second !== undefined);
  return surplus || (name !== undefined && !/^[\w.-]{1,80}$/.test(name)) ? undefined : { kind: named ?? markdown, name, redact };
};

/** The name people see; where the file lies is ours to choose. */
const fileName = (session: Session, { kind, name }: Wanted): string => {
  const chosen = name ?? session.title?.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 80) ?? session.id;
  return chosen.endsWith(`.${kind.extension}`) ? chosen : `${chosen}.${kind.extension}`;
};

const write = async (call: CommandCall, session: Session, wanted: Wanted, { store, clock, signal }: AfterCommit): Promise<string> => {
  const folder = join(call.reach.mediaFolder, 'exports');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${newId('file', clock.now())}.${wanted.kind.extension}`);
  const text = async function* (): AsyncGenerator<string> {
    for await (const piece of exportSession(store, session, wanted.kind.format)) yield wanted.redact ? call.reach.redact(piece) : piece;
  };
  try {
    await pipeline(Readable.from(text()), createWriteStream(`${path}.part`, { mode: 0o600 }), { signal });
    await rename(`${path}.part`, path);
  } catch (error) {
    await rm(`${path}.part`, { force: true });
    throw error;
  }
  return path;
};

export const save: Command = {
  name: 'save',
  aliases: [],
  category: 'Session',
  description: 'Get this conversation as a file',
  args: '[md|json|jsonl] [name] [redact]',
  whileRunning: 'allowed',
  async run(tx, call) {
    const wanted = read(call.args);
    if (wanted === undefined) return usage;
    const session = await findSession(tx, call.sessionId);
    if (session === undefined || session.messageCount === 0) return 'There is nothing to save yet.';
    call.after(async (after) => {
      const path = await write(call, session, wanted, after);
      const name = fileName(session, wanted);
      if (!call.reach.sendsFiles(call.event.account)) return `💾 Saved as \`${path}\`.`;
      const media: OutboundMedia = { kind: 'document', path, mime: wanted.kind.mime, name };
      return { text: `💾 ${name}`, media: [media] };
    });
    return '';
  },
};
