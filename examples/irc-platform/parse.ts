import type { InboundEvent } from 'hermes-gateway/platform';
import { fold, isChannel, nickOf } from './wire.ts';
import type { Line } from './wire.ts';

export interface Reader {
  readonly account: string;
  readonly nick: string;
  readonly trustNicks: boolean;
  readonly nowMs: number;
  /** For a server that gives its messages no ids. */
  readonly newId: () => string;
  isOwnMessage(id: string): boolean;
}

const [ctcp, colour, hexColour] = ['\u0001', '\u0003', '\u0004'];

/** Clients send emphasis and colours as control characters. */
const codes = new RegExp(`${colour}(?:\\d{1,2}(?:,\\d{1,2})?)?|${hexColour}(?:[0-9A-Fa-f]{6})?|[\\p{Cc}--\\n]`, 'gv');

/** `hermes: hello`, `hermes, hello` and `@hermes hello` are for us. */
const withoutMention = (text: string, nick: string): string | undefined => {
  const name = nick.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return new RegExp(`^(?:@${name}\\b[:,]?|${name}[:,])\\s*(.*)$`, 'is').exec(text)?.[1];
};

/** Only an account at the network's services is proof of who speaks; without one it is where they speak from. */
const senderId = (line: Line, trustNicks: boolean): string => (trustNicks ? fold(nickOf(line.source)) : (line.tags.get('account') ?? line.source));

const actionMark = `${ctcp}ACTION `;

/** `/me waves` */
const actionOf = (said: string): string | undefined => (said.startsWith(actionMark) ? said.slice(actionMark.length).replaceAll(ctcp, '') : undefined);

/** What somebody says; undefined for everything else. */
export const parseLine = (line: Line, reader: Reader): InboundEvent | undefined => {
  const [to, said] = line.params;
  const from = nickOf(line.source);
  if (line.command !== 'PRIVMSG' || to === undefined || said === undefined || !line.source.includes('!') || fold(from) === fold(reader.nick)) return undefined;
  const acted = actionOf(said);
  if (acted === undefined && said.startsWith(ctcp)) return undefined;
  const text = (acted === undefined ? said : `* ${from} ${acted}`).replaceAll(codes, '').toWellFormed();
  const inChannel = isChannel(to);
  const asked = withoutMention(text, reader.nick);
  const nativeId = line.tags.get('msgid') ?? reader.newId();
  const replyTo = line.tags.get('+draft/reply') ?? line.tags.get('+reply');
  const sentAtMs = Date.parse(line.tags.get('time') ?? '');
  return {
    account: reader.account,
    kind: 'message',
    nativeId,
    chat: inChannel ? { id: fold(to), type: 'group', name: to } : { id: fold(from), type: 'dm', name: from },
    sender: { id: senderId(line, reader.trustNicks), name: from, isBot: line.tags.has('bot') },
    text: asked ?? text,
    media: [],
    messageId: nativeId,
    ...(replyTo !== undefined && { replyTo: { messageId: replyTo, isOwn: reader.isOwnMessage(replyTo) } }),
    addressed: !inChannel || asked !== undefined || (replyTo !== undefined && reader.isOwnMessage(replyTo)),
    mentioned: asked !== undefined,
    sentAtMs: Number.isNaN(sentAtMs) ? reader.nowMs : sentAtMs,
  };
};
