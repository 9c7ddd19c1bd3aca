import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import { eventually } from '../conformance-bench.ts';
import { startEmailSimulator } from './simulator.ts';
import type { EmailSimulator } from './simulator.ts';

const serverOf = (provider: EmailSimulator, kind: 'imap' | 'smtp') => ({
  host: '127.0.0.1',
  port: Number(provider.options[`${kind}_port`]),
  secure: false,
  auth: { user: provider.address, pass: String(provider.options['password']) },
});

/** Speaks the protocol by hand; answers everything up to the line that begins with the last tag. */
const speakImap = async (provider: EmailSimulator, ...lines: readonly string[]): Promise<string> => {
  const socket = connect(serverOf(provider, 'imap').port, '127.0.0.1');
  let heard = '';
  socket.setEncoding('utf8').on('data', (text: string) => (heard += text));
  for (const [i, line] of lines.entries()) {
    await eventually(() => /(?:^|\n)(?:\* OK|\+ |a\d+ )[^\n]*\n$/.test(heard) && heard.split(/\n(?=a\d+ |\+ )/).length >= i + 1, `line ${i} is due`);
    socket.write(`${line}\r\n`);
  }
  await eventually(() => new RegExp(`^a${lines.length} `, 'm').test(heard) || socket.destroyed, 'the last answer');
  socket.destroy();
  return heard;
};

describe('the simulated provider', () => {
  it('makes imapflow content: login, folders, search, fetch, flags, idle, logout', async () => {
    await using provider = await startEmailSimulator({ folders: ['INBOX', 'Lists/A "b"'] });
    provider.deliver('From: a@b.c\r\nSubject: one\r\n\r\nhello');
    const client = new ImapFlow({ ...serverOf(provider, 'imap'), logger: false, maxIdleTime: 60_000 });
    await client.connect();
    assert.deepEqual((await client.list()).map(({ path }) => path), ['INBOX', 'Lists/A "b"']);
    const lock = await client.getMailboxLock('INBOX');
    assert.deepEqual(client.mailbox && [client.mailbox.exists, client.mailbox.uidNext], [1, 2]);
    const mail = await client.fetchOne('1', { uid: true, flags: true, size: true, internalDate: true, source: true }, { uid: true });
    assert.ok(mail !== undefined && mail !== false);
    assert.deepEqual([mail.uid, mail.seq, mail.size, mail.source?.toString(), mail.flags?.size], [1, 1, 34, 'From: a@b.c\r\nSubject: one\r\n\r\nhello', 0]);
    assert.ok(await client.messageFlagsAdd('1', ['\\Seen'], { uid: true }));
    assert.equal(provider.acknowledged(), 1);
    const told = once(client, 'exists');
    void client.idle();
    await eventually(() => provider.isIdling(), 'it listens');
    provider.deliver('From: a@b.c\r\n\r\ntwo');
    assert.equal((await told)[0].count, 2);
    lock.release();
    await client.logout();
  });

  it('makes nodemailer content, and refuses a wrong password', async () => {
    await using provider = await startEmailSimulator();
    const transport = createTransport(serverOf(provider, 'smtp'));
    await transport.verify();
    await transport.sendMail({ from: provider.address, to: 'bob@example.org', subject: 'hi', text: 'hello', html: '<p>hello <b>you</b></p>' });
    await eventually(() => provider.visible('bob@example.org')[0]?.text === 'hello you', 'the mail is shown');
    const wrong = createTransport({ ...serverOf(provider, 'smtp'), auth: { user: provider.address, pass: 'wrong' } });
    await assert.rejects(wrong.verify(), { code: 'EAUTH' });
  });

  it('keeps to the protocol: nothing without a login, literals, unknown commands', async () => {
    await using provider = await startEmailSimulator();
    const { address } = provider;
    assert.match(await speakImap(provider, 'a1 SELECT INBOX'), /^a1 BAD/m);
    assert.match(await speakImap(provider, `a1 LOGIN ${address} wrong`), /^a1 NO \[AUTHENTICATIONFAILED\]/m);
    const password = String(provider.options['password']);
    const heard = await speakImap(provider, `a1 LOGIN {${address.length}+}\r\n${address} "${password}"`, 'a2 SELECT nowhere', 'a3 EXPLODE', 'a4 UID FETCH 1 (ENVELOPE)', 'a5 LOGOUT');
    assert.match(heard, /^a1 OK/m);
    assert.match(heard, /^a2 NO \[NONEXISTENT\]/m);
    assert.match(heard, /^a3 BAD/m);
    assert.match(heard, /^a4 BAD/m);
    assert.match(heard, /^\* BYE[^\n]*\na5 OK/m);
  });
});
