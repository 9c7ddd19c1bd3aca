import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { test } from 'node:test';
import { setImmediate as immediate, setTimeout as timeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { TurnPlace } from './contract.ts';
import { clearedSession, isAsyncDeliverySupported, outsideSession, sessionCwd, sessionOfTurn, sessionVariable, sessionVariables, variablesForChildren, streamInSession, withSession } from './session-context.ts';

const place = (more: Partial<TurnPlace> = {}): TurnPlace => ({ agent: 'main', platform: 'telegram', target: { account: 'telegram@work', chatId: '-100', chatType: 'group' }, ...more });
const turn = (id: string, more: Partial<TurnPlace> = {}) => sessionOfTurn({ sessionId: id, place: place(more), asyncDelivery: true });
const environment = { HERMES_SESSION_CHAT_ID: 'from the environment', HERMES_CRON_AUTO_DELIVER_CHAT_ID: 'cron' };

test('a variable that was never set is read from the environment, then from the fallback', () => {
  assert.equal(sessionVariable('HERMES_SESSION_CHAT_ID', environment), 'from the environment');
  assert.equal(sessionVariable('HERMES_SESSION_USER_ID', environment), '');
  assert.equal(sessionVariable('HERMES_SESSION_USER_ID', environment, 'nobody'), 'nobody');
});

test('a set variable hides the environment, and so does a cleared one', () => {
  withSession({ variables: { HERMES_SESSION_CHAT_ID: '42' } }, () => assert.equal(sessionVariable('HERMES_SESSION_CHAT_ID', environment), '42'));
  withSession(clearedSession, () => {
    assert.equal(sessionVariable('HERMES_SESSION_CHAT_ID', environment, 'fallback'), '');
    assert.equal(sessionVariable('HERMES_CRON_AUTO_DELIVER_CHAT_ID', environment), 'cron', 'a job’s target is not part of a session');
  });
});

test('bindings nest: the inner one adds to the outer one, and the outer one is back afterwards', async () => {
  await withSession(turn('outer'), async () => {
    await withSession({ variables: { HERMES_SESSION_ID: 'inner', HERMES_SESSION_CHAT_ID: null }, cwd: '/inner' }, async () => {
      await immediate();
      assert.equal(sessionVariable('HERMES_SESSION_ID', {}), 'inner');
      assert.equal(sessionVariable('HERMES_SESSION_PLATFORM', {}), 'telegram');
      assert.equal(sessionVariable('HERMES_SESSION_CHAT_ID', environment), 'from the environment', 'null makes it unset again');
      assert.equal(sessionCwd(), '/inner');
      outsideSession(() => assert.equal(sessionVariable('HERMES_SESSION_ID', {}, 'unset'), 'unset'));
    });
    assert.equal(sessionVariable('HERMES_SESSION_ID', {}), 'outer');
    assert.equal(sessionVariable('HERMES_SESSION_CHAT_ID', environment), '-100');
    assert.equal(sessionCwd(), undefined);
  });
  assert.throws(() => withSession(turn('failing'), () => assert.fail('inside')), /inside/);
  assert.equal(sessionVariable('HERMES_SESSION_ID', {}, 'unset'), 'unset');
});

test('a turn names every variable of its session, so that nothing shines through from the process', () => {
  const everywhere = Object.fromEntries(sessionVariables.map((name) => [name, 'stale']));
  const more = { chatName: 'Family', sessionKey: 'key', sender: { id: '7', name: 'Ada', isBot: false }, target: { account: 'telegram@work', chatId: '-100', chatType: 'group', threadId: '5', replyTo: '99' } } as const;
  const seen = withSession(turn('s1', more), () => sessionVariables.map((name) => sessionVariable(name, everywhere)));
  assert.deepEqual(seen, ['telegram', 'telegram@work', '-100', 'Family', '5', '7', 'Ada', 'key', 's1', '99', 'stale', 'stale', 'stale']);
  const bare = withSession(turn('s2'), () => sessionVariables.map((name) => sessionVariable(name, everywhere)));
  assert.deepEqual(bare.slice(0, 10), ['telegram', 'telegram@work', '-100', '', '', '', '', '', 's2', '']);
});

test('something can be said later unless the turn’s own way out cannot', () => {
  const stateless = { ...turn('s1'), asyncDelivery: false };
  assert.equal(isAsyncDeliverySupported(), true);
  withSession(stateless, () => {
    assert.equal(isAsyncDeliverySupported(), false);
    withSession(clearedSession, () => assert.equal(isAsyncDeliverySupported(), true, 'cleared is unset, not refused'));
    withSession(turn('s1'), () => assert.equal(isAsyncDeliverySupported(), true, 'it follows the turn, not the session'));
    assert.equal(isAsyncDeliverySupported(), false);
  });
});

test('a child process gets what the session says, and empty texts hide what it would inherit', async () => {
  const base = { PATH: '/nowhere', ...environment };
  const inside = withSession({ ...clearedSession, asyncDelivery: false }, () => withSession({ variables: { HERMES_SESSION_USER_ID: '7' } }, () => variablesForChildren(base)));
  assert.equal(inside['HERMES_SESSION_USER_ID'], '7');
  assert.equal(inside['HERMES_SESSION_CHAT_ID'], '');
  assert.equal(inside['HERMES_CRON_AUTO_DELIVER_CHAT_ID'], 'cron');
  assert.equal(inside['HERMES_SESSION_ASYNC_DELIVERY'], 'false');
  assert.equal(inside['PATH'], undefined);
  assert.deepEqual(variablesForChildren(environment), environment);
  const { stdout } = await promisify(execFile)(process.execPath, ['-p', 'JSON.stringify([process.env.HERMES_SESSION_USER_ID, process.env.HERMES_SESSION_CHAT_ID])'], { env: { ...base, ...inside } });
  assert.deepEqual(JSON.parse(stdout), ['7', '']);
});

async function* steps(count: number): AsyncGenerator<string, void, undefined> {
  try {
    for (let i = 0; i < count; i += 1) {
      yield sessionVariable('HERMES_SESSION_ID', {}, 'unset');
      await immediate();
    }
  } finally {
    finished.push(sessionVariable('HERMES_SESSION_ID', {}, 'unset'));
  }
}
const finished: string[] = [];

test('every step of a stream runs inside its session, whoever pulls it and wherever', async () => {
  const stream = streamInSession(turn('streamed'), () => steps(4));
  const pulled: unknown[] = [(await stream.next()).value];
  pulled.push((await withSession(turn('somebody else'), () => stream.next())).value);
  pulled.push((await outsideSession(() => stream.next())).value);
  assert.deepEqual(pulled, ['streamed', 'streamed', 'streamed']);
  await withSession(turn('somebody else'), () => stream.return());
  assert.deepEqual(finished.splice(0), ['streamed'], 'its end too');
});

test('what the puller does between two steps stays outside', async () => {
  await withSession(turn('puller'), async () => {
    for await (const seen of streamInSession(turn('streamed'), () => steps(3))) {
      assert.equal(seen, 'streamed');
      assert.equal(sessionVariable('HERMES_SESSION_ID', {}), 'puller');
    }
  });
});

test('an error thrown into a stream, and one it throws itself, arrive', async () => {
  async function* failing(): AsyncGenerator<string, void, undefined> {
    yield 'one';
    throw new Error('broken');
  }
  const stream = streamInSession(turn('s1'), failing);
  assert.equal((await stream.next()).value, 'one');
  await assert.rejects(() => stream.next(), /broken/);
  const other = streamInSession(turn('s1'), failing);
  await other.next();
  await assert.rejects(() => other.throw(new Error('thrown in')), /thrown in/);
  await using disposed = streamInSession(turn('s1'), failing);
  assert.equal((await disposed.next()).value, 'one');
});

/** One place where all turns meet: whoever arrives is let go by a later one, as with a pool of connections. */
const newMeetingPoint = (): (() => Promise<void>) => {
  const waiting: (() => void)[] = [];
  return async () => {
    waiting.shift()?.();
    await Promise.race([new Promise<void>((resolve) => waiting.push(resolve)), timeout(2)]);
  };
};

test('hundreds of turns at once, nested and interleaved, never see each other’s values', async () => {
  const meet = newMeetingPoint();
  const shared = new EventEmitter().setMaxListeners(0);
  let checks = 0;

  const check = (id: string): void => {
    checks += 1;
    assert.equal(sessionVariable('HERMES_SESSION_ID', environment), id);
    assert.equal(sessionVariable('HERMES_SESSION_USER_ID', environment), `user of ${id.replace(/ child$/, '')}`);
    assert.equal(isAsyncDeliverySupported(), !id.startsWith('odd'));
  };

  async function* work(id: string): AsyncGenerator<string, void, undefined> {
    for (let step = 0; step < 4; step += 1) {
      check(id);
      await meet();
      check(id);
      yield id;
      check(id);
      const upper = new Transform({
        transform(chunk, _encoding, done) {
          check(id);
          setTimeout(() => done(null, chunk), 0);
        },
      });
      await pipeline(Readable.from(['a', 'b']), upper, async (source) => {
        for await (const _ of source) check(id);
      });
      const heard = once(shared, 'tick');
      setImmediate(() => shared.emit('tick'));
      await heard;
      check(id);
      await withSession({ variables: { HERMES_SESSION_ID: `${id} child` } }, async () => {
        queueMicrotask(() => check(`${id} child`));
        await timeout(step % 3);
        check(`${id} child`);
        await Promise.all([1, 2].map(async () => (await meet(), check(`${id} child`))));
      });
      check(id);
    }
  }

  const run = async (number: number): Promise<void> => {
    const id = `${number % 2 === 0 ? 'even' : 'odd'} ${number}`;
    const binding = { variables: { HERMES_SESSION_ID: id, HERMES_SESSION_USER_ID: `user of ${id}` }, asyncDelivery: number % 2 === 0 };
    for await (const seen of streamInSession(binding, () => work(id))) {
      assert.equal(seen, id);
      assert.equal(sessionVariable('HERMES_SESSION_ID', {}, 'unset'), 'unset', 'the puller is outside');
      await meet();
    }
  };

  await Promise.all(Array.from({ length: 300 }, (_, number) => run(number)));
  assert.ok(checks > 300 * 4 * 10);
});
