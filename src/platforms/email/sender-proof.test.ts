import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { proveSender } from './sender-proof.ts';

const results = (value: string) => ({ key: 'authentication-results', value });
const received = { key: 'received', value: 'from somewhere by mx.me' };

const prove = (headers: Parameters<typeof proveSender>[0]['headers'], trusted: readonly string[] = ['mx.me'], from = 'a@example.org') => proveSender({ headers, from }, trusted);

describe('proof of the sender', () => {
  it('believes the topmost header of a trusted server, wherever hops have put it', () => {
    assert.deepEqual(prove([received, { key: 'delivered-to', value: 'x' }, results('mx.me; dmarc=pass header.from=example.org'), received]), { verified: true, by: 'dmarc at mx.me' });
  });

  it('does not read what a sender has written below', () => {
    const proof = prove([results('mx.me; dkim=none; spf=none'), received, results('mx.me; dmarc=pass header.from=example.org')]);
    assert.equal(proof.verified, false);
  });

  it('skips headers of other servers, and names them when there is no other', () => {
    assert.equal(prove([results('evil; dmarc=pass'), results('mx.me; dmarc=fail')]).verified, false);
    assert.deepEqual(prove([results('evil; dmarc=pass')]), { verified: false, why: 'no Authentication-Results of a trusted server, only of evil' });
  });

  it('without trusted names believes only a header above every hop', () => {
    assert.equal(prove([results('mx.me; dmarc=pass'), received], []).verified, true);
    const proof = prove([received, results('mx.me; dmarc=pass')], []);
    assert.ok(!proof.verified && /authserv_ids/.test(proof.why), JSON.stringify(proof));
  });

  it('takes a name with a star for every host below, and not for others', () => {
    assert.equal(prove([results('phl-mx-01.messagingengine.com; dmarc=pass')], ['*.messagingengine.com']).verified, true);
    assert.equal(prove([results('evilmessagingengine.com; dmarc=pass')], ['*.messagingengine.com']).verified, false);
  });

  it('reads the headers of Microsoft, which have no name', () => {
    const value = 'spf=pass (sender IP is 1.2.3.4) smtp.mailfrom=example.org; dkim=pass (signature was verified) header.d=example.org;dmarc=pass action=none header.from=example.org;compauth=pass reason=100';
    assert.deepEqual(prove([results(value)], ['nameless']), { verified: true, by: 'dmarc at nameless' });
  });

  it('is not taken in by comments, however nested', () => {
    assert.equal(prove([results('mx.me; dmarc=none (so (they; dkim=pass header.d=example.org ) say; dmarc=pass header.from=example.org )')]).verified, false);
  });

  it('wants what passed to speak for the author', () => {
    assert.equal(prove([results('mx.me; dmarc=pass header.from=other.org')]).verified, false);
    assert.equal(prove([results('mx.me; spf=pass smtp.mailfrom=bounce@other.org')]).verified, false);
    assert.equal(prove([results('mx.me; spf=pass smtp.mailfrom=bounce@example.org')]).verified, true);
    assert.equal(prove([results('mx.me; dkim=pass header.i=@example.org')]).verified, true);
  });

  it('believes the login of somebody on the same server, for their own address only', () => {
    assert.deepEqual(prove([results('mx.me; auth=pass smtp.auth=a@example.org')]), { verified: true, by: 'auth at mx.me' });
    assert.equal(prove([results('mx.me; auth=pass smtp.auth=b@example.org')]).verified, false);
    assert.equal(prove([results('mx.me; auth=fail smtp.auth=a@example.org')]).verified, false);
  });

  it('lets a domain speak for what lies below it, and never the other way round', () => {
    assert.equal(prove([results('mx.me; dkim=pass header.d=example.org')], ['mx.me'], 'a@mail.example.org').verified, true);
    assert.equal(prove([results('mx.me; dkim=pass header.d=evil.example.org')]).verified, false);
    assert.equal(prove([results('mx.me; dkim=pass header.d=org')]).verified, false);
  });

  it('does not let a signature overrule a failed dmarc', () => {
    assert.deepEqual(prove([results('mx.me; dkim=pass header.d=example.org; dmarc=fail')]), { verified: false, why: 'dmarc=fail at mx.me' });
  });
});
