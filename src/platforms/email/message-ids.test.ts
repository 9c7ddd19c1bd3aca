import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ownMessageId, readIds, readOwnId, threadIdOf, threadOf } from './message-ids.ts';

const domain = 'gateway.test';
const own = (threadId?: string, key = 'k') => ownMessageId({ key, to: 'bob@example.org', threadId }, domain);
const lineage = (references: readonly string[], messageId = 'new@example.org', inReplyTo: readonly string[] = references.slice(-1)) => ({ messageId, references, inReplyTo });

describe('message ids', () => {
  it('are read with and without brackets, folded or not', () => {
    assert.deepEqual(readIds('<a@x>\r\n <b@x>,< c@x >'), ['a@x', 'b@x', 'c@x']);
    assert.deepEqual(readIds('a@x nonsense'), ['a@x']);
    assert.deepEqual(readIds(undefined), []);
  });

  it('are the same for the same message and tell ours from others', () => {
    assert.equal(own('t1'), own('t1'));
    assert.notEqual(own('t1'), own('t1', 'other'));
    assert.deepEqual(readOwnId(own('t1'), domain), { threadId: 't1' });
    assert.deepEqual(readOwnId(own(), domain), {});
    assert.equal(readOwnId(own('t1'), 'elsewhere.test'), undefined);
    assert.equal(readOwnId('hermes-1@gateway.test', domain), undefined);
  });
});

describe('threads', () => {
  it('begin with a mail that answers nothing, and go on with every answer in them', () => {
    const first = threadOf(lineage([], 'root@example.org'), domain);
    assert.equal(first, threadIdOf('root@example.org'));
    assert.equal(threadOf(lineage(['root@example.org']), domain), first);
    assert.equal(threadOf(lineage(['root@example.org', own(first)]), domain), first);
  });

  it('are known by our newest mail also when a client has cut the references', () => {
    assert.equal(threadOf(lineage([own('t1')]), domain), 't1');
    assert.equal(threadOf(lineage([own('t1'), own('t2', 'later')]), domain), 't2');
    assert.equal(threadOf({ messageId: 'x@y', references: [], inReplyTo: [own('t1')] }, domain), 't1');
  });

  it('do not exist where we wrote outside of any', () => {
    assert.equal(threadOf(lineage([own()]), domain), undefined);
    assert.equal(threadOf({ messageId: undefined, references: [], inReplyTo: [] }, domain), undefined);
  });
});
