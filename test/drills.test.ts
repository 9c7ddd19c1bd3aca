import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import type { Store } from '../src/store/store.ts';
import { movingClock } from './support/moving-clock.ts';
import type { MovingClock } from './support/moving-clock.ts';
import { heldAnswer, inboxRows, numbered, outboxRows, saidBy, turnRows } from './support/scenes.ts';
import type { HeldAnswer } from './support/scenes.ts';
import { echo, lastUserText, newWorld, startInside, until } from './support/whole.ts';
import type { Inside, World } from './support/whole.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const plainly = { display: { busy_input_mode: 'queue', busy_ack_enabled: false, streaming: false, tool_progress: 'off', long_running_notifications: false }, cron: { timezone: 'Europe/Berlin', wrap_response: false } };

/** Time goes forty times as fast, so that a pause of a busy machine is not yet the end of a lease; Telegram's does not, so that its polls have to be short. */
const speed = 40;
/** On a busy machine it goes slower: see `movingClock`. */
const patienceMs = 300_000;
const hurriedly = (world: World) => ({ ...plainly, platforms: { telegram: { ...world.telegram.options, poll_timeout_seconds: 1, allowed_users: ['7'], typing_indicator: false } } });

const startHurried = async (world: World, more: Readonly<Record<string, unknown>> = {}): Promise<{ readonly clock: MovingClock; readonly inside: Inside }> => {
  await world.configure({ ...hurriedly(world), ...more });
  const clock = movingClock(speed);
  return { clock, inside: await startInside(world, { clock, storeClock: clock }) };
};

const sayAll = async (world: World, texts: readonly string[]): Promise<void> => {
  for (const text of texts) await world.say(text);
};

const answersTo = (texts: readonly string[]): readonly string[] => texts.map((text) => `re: ${text}`);

/** Each was taken in, written down, answered and delivered once, in order. */
const assertAnsweredOnce = async (world: World, { store }: Inside, texts: readonly string[]): Promise<void> => {
  await until(() => world.shown().length >= texts.length, 'all answers');
  await until(async () => (await outboxRows(store)).every((row) => row.state === 'sent'), 'all answers to be recorded');
  assert.deepEqual(world.shown(), answersTo(texts));
  assert.deepEqual(await saidBy(store, 'user'), texts);
  assert.deepEqual(await saidBy(store, 'assistant'), answersTo(texts));
  assert.deepEqual((await inboxRows(store)).filter((row) => row.class === 'chat').map((row) => row.state), texts.map(() => 'done'));
  assert.equal(world.telegram.pending(), 0);
};

