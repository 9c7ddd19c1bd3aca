import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startEmailSimulator } from '../src/platforms/email/simulator.ts';
import type { EmailSimulator, EmailSimulatorOptions } from '../src/platforms/email/simulator.ts';
import { traceMessage } from '../src/store/messages/trace.ts';
import { heldAnswer, inboxRows, outboxRows, peek } from './support/scenes.ts';
import { newWorld, startInside, startOutside, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

const alice = 'alice@example.org';

interface Post extends AsyncDisposable {
  readonly world: World;
  readonly provider: EmailSimulator;
  write(text: string, more?: Partial<Parameters<EmailSimulator['say']>[0]>): Promise<string>;
  shown(): readonly string[];
}

/** A gateway's world with a mailbox in it. */
const newPost = async (account: Readonly<Record<string, unknown>> = {}, more: Readonly<Record<string, unknown>> = {}, kind: EmailSimulatorOptions = {}): Promise<Post> => {
  const provider = await startEmailSimulator(kind);
  const world = await newWorld({ platforms: { email: { ...provider.options, allowed_users: ['Alice@Example.org'], ...account } }, ...more });
  return {
    world,
    provider,
    write: (text, extra = {}) => provider.say({ chatId: alice, chatType: 'dm', senderId: alice, text, ...extra }),
    shown: () => provider.visible(alice).map(({ text }) => text),
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
};

const arrivals = (world: World) => peek(world, (store) => inboxRows(store));

describe('mail', { concurrency: true }, () => {
  test('is answered in its thread, and each thread is a conversation of its own', async () => {
    await using post = await newPost();
    await using _inside = await startInside(post.world);
    await until(() => post.provider.isIdling(), 'the mailbox to be watched');
    const first = await post.write('first thread');
    await until(() => post.shown().length === 1, 'an answer');
    const [answer] = post.provider.visible(alice);
    assert.deepEqual([answer?.text, answer?.replyTo], ['re: first thread', first]);
    await post.write('go on', { replyTo: answer?.id ?? '' });
    await until(() => post.shown().length === 2, 'the second answer');
    await post.write('another matter');
    await until(() => post.shown().length === 3, 'the third answer');
    const rows = await arrivals(post.world);
    const [one, two, three] = rows.map((row) => row.session_id);
    assert.equal(one, two);
    assert.notEqual(two, three);
  });

  test('of somebody who only pretends to be allowed gets no answer, and the trace says why', async () => {
    await using post = await newPost({ unauthorized_dm_behavior: 'pair' });
    await using _inside = await startInside(post.world);
    await until(() => post.provider.isIdling(), 'the mailbox to be watched');
    await post.provider.forge?.({ chatId: alice, chatType: 'dm', senderId: alice, text: '/status' });
    await post.write('it is really me');
    await until(() => post.shown().length === 1, 'an answer');
    assert.deepEqual(post.shown(), ['re: it is really me']);
    const [forged] = await peek(post.world, (store) => store.read((db) => db.q.selectFrom('inbox').select(['state', 'decisions']).orderBy('id').execute()));
    assert.equal(forged?.state, 'skipped');
    assert.match(forged.decisions, /verified sender.*denied: dmarc=fail at mx\.simulated\.test/);
  });

  test('of strangers is not answered, unless the owner wants them to get a code', async () => {
    for (const [account, answers] of [[{}, 0], [{ unauthorized_dm_behavior: 'pair' }, 1]] as const) {
      await using post = await newPost(account);
      await using _inside = await startInside(post.world);
      await until(() => post.provider.isIdling(), 'the mailbox to be watched');
      await post.write('who are you?', { senderId: 'eve@example.org' });
      await post.write('hello');
      await until(() => post.shown().length === 1, 'an answer to somebody else');
      await until(async () => (await peek(post.world, (store) => outboxRows(store))).every(({ state }) => state === 'sent'), 'everything to be sent');
      assert.equal(post.provider.visible('eve@example.org').length, answers);
    }
  });

  test('is answered once although the process is killed during the turn, and nothing that came meanwhile is lost', async () => {
    await using post = await newPost({}, { display: { busy_ack_enabled: false } });
    const slow = heldAnswer();
    post.world.model.otherwise(slow.answer);
    {
      await using first = await startOutside(post.world);
      await until(() => post.provider.isIdling(), 'the mailbox to be watched');
      await post.write('a long question');
      await until(() => slow.held() === 1, 'the turn to run');
      await first.kill();
    }
    await post.write('another thread');
    slow.open();
    await using _second = await startOutside(post.world);
    await until(() => post.shown().length === 2, 'both answers');
    assert.deepEqual(post.shown().toSorted(), ['re: a long question', 're: another thread']);
  });

  test('is answered although the connection breaks during the turn', async () => {
    await using post = await newPost();
    const slow = heldAnswer();
    post.world.model.otherwise(slow.answer);
    await using _inside = await startInside(post.world);
    await until(() => post.provider.isIdling(), 'the mailbox to be watched');
    await post.write('think about it');
    await until(() => slow.held() === 1, 'the turn to run');
    post.provider.drop();
    await post.write('while it was broken');
    slow.open();
    await until(() => post.shown().length === 2, 'both answers');
    assert.deepEqual(post.shown().toSorted(), ['re: think about it', 're: while it was broken']);
  });

  test('is answered although the token that opened the mailbox was taken back, and no token is in the log', async () => {
    await using post = await newPost({}, {}, { oauth: true, sentFolder: 'Sent' });
    await using inside = await startInside(post.world);
    await until(() => post.provider.isIdling(), 'the mailbox to be watched');
    post.provider.tokens?.revokeAccess();
    post.provider.drop();
    await post.write('hello');
    await until(() => post.shown().length === 1 && post.provider.stored('Sent').length === 1, 'the answer, and its copy');
    assert.deepEqual(post.shown(), ['re: hello']);
    for (const secret of post.provider.secrets) assert.ok(!inside.logLines.join('\n').includes(secret), secret);
  });

  test('whose acceptance was not heard of is repeated once, with the same id and a mark', async () => {
    await using post = await newPost();
    await using _inside = await startInside(post.world);
    await until(() => post.provider.isIdling(), 'the mailbox to be watched');
    post.provider.fail({ what: 'send', fault: { type: 'drop_answer' } });
    await post.write('hello');
    await until(() => post.shown().length === 2, 'the repeat');
    const [first, repeat] = post.provider.visible(alice);
    assert.equal(first?.id, repeat?.id);
    assert.match(repeat?.text ?? '', /♻️/u);
  });

  test('that comes back is a failed delivery with its reason, and nobody is answered', async () => {
    await using post = await newPost();
    await using inside = await startInside(post.world);
    await until(() => post.provider.isIdling(), 'the mailbox to be watched');
    await post.write('hello');
    await until(async () => (await peek(post.world, (store) => outboxRows(store))).some(({ state }) => state === 'sent'), 'the answer to be sent');
    const id = post.provider.visible(alice)[0]?.id ?? '';
    post.provider.bounce(id);
    await until(async () => (await peek(post.world, (store) => outboxRows(store))).some(({ state }) => state === 'failed'), 'the delivery to have failed');
    const [traced] = await inside.store.read((db) => traceMessage(db, id));
    assert.equal(traced?.arrival?.event.text, 'hello');
    assert.match(traced.deliveries[0]?.error ?? '', /came back from alice@example\.org \(5\.1\.1 550 5\.1\.1 no such user\)/);
    await post.write('still there?');
    await until(() => post.shown().length === 2, 'the next answer');
    assert.deepEqual([post.shown(), (await arrivals(post.world)).length], [['re: hello', 're: still there?'], 2]);
  });

  test('is answered with whole answers only: nobody is told that the agent is busy', async () => {
    await using post = await newPost();
    const slow = heldAnswer();
    post.world.model.otherwise(slow.answer);
    await using inside = await startInside(post.world);
    await until(() => post.provider.isIdling(), 'the mailbox to be watched');
    const first = await post.write('one thing');
    await until(() => slow.held() === 1, 'the turn to run');
    await inside.store.write((tx) => tx.q.updateTable('turns').set({ started_at: 0 }).execute());
    await post.write('and another', { replyTo: first });
    await until(async () => (await arrivals(post.world)).length === 2, 'the second mail to be stored');
    slow.open();
    await until(async () => (await arrivals(post.world)).every(({ state }) => state === 'done'), 'everything to be answered');
    await until(() => post.shown().length > 0, 'the answer');
    assert.ok(post.shown().every((text) => text.startsWith('re: ')), post.shown().join('\n'));
  });

  test('is not written about a restart in the middle of a turn', async () => {
    await using post = await newPost({}, { agent: { restart_drain_timeout: 0 } });
    const slow = heldAnswer();
    post.world.model.otherwise(slow.answer);
    {
      await using first = await startOutside(post.world);
      await until(() => post.provider.isIdling(), 'the mailbox to be watched');
      await post.write('one thing');
      await until(() => slow.held() === 1, 'the turn to run');
      await first.stop();
    }
    slow.open();
    await using _second = await startInside(post.world);
    await until(() => post.shown().some((text) => text.startsWith('re: ')), 'the answer');
    assert.deepEqual(post.shown(), ['re: one thing']);
  });

  test('comes to several mailboxes, each answered from its own, also while one of them is down', async () => {
    await using post = await newPost();
    await using work = await startEmailSimulator();
    const broken = await startEmailSimulator();
    await broken[Symbol.asyncDispose]();
    const account = (provider: EmailSimulator) => ({ ...provider.options, allowed_users: [alice] });
    await post.world.configure({ platforms: { email: { ...account(post.provider), accounts: { work: account(work), broken: account(broken) } } } });
    await using _inside = await startInside(post.world);
    await until(() => post.provider.isIdling() && work.isIdling(), 'both mailboxes to be watched');
    await post.write('to the first');
    await work.say({ chatId: alice, chatType: 'dm', senderId: alice, text: 'to the second' });
    await until(() => post.shown().length === 1 && work.visible(alice).length === 1, 'both answers');
    assert.deepEqual([post.shown(), work.visible(alice).map(({ text }) => text)], [['re: to the first'], ['re: to the second']]);
    const rows = await arrivals(post.world);
    assert.deepEqual(rows.map((row) => row.account).toSorted(), ['email', 'email@work']);
  });

  test('is a command when it begins with one', async () => {
    await using post = await newPost();
    await using _inside = await startInside(post.world);
    await until(() => post.provider.isIdling(), 'the mailbox to be watched');
    const id = await post.write('/whoami\n\n-- \nAlice');
    await until(() => post.shown().length === 1, 'the answer');
    assert.match(post.shown()[0] ?? '', /alice@example\.org/);
    assert.equal(post.provider.visible(alice)[0]?.replyTo, id);
    assert.equal(post.world.model.requests.length, 0);
  });
});
