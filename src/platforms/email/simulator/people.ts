import MailComposer from 'nodemailer/lib/mail-composer';
import type { SimulatedMessage } from '../../simulator.ts';

/** The name under which the simulated server writes what it has checked. */
export const authservId = 'mx.simulated.test';

export interface Written {
  readonly messageId: string;
  readonly raw: Buffer;
}

/** A mail as somebody's client writes it; `references` are the ids that it answers, oldest first. */
export const writeMail = async (message: SimulatedMessage, mail: { readonly messageId: string; readonly to: string; readonly from: string; readonly references: readonly string[]; readonly date: Date }): Promise<Written> => {
  const { media } = message;
  const answered = mail.references.at(-1);
  const composer = new MailComposer({
    from: { name: message.senderName ?? '', address: mail.from },
    to: mail.to,
    messageId: `<${mail.messageId}>`,
    date: mail.date,
    text: message.text,
    textEncoding: 'base64',
    ...(answered !== undefined && { inReplyTo: `<${answered}>`, references: mail.references.map((id) => `<${id}>`).join(' ') }),
    ...(media !== undefined && { attachments: [{ filename: media.name, content: Buffer.from(media.bytes), contentType: media.mime }] }),
  });
  return { messageId: mail.messageId, raw: await composer.compile().build() };
};

/** What the receiving server puts on top: how the mail came, and whether its sender is who they say. */
export const deliveredBy = (raw: Buffer, { from, genuine }: { readonly from: string; readonly genuine: boolean }): Buffer => {
  const domain = from.slice(from.lastIndexOf('@') + 1);
  const lines = [
    `Return-Path: <${from}>`,
    `Authentication-Results: ${authservId};`,
    genuine ? `\tdkim=pass header.d=${domain}; spf=pass smtp.mailfrom=${from}; dmarc=pass header.from=${domain}` : `\tdkim=none; spf=fail smtp.mailfrom=${from}; dmarc=fail header.from=${domain}`,
    `Received: from client.test by ${authservId} with ESMTPS; Sun, 15 Nov 2026 10:00:00 +0000`,
    // Whoever forges a mail also forges this.
    ...(genuine ? [] : [`Authentication-Results: ${authservId}; dmarc=pass header.from=${domain}`]),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n`), raw]);
};

/** What a mail server writes when it could not deliver a mail (RFC 3464). */
export const writeBounce = ({ messageId, to, recipient, action }: { readonly messageId: string; readonly to: string; readonly recipient: string; readonly action: string }): string =>
  [
    'Return-Path: <>',
    `From: Mail Delivery System <mailer-daemon@${authservId}>`,
    `To: ${to}`,
    `Message-ID: <report-of-${messageId}>`,
    'Auto-Submitted: auto-replied',
    'Subject: Undelivered Mail Returned to Sender',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="part"',
    '',
    '--part',
    'Content-Type: text/plain',
    '',
    'Your mail could not be delivered.',
    '--part',
    'Content-Type: message/delivery-status',
    '',
    `Reporting-MTA: dns; ${authservId}`,
    '',
    `Final-Recipient: rfc822; ${recipient}`,
    `Action: ${action}`,
    'Status: 5.1.1',
    'Diagnostic-Code: smtp; 550 5.1.1 no such user',
    '',
    '--part',
    'Content-Type: text/rfc822-headers',
    '',
    `Message-ID: <${messageId}>`,
    '',
    '--part--',
    '',
  ].join('\r\n');
