import { parseHTML } from 'linkedom';
import PostalMime from 'postal-mime';
import type { Attachment } from 'postal-mime';
import type { MediaKind } from '../../../core/message.ts';
import type { VisibleMessage } from '../../simulator.ts';

const blocks = new Set(['P', 'DIV', 'LI', 'TR', 'PRE', 'BLOCKQUOTE', 'UL', 'OL', 'TABLE', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6', 'HR']);

/** What a client shows of HTML: words, and lines where there are lines. */
const shownText = (node: Node): string => {
  if (node.nodeType === 3) return node.textContent ?? '';
  const inner = [...node.childNodes].map(shownText).join('');
  if (node.nodeName === 'BR') return '\n';
  return blocks.has(node.nodeName) ? `\n${inner}\n` : inner;
};

/** The parser makes no body of its own for a piece of HTML. */
const bodyOf = (html: string): Node => parseHTML(/<body[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`).document.body;

const kindOf = (mime: string): MediaKind => {
  if (mime.startsWith('image/')) return 'photo';
  if (mime.startsWith('audio/')) return 'audio';
  return mime.startsWith('video/') ? 'video' : 'document';
};

const mediaOf = ({ mimeType, filename, content }: Attachment): VisibleMessage['media'][number] => ({ kind: kindOf(mimeType), name: filename ?? '', bytes: typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content as ArrayBuffer) });

const bare = (id: string | undefined): string | undefined => id?.replaceAll(/[<>\s]/g, '');

/** Reads a mail as the client of whoever gets it does. */
export const showMail = async (raw: Buffer, chatId: string): Promise<VisibleMessage> => {
  const mail = await PostalMime.parse(raw);
  const id = bare(mail.messageId) ?? '';
  const text = mail.html === undefined ? (mail.text ?? '') : shownText(bodyOf(mail.html));
  const threadId = /^hermes-[0-9a-f]+\.([\w-]+)@/.exec(id)?.[1];
  const replyTo = bare(mail.inReplyTo);
  return {
    id,
    chatId,
    ...(threadId !== undefined && { threadId }),
    ...(replyTo !== undefined && { replyTo }),
    text: text.replaceAll(/\n{3,}/g, '\n\n').trim(),
    media: mail.attachments.map(mediaOf),
    choices: [],
    reactions: [],
    edited: 0,
  };
};
