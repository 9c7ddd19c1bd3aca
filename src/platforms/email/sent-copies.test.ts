import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually, failure, never } from '../conformance-bench.ts';
import { messageTo, openMailbox } from './email.test-support.ts';
import { emailOptions, keepsCopies } from './options.ts';

const sentFolder = 'Gesendet';
const has = (lines: readonly string[], event: string): boolean => lines.some((line) => line.includes(event));

describe('a copy of what was sent', () => {
  it('is put into the folder that the server names for it, read, and as it was sent', async () => {
    await using box = await openMailbox({ provider: { sentFolder } });
    await box.adapter.send(messageTo('a', 'one'), never);
    await box.adapter.send(messageTo('b', 'two'), never);
    await eventually(() => box.provider.stored(sentFolder).length === 2, 'both copies');
    assert.deepEqual(box.provider.stored(sentFolder).map(({ raw }) => raw), box.provider.sent().map(({ raw }) => raw));
    assert.ok(box.provider.stored(sentFolder).every(({ flags }) => flags.has('\\Seen')));
  });

  it('is there once although the mail had to be repeated', async () => {
    await using box = await openMailbox({ provider: { sentFolder } });
    await box.adapter.send(messageTo('same', 'hello'), never);
    await eventually(() => box.provider.stored(sentFolder).length === 1, 'the copy');
    await box.adapter.send(messageTo('same', '♻️ hello'), never);
    await box.adapter.send(messageTo('other', 'bye'), never);
    await eventually(() => box.provider.stored(sentFolder).some(({ raw }) => raw.includes('bye')), 'the copy of the next mail');
    assert.deepEqual([box.provider.sent().length, box.provider.stored(sentFolder).length], [3, 2]);
  });

  it('that is refused fails nothing, and the log says which', async () => {
    await using box = await openMailbox({ provider: { sentFolder } });
    box.provider.fillUp();
    const { messageIds } = await box.adapter.send(messageTo('a', 'one'), never);
    await eventually(() => has(box.lines, 'email.copy_not_saved'), 'the log');
    assert.ok(box.lines.some((line) => line.includes('email.copy_not_saved') && line.includes(messageIds[0] ?? '-')));
    assert.equal(box.provider.sent().length, 1);
  });

  it('is not waited for: a mailbox that cannot be reached holds up no mail', async () => {
    await using box = await openMailbox({ provider: { sentFolder } });
    box.provider.freeze(true);
    await box.adapter.send(messageTo('a', 'one'), never);
    assert.equal(box.provider.sent().length, 1);
    box.provider.drop();
  });

  it('is not made of a mail that may not have gone out', async () => {
    await using box = await openMailbox({ provider: { sentFolder } });
    box.provider.fail({ what: 'send', fault: { type: 'drop_answer' } });
    await failure(box.adapter.send(messageTo('a', 'one'), never), 'unknown_outcome');
    await box.adapter.send(messageTo('b', 'two'), never);
    await eventually(() => box.provider.stored(sentFolder).length > 0, 'a copy');
    assert.match(box.provider.stored(sentFolder)[0]?.raw ?? '', /two/);
  });

  it('is not made of what is not to be kept', async () => {
    await using box = await openMailbox({ provider: { sentFolder } });
    await box.adapter.send(messageTo('a', 'your code is 1234', { secret: true }), never);
    await box.adapter.send(messageTo('b', 'welcome'), never);
    await eventually(() => box.provider.stored(sentFolder).length > 0, 'a copy');
    assert.match(box.provider.stored(sentFolder)[0]?.raw ?? '', /welcome/);
  });

  it('is not made where there is no folder for it, where the owner does not want it, and where the provider does it', async () => {
    await using box = await openMailbox();
    await box.adapter.send(messageTo('a', 'one'), never);
    await eventually(() => has(box.lines, 'email.no_sent_folder'), 'the log');
    const logins = box.provider.log.filter((command) => command === 'AUTHENTICATE').length;
    await box.adapter.send(messageTo('b', 'two'), never);
    assert.equal(box.provider.log.filter((command) => command === 'AUTHENTICATE').length, logins);
    const keeps = (options: object) => keepsCopies(emailOptions.parse({ address: 'a@b.org', password: 'p', ...options }));
    assert.deepEqual([{ provider: 'gmail' }, { provider: 'outlook' }, { provider: 'other', imap_host: 'x', smtp_host: 'smtp.gmail.com' }].map(keeps), [false, false, false]);
    assert.deepEqual([{ provider: 'fastmail' }, { provider: 'gmail', save_sent: true }, { provider: 'fastmail', save_sent: false }].map(keeps), [true, true, false]);
  });
});
