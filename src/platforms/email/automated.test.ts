import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { whyAutomated } from './automated.ts';

const own = ['hermes@gateway.test', 'agent@gateway.test'];
const judge = (headers: Readonly<Record<string, string>>, from = 'bob@example.org') => whyAutomated({ from, header: (name) => headers[name] }, own);

describe('automated mail', () => {
  it('is recognised by each of its signs', () => {
    const signs: readonly Readonly<Record<string, string>>[] = [
      { 'auto-submitted': 'auto-replied; owner-email="x"' },
      { 'auto-submitted': 'auto-generated' },
      { precedence: 'Bulk' },
      { precedence: 'auto_reply' },
      { 'list-id': '<l.example.org>' },
      { 'list-unsubscribe': '<x>' },
      { 'x-auto-response-suppress': 'OOF' },
      { 'x-autoreply': 'yes' },
      { 'x-hermes-gateway': '1' },
      { 'return-path': '<>' },
      { 'content-type': 'multipart/report; report-type=disposition-notification' },
    ];
    for (const headers of signs) assert.notEqual(judge(headers), undefined, JSON.stringify(headers));
  });

  it('is recognised by where it comes from, also from ourselves', () => {
    for (const from of ['mailer-daemon@x.org', 'no-reply@x.org', 'noreply+tag@x.org', 'donotreply@x.org', 'bounces-123@x.org', 'hermes@gateway.test', 'Hermes+work@gateway.test', 'agent@gateway.test']) assert.notEqual(judge({}, from), undefined, from);
  });

  it('is not seen where people write', () => {
    for (const from of ['bob@example.org', 'noreen@example.org', 'postma@example.org', 'bouncer@example.org']) assert.equal(judge({}, from), undefined, from);
    assert.equal(judge({ 'auto-submitted': 'no', precedence: 'first-class', 'x-auto-response-suppress': 'None', 'return-path': '<bob@example.org>', 'content-type': 'text/plain' }), undefined);
  });
});