/** Another process that holds the file of the store until it is told to let go. */
const holdStore = async (world: World): Promise<{ release(): Promise<void> } & AsyncDisposable> => {
  const script = `
    const db = new (require('node:sqlite').DatabaseSync)(process.argv[1]);
    db.exec('begin exclusive');
    console.log('held');
    process.stdin.on('end', () => { db.exec('commit'); db.close(); }).resume();`;
  const child = spawn(process.execPath, ['-e', script, join(world.home, 'gateway.db')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');
  const release = async (): Promise<void> => {
    child.stdin.end();
    await exited;
  };
  return { release, [Symbol.asyncDispose]: release };
};

const limitPages = (store: Store, count: number): Promise<unknown> => store.write((tx) => sql`pragma max_page_count = ${sql.lit(count)}`.execute(tx.q));

const pagesOf = (store: Store): Promise<number> =>
  store.write(async (tx) => {
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(tx.q);
    return rows[0]?.page_count ?? 0;
  });

/** The model takes its time for one message, and answers all others, and jobs, at once. */
const heldFor = (world: World, text: string): HeldAnswer => {
  const held = heldAnswer();
  world.model.otherwise((response, request) => (lastUserText(request.body) === text ? held.answer : echo)(response, request));
  return held;
};

/** The times for which jobs have run, oldest first. */
const slots = async (store: Store): Promise<readonly number[]> => {
  const runs = await store.read((db) => db.q.selectFrom('cron_runs').select('due_at').where('state', 'not in', ['missed', 'skipped']).orderBy('id').execute());
  return runs.map((run) => run.due_at);
};

/** Since a moment: each of them once, and not more of them than there can have been. */
const assertRhythm = (dueMs: readonly number[], rhythm: { readonly minutes: number; readonly sinceMs: number; readonly untilMs: number }): void => {
  assert.equal(new Set(dueMs).size, dueMs.length, 'no time has run twice');
  const since = dueMs.filter((atMs) => atMs >= rhythm.sinceMs && atMs <= rhythm.untilMs);
  assert.ok(since.length <= Math.ceil((rhythm.untilMs - rhythm.sinceMs) / (rhythm.minutes * 60_000)) + 1, `${since.length} runs`);
};

describe('drills', { concurrency: true }, () => {
  test('without space nothing is taken, Telegram keeps what people write, and with space again all of it is answered once', async () => {
    await using world = await newWorld();
    const { inside } = await startHurried(world);
    await using _inside = inside;
    const texts = numbered(6).map((text) => `${text} ${'.'.repeat(3000)}`);
    const [first = '', ...others] = texts;
    await world.say(first);
    await until(() => world.shown().length === 1, 'the first answer');
    await limitPages(inside.store, await pagesOf(inside.store));
    await sayAll(world, others);
    await until(() => inside.logLines.some((line) => line.includes('the disk is full')), 'the disk to be full');
    await until(() => inside.gateway.status().some(({ account, state }) => account === 'telegram' && state === 'waiting'), 'the account to say so');
    const stored = (await inboxRows(inside.store)).length;
    assert.ok(stored < texts.length, 'not everything fitted');
    assert.ok(world.telegram.pending() >= texts.length - stored, 'Telegram was not told that we have what we do not have');
    await limitPages(inside.store, 1_000_000);
    await assertAnsweredOnce(world, inside, texts);
  });

  test('on a disk that is really full the process goes on, and so does everything else when there is space again', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'hermes-full-'));
    const script = fileURLToPath(new URL('./support/full-disk-gateway.ts', import.meta.url));
    const inside = 'mount -t tmpfs -o size=24m tmpfs "$1" || exit 77; TMPDIR="$1" exec "$2" "$3"';
    try {
      const output = await promisify(execFile)('unshare', ['-rm', 'sh', '-c', inside, 'sh', folder, process.execPath, script]).catch((error: { code?: unknown; stderr?: string }) => {
        if (error.code === 'ENOENT' || error.code === 77 || (error.code === 1 && /unshare/.test(error.stderr ?? ''))) return undefined;
        throw error;
      });
      if (output === undefined) {
        t.skip('a file system of its own needs user namespaces');
        return;
      }
      const seen = JSON.parse(output.stdout) as { stored: number; keptByTelegram: number; left: number; answered: number[]; code: number };
      assert.ok(seen.stored < 12 && seen.keptByTelegram >= 12 - seen.stored, `${seen.stored} were stored, Telegram kept ${seen.keptByTelegram}`);
      assert.deepEqual(seen.answered, Array.from({ length: 12 }, (_, i) => i));
      assert.deepEqual([seen.left, seen.code], [0, 0]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('while another process holds the store, messages wait at Telegram; afterwards each is answered once, and /stop works', async () => {
    await using world = await newWorld(plainly);
    await using inside = await startInside(world);
    const held = heldAnswer();
    world.model.next(held.answer);
    await world.say('message 1');
    await until(() => held.held() === 1, 'the first turn to run');
    {
      await using holder = await holdStore(world);
      await sayAll(world, ['message 2', 'message 3']);
      held.open();
      await until(() => held.held() === 0, 'the model to have answered');
      assert.deepEqual((await inboxRows(inside.store)).map((row) => row.state), ['running'], 'what is stored can be read');
      assert.deepEqual([world.telegram.pending(), world.shown()], [2, []]);
      await holder.release();
    }
    await assertAnsweredOnce(world, inside, numbered(3));
    assert.ok(!inside.logLines.some((line) => line.includes('account.disconnected')), 'nobody had to connect again');
    const endless = heldAnswer();
    world.model.next(endless.answer);
    await world.say('message 4');
    await until(() => endless.held() === 1, 'a turn to run');
    await world.say('/stop');
    await until(async () => (await turnRows(inside.store)).at(-1)?.exit_reason === 'stopped', 'the turn to be stopped');
    assert.deepEqual((await turnRows(inside.store)).map((turn) => turn.attempts), [1, 1, 1, 1]);
  });

  test('with the network gone for ten minutes, the account says so, and everything is answered once, in order, when it is back', { timeout: 600_000 }, async () => {
    await using world = await newWorld();
    const { clock, inside } = await startHurried(world);
    await using _inside = inside;
    const held = heldAnswer();
    world.model.next(held.answer);
    await world.say('message 1');
    await until(() => held.held() === 1, 'the first turn to run');
    const goneMs = clock.now();
    await world.telegram.goOffline();
    held.open();
    world.model.otherwise((response) => void response.destroy());
    await sayAll(world, ['message 2', 'message 3']);
    const status = () => inside.gateway.status().find(({ account }) => account === 'telegram');
    await until(() => status()?.state === 'waiting', 'the account to be said to be away');
    assert.equal(status()?.errorCode, 'unavailable');
    await until(() => clock.now() - goneMs > 10 * 60_000, 'ten minutes to pass', patienceMs);
    assert.notEqual(status()?.state, 'connected');
    assert.ok((status()?.attempts ?? 0) > 3, 'it was tried again and again');
    const waiting = await outboxRows(inside.store);
    assert.deepEqual([waiting.length, waiting[0]?.message_ids, world.shown()], [1, null, []]);
    world.model.otherwise(echo);
    await world.telegram.goOnline();
    await assertAnsweredOnce(world, inside, numbered(3));
    await until(() => status()?.state === 'connected', 'the account to be connected');
    assert.deepEqual((await outboxRows(inside.store)).map((row) => row.repeated), [0, 0, 0]);
  });

  test('a turn that asks the model when the network goes is told about once, when it is back, and the conversation goes on', async () => {
    await using world = await newWorld();
    const { inside } = await startHurried(world);
    await using _inside = inside;
    const held = heldAnswer((response) => void response.destroy());
    world.model.next(held.answer);
    await world.say('message 1');
    await until(() => held.held() === 1, 'the turn to run');
    await world.telegram.goOffline();
    world.model.otherwise((response) => void response.destroy());
    await world.say('message 2');
    held.open();
    await until(async () => (await outboxRows(inside.store)).length === 1, 'the turn to be given up');
    world.model.otherwise(echo);
    await world.telegram.goOnline();
    await until(() => world.shown().length >= 2, 'both to be told');
    assert.match(world.shown()[0] ?? '', /model cannot be reached|connection to the model broke/);
    assert.deepEqual(world.shown().slice(1), ['re: message 1\n\nmessage 2'], 'with the next message the model is asked again');
    assert.deepEqual(await saidBy(inside.store, 'user'), numbered(2));
  });

  describe('a clock that is set', { concurrency: true }, () => {
    for (const [name, backMs] of [['hours', 5 * hourMs], ['a day', dayMs]] as const) {
      test(`back by ${name} holds up neither what waits nor what runs, and runs no job twice`, { timeout: 600_000 }, async () => {
        await using world = await newWorld();
        const { clock, inside } = await startHurried(world);
        await using _inside = inside;
        await world.say('/cron add every 5m tick');
        await until(() => world.shown().length === 1, 'the job to be made');
        const before = world.shown().length;
        const held = heldFor(world, 'message 1');
        world.telegram.fail({ what: 'send', fault: { type: 'rate_limit', retryAfterMs: 60_000 } });
        await world.say('/version');
        await until(async () => (await outboxRows(inside.store)).some((row) => row.log.includes('rate_limited')), 'a delivery to wait');
        await sayAll(world, ['message 1', 'message 2']);
        await until(() => held.held() === 1, 'a turn to run');
        clock.jump(-backMs);
        const setMs = clock.now();
        held.open();
        const seen = () => world.shown().slice(before).filter((text) => !text.startsWith('re: [Scheduled job'));
        await until(() => seen().length >= 3, 'what waited');
        assert.match(seen()[0] ?? '', /test/);
        assert.deepEqual(seen().slice(1), answersTo(['message 1', 'message 2']));
        assert.ok(inside.logLines.some((line) => line.includes('clock.set_back')));
        await until(async () => (await slots(inside.store)).filter((dueMs) => dueMs > setMs && dueMs < setMs + hourMs).length >= 1, 'the job to go on by the new time', patienceMs);
        assertRhythm(await slots(inside.store), { minutes: 5, sinceMs: setMs, untilMs: clock.now() });
        await world.say('message 3');
        await until(() => seen().length >= 4, 'an answer');
        assert.deepEqual(seen().slice(1), answersTo(numbered(3)));
        const asked = JSON.stringify(world.model.requests.findLast(({ body }) => JSON.stringify(body).includes('message 3'))?.body.messages);
        assert.deepEqual(['message 1', 'message 2', 'message 3'].map((text) => asked.indexOf(text)).toSorted((a, b) => a - b), ['message 1', 'message 2', 'message 3'].map((text) => asked.indexOf(text)));
      });
    }

    for (const [name, aheadMs] of [['hours', 5 * hourMs], ['a day', dayMs]] as const) {
      test(`ahead by ${name} loses no turn, asks once for what a job has missed, and ends no conversation by itself`, { timeout: 600_000 }, async () => {
        await using world = await newWorld();
        const { clock, inside } = await startHurried(world, { session_reset: { mode: 'idle', idle_minutes: 60 } });
        await using _inside = inside;
        await world.say('/cron add every 10m tick');
        await until(() => world.shown().length === 1, 'the job to be made');
        const held = heldFor(world, 'message 1');
        await world.say('message 1');
        await until(() => held.held() === 1, 'a turn to run');
        const firstMs = clock.now();
        clock.jump(aheadMs);
        held.open();
        const seen = () => world.shown().slice(1).filter((text) => !text.startsWith('re: [Scheduled job'));
        await until(() => seen().length >= 1, 'the answer');
        assert.deepEqual(seen(), ['re: message 1']);
        assert.deepEqual((await turnRows(inside.store)).filter(({ target }) => target.includes('"chatId":"7"')).map(({ attempts }) => attempts)[0], 1);
        await until(async () => (await slots(inside.store)).some((dueMs) => dueMs > firstMs + aheadMs), 'the job to go on', patienceMs);
        const due = await slots(inside.store);
        assert.ok(due.filter((dueMs) => dueMs > firstMs && dueMs < firstMs + aheadMs).length <= 1, 'one run stands for all that was missed');
        const ended = await inside.store.read((db) => db.q.selectFrom('sessions').select('id').where('ended_at', 'is not', null).where('account', '=', 'telegram').execute());
        assert.deepEqual(ended, []);
        await until(() => inside.gateway.status().some(({ account, state }) => account === 'telegram' && state === 'connected'), 'the account to be connected');
      });
    }
  });
});
