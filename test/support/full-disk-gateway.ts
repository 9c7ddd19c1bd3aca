import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inboxRows, outboxRows, peek } from './scenes.ts';
import { hermes } from './terminal.ts';
import { newWorld, until } from './whole.ts';

/** Run with the folder for temporary files on a file system of its own: a gateway in the background, whose disk is filled and emptied again, with all that it writes there; says what it saw. */
const fill = (path: string): void => {
  for (let bytes = 1_000_000; bytes >= 1000; ) {
    try {
      writeFileSync(path, Buffer.alloc(bytes), { flag: 'a' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      bytes = Math.floor(bytes / 2);
    }
  }
};

const texts = Array.from({ length: 12 }, (_, i) => `message ${i + 1} ${'.'.repeat(3500)}`);
await using base = await newWorld({ display: { busy_input_mode: 'queue', busy_ack_enabled: false, streaming: false } });
const world = { ...base, env: { ...base.env, XDG_STATE_HOME: join(base.home, 'state') } };
const started = await hermes(world, ['gateway', 'start']);
if (started.code !== 0) throw new Error(started.err);
await world.say(texts[0] ?? '');
await until(() => world.shown().length === 1, 'the first answer');
const ballast = join(world.home, 'ballast');
fill(ballast);
for (const text of texts.slice(1)) await world.say(text);
const page = /"url":"([^"]+)"/.exec(readFileSync(join(world.home, 'logs', 'console.log'), 'utf8'))?.[1] ?? '';
await until(async () => world.telegram.pending() > 0 && (await fetch(`${page}/ready`)).status === 503, 'the gateway to say that it is in trouble', 60_000);
const keptByTelegram = world.telegram.pending();
const stored = (await peek(world, inboxRows)).length;
rmSync(ballast);
await until(() => world.shown().length >= texts.length, 'all answers', 60_000);
await until(() => peek(world, async (store) => (await outboxRows(store)).every((row) => row.state === 'sent')), 'all answers to be recorded');
const { code } = await hermes(world, ['gateway', 'stop']);
process.stdout.write(JSON.stringify({ stored, keptByTelegram, left: world.telegram.pending(), answered: world.shown().map((text) => texts.indexOf(text.replace(/^re: /, ''))), code }));
