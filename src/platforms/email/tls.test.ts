import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { eventWith, failure, never } from '../conformance-bench.ts';
import { messageTo, openMailbox } from './email.test-support.ts';

describe('encryption', () => {
  let folder = '';
  let pair: { readonly key: string; readonly cert: string } | undefined;
  const certFile = (): string => join(folder, 'cert.pem');

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hermes-email-tls-'));
    const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost', '-keyout', join(folder, 'key.pem'), '-out', certFile()];
    const isMade = await promisify(execFile)('openssl', args).then(
      () => true,
      () => false,
    );
    if (isMade) pair = { key: await readFile(join(folder, 'key.pem'), 'utf8'), cert: await readFile(certFile(), 'utf8') };
  });
  after(() => rm(folder, { recursive: true }));

  it('is begun by STARTTLS with a certificate that the owner vouches for', async (t) => {
    if (pair === undefined) return t.skip('there is no openssl to make a certificate with');
    await using box = await openMailbox({ provider: { tls: pair }, options: { tls_ca_file: certFile() } });
    const { inbox } = await box.receive();
    await box.say('in secret');
    await eventWith(inbox, 'in secret');
    await box.adapter.send(messageTo('k', 'in secret, too'), never);
    assert.equal(box.provider.sent().length, 1);
    return undefined;
  });

  it('with a certificate that nobody vouches for ends before the password is said', async (t) => {
    if (pair === undefined) return t.skip('there is no openssl to make a certificate with');
    await using box = await openMailbox({ provider: { tls: pair } });
    await failure(box.adapter.identify(never), 'unavailable');
    await failure(box.adapter.send(messageTo('k', 'x'), never), 'unavailable');
    assert.ok(!box.provider.log.some((name) => name === 'LOGIN' || name === 'AUTHENTICATE'));
    return undefined;
  });

  it('that a server does not offer is not done without', async () => {
    await using box = await openMailbox({ options: { imap_security: 'starttls', smtp_security: 'starttls' } });
    await failure(box.adapter.identify(never), 'unavailable');
    await failure(box.adapter.send(messageTo('k', 'x'), never), 'unavailable');
    assert.ok(!box.provider.log.some((name) => name === 'LOGIN' || name === 'AUTHENTICATE'));
    assert.equal(box.provider.sent().length, 0);
  });
});
