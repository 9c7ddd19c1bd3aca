import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { emailOptions, serversOf } from './options.ts';

const needed = { address: 'Agent@Example.org', password: 'p' };
const problems = (options: unknown): readonly string[] => (emailOptions.safeParse(options).error?.issues ?? []).map(({ path }) => path.join('.'));
const servers = (options: object) => serversOf(emailOptions.parse({ ...needed, ...options }));

describe('servers of a mailbox', () => {
  it('come from its provider, with the name it signs under', () => {
    assert.deepEqual(servers({ provider: 'gmail' }), {
      imap: { host: 'imap.gmail.com', port: 993, security: 'tls' },
      smtp: { host: 'smtp.gmail.com', port: 465, security: 'tls' },
      authservIds: ['mx.google.com'],
    });
    assert.deepEqual(servers({ provider: 'outlook' }).smtp, { host: 'smtp.office365.com', port: 587, security: 'starttls' });
  });

  it('or are named, and encrypted unless they are on this machine', () => {
    const named = servers({ imap_host: 'mail.example.org', smtp_host: 'mail.example.org' });
    assert.deepEqual([named.imap.security, named.smtp.security, named.smtp.port, named.authservIds], ['tls', 'starttls', 587, []]);
    assert.deepEqual(problems({ ...needed, imap_host: 'mail.example.org', smtp_host: 'mail.example.org', imap_security: 'none' }), ['imap_security']);
    assert.deepEqual(problems({ ...needed, imap_host: '127.0.0.1', smtp_host: 'localhost', imap_security: 'none', smtp_security: 'none' }), []);
    assert.deepEqual(problems({ ...needed, imap_host: 'a.example.org', smtp_host: 'b.example.org', imap_security: 'none', smtp_security: 'none', allow_plaintext: true }), []);
  });

  it('have to be known', () => {
    assert.deepEqual(problems(needed), ['provider']);
    assert.deepEqual(problems({ ...needed, provider: 'other' }), ['imap_host', 'smtp_host']);
    assert.deepEqual(problems({ ...needed, imap_host: 'mail.example.org' }), ['smtp_host']);
    assert.deepEqual(problems({ ...needed, address: 'nobody', provider: 'gmail' }), ['address']);
    assert.equal(emailOptions.parse({ ...needed, provider: 'gmail' }).address, 'agent@example.org');
  });
});
