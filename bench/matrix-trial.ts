import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClientEvent, createClient, EventType, MsgType, RoomEvent } from 'matrix-js-sdk';
import type { MatrixClient, MatrixEvent } from 'matrix-js-sdk';
import { VerificationPhase } from 'matrix-js-sdk/lib/crypto-api/index.js';
import { logger } from 'matrix-js-sdk/lib/logger.js';
import type { RoomMessageEventContent, TimelineEvents } from 'matrix-js-sdk/lib/types.js';
import { eventually, eventWith, never, newInbox } from '../src/platforms/conformance-bench.ts';
import type { BenchInbox } from '../src/platforms/conformance-bench.ts';
import type { Target } from '../src/core/message.ts';
import { systemClock } from '../src/lib/clock.ts';
import { capturingLogger } from '../src/lib/logger.ts';
import type { AccountData, Adapter } from '../src/platforms/contract.ts';
import { platforms } from '../src/platforms/registry.ts';
import { openStoredData } from '../test/support/stored-data.ts';
import { startSynapse } from './synapse.ts';
import type { Synapse } from './synapse.ts';

/**
 * Tries the Matrix platform against a real homeserver, Synapse from Debian, with matrix-js-sdk as the person on the other side. Synapse is
 * taken from this machine, or installed into `--root` (by root, with debootstrap). Run by hand:
 * `node bench/matrix-trial.ts [--root <folder>] [--record <file>]`.
 */
const quiet = { trace: () => undefined, debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined, getChild: () => quiet };

const argument = (name: string): string | undefined => {
  const at = process.argv.indexOf(name);
  return at === -1 ? undefined : process.argv[at + 1];
};

const report = (what: string, ok: boolean, more = ''): void => {
  if (!ok) process.exitCode = 1;
  console.log(`${ok ? '✔' : '✖'} ${what}${more === '' ? '' : ` (${more})`}`);
};

interface Account {
  readonly adapter: Adapter;
  readonly inbox: BenchInbox;
  stop(): Promise<void>;
}

/** Our side; with the same data and inbox it is the same account after a restart. */
const startAccount = async (synapse: Synapse, data: AccountData, inbox: BenchInbox): Promise<Account> => {
  const platform = platforms.find(({ name }) => name === 'matrix');
  if (platform === undefined) throw new Error('there is no platform called matrix');
  const options = platform.options.parse({ homeserver: synapse.baseUrl, user_id: '@hermes:trial.test', password: 'hermes-trial-password', sync_timeout_seconds: 5 });
  const { log, lines } = capturingLogger();
  const adapter = await platform.open({ account: 'matrix', options, log, data, home: tmpdir(), mediaFolder: tmpdir() });
  const stopping = new AbortController();
  const identity = await adapter.identify(stopping.signal);
  const running = adapter.run(inbox, identity, stopping.signal).catch((error: unknown) => {
    report('receiving goes on', false, `${String(error)}\n${lines.slice(-5).join('\n')}`);
  });
  return {
    adapter,
    inbox,
    async stop() {
      stopping.abort();
      await running;
    },
  };
};

interface Person {
  readonly client: MatrixClient;
  /** What others said, in the order it came. */
  readonly heard: MatrixEvent[];
}

const startPerson = async (synapse: Synapse): Promise<Person> => {
  const { userId, token } = await synapse.register('alice', 'alice-trial-password');
  const whoami = (await (await fetch(`${synapse.baseUrl}/_matrix/client/v3/account/whoami`, { headers: { authorization: `Bearer ${token}` } })).json()) as { device_id: string };
  const client = createClient({ baseUrl: synapse.baseUrl, accessToken: token, userId, deviceId: whoami.device_id, logger: quiet });
  await client.initRustCrypto({ useIndexedDB: false });
  const heard: MatrixEvent[] = [];
  client.on(RoomEvent.Timeline, (event) => void (event.getSender() !== userId && heard.push(event)));
  const ready = new Promise<void>((resolve) => client.on(ClientEvent.Sync, (state) => void (state === 'PREPARED' && resolve())));
  await client.startClient({ pollTimeout: 5000 });
  await ready;
  return { client, heard };
};

const newRoom = async ({ client }: Person, encrypted: boolean): Promise<string> => {
  const initial = encrypted ? [{ type: EventType.RoomEncryption, state_key: '', content: { algorithm: 'm.megolm.v1.aes-sha2' } }] : [];
  const { room_id: roomId } = await client.createRoom({ invite: ['@hermes:trial.test'], is_direct: true, initial_state: initial });
  await eventually(() => client.getRoom(roomId)?.getMember('@hermes:trial.test')?.membership === 'join', 'the account follows the invitation');
  return roomId;
};

const directTo = (roomId: string): Target => ({ account: 'matrix', chatId: roomId, chatType: 'dm' });

/** Waits for a message of ours as the SDK shows it, decrypted. */
const heardText = (person: Person, body: string): Promise<MatrixEvent> => eventually(() => person.heard.find((event) => event.getContent()['body'] === body), `the SDK shows "${body}"`);

const say = async ({ client }: Person, roomId: string, body: string): Promise<string> => (await client.sendMessage(roomId, { msgtype: MsgType.Text, body })).event_id;

const converse = async (person: Person, account: Account, roomId: string, kind: string): Promise<void> => {
  const { adapter, inbox } = account;
  const asked = await say(person, roomId, `${kind}: hello`);
  const event = await eventWith(inbox, `${kind}: hello`);
  report(`${kind}: a message arrives`, event.nativeId === asked && event.chat.type === 'dm');
  const sent = { key: `${kind}-1`, target: { ...directTo(roomId), replyTo: asked }, text: `${kind}: **hi**` };
  const [first] = (await adapter.send(sent, never)).messageIds;
  const [again] = (await adapter.send(sent, never)).messageIds;
  const answer = await heardText(person, `${kind}: **hi**`);
  report(`${kind}: the answer is seen, formatted and attached`, answer.getContent()['formatted_body'] === `${kind}: <strong>hi</strong>` && answer.replyEventId === asked);
  report(`${kind}: sent again it is the same message`, first !== undefined && first === again);
  await adapter.edits?.edit(first ?? '', { ...sent, text: `${kind}: hi, edited` }, true, never);
  await heardText(person, `* ${kind}: hi, edited`);
  report(`${kind}: an edit is seen`, true);
  await adapter.reactions?.set(directTo(roomId), asked, '👍', never);
  await eventually(() => person.heard.some((each) => each.getType() === 'm.reaction'), 'the reaction is seen');
  await adapter.reactions?.set(directTo(roomId), asked, null, never);
  report(`${kind}: a reaction is set and taken back`, true);
  const thread = await adapter.threads?.open(directTo(roomId), `${kind}: topic`, never);
  await adapter.send({ key: `${kind}-2`, target: thread ?? directTo(roomId), text: `${kind}: inside` }, never);
  const insideThread = await heardText(person, `${kind}: inside`);
  report(`${kind}: a thread is opened and written to`, thread !== undefined && insideThread.threadRootId === thread.threadId);
  await adapter.typing?.show(directTo(roomId), never);
};

const tryFiles = async (person: Person, account: Account, roomId: string, folder: string): Promise<void> => {
  const path = join(folder, 'notes.txt');
  await writeFile(path, 'Notes of the trial.');
  await account.adapter.send({ key: 'file', target: directTo(roomId), text: '', media: [{ kind: 'document', path, mime: 'text/plain', name: 'notes.txt' }] }, never);
  const shown = await heardText(person, 'notes.txt');
  const file = (shown.getContent()['file'] ?? {}) as { url?: string };
  report('encrypted: a file goes out encrypted', file.url?.startsWith('mxc://') === true && shown.getContent()['url'] === undefined);
  await person.client.sendMessage(roomId, { ...shown.getContent<RoomMessageEventContent>(), body: 'back to you', filename: 'notes.txt' } as RoomMessageEventContent);
  const { media } = await eventWith(account.inbox, 'back to you');
  const [ref] = media;
  const opened = ref === undefined ? undefined : await account.adapter.media?.open(ref, never);
  report('encrypted: it comes back, and can be read', opened !== undefined && (await new Response(opened as ReadableStream<Uint8Array<ArrayBuffer>>).text()) === 'Notes of the trial.');
};

/** Asks until there is something. */
const found = async <T>(ask: () => Promise<T | undefined>): Promise<T> => {
  for (let tries = 0; tries < 200; tries += 1) {
    const value = await ask();
    if (value !== undefined) return value;
    await systemClock.sleep(50);
  }
  throw new Error('it was never there');
};

/** The person verifies the account by emoji; the owner's word comes through what the account keeps, as from a terminal. */
const tryVerification = async (person: Person, data: AccountData, roomId: string): Promise<void> => {
  const crypto = person.client.getCrypto();
  const checks = platforms.find(({ name }) => name === 'matrix')?.deviceChecks?.(data);
  if (crypto === undefined || checks === undefined) throw new Error('somebody cannot verify');
  await crypto.bootstrapCrossSigning({ authUploadDeviceSigningKeys: async (make) => void (await make(null)) });
  await crypto.userHasCrossSigningKeys('@hermes:trial.test', true);
  const request = await crypto.requestVerificationDM('@hermes:trial.test', roomId);
  await eventually(() => request.phase === VerificationPhase.Ready, 'the account accepts');
  const verifier = await request.startVerification('m.sas.v1');
  const verified = verifier.verify();
  const theirs = await eventually(() => verifier.getShowSasCallbacks() ?? undefined, 'the SDK shows emoji');
  const ours = await found(async () => (await checks.list()).find(({ state }) => state === 'compare'));
  const emoji = ours.emoji.map(({ symbol }) => symbol).join(' ');
  report('both sides show the same emoji', emoji === theirs.sas.emoji?.map(([symbol]) => symbol).join(' '), emoji);
  await theirs.confirm();
  await checks.answer(ours.id, true);
  await verified;
  await eventually(() => request.phase === VerificationPhase.Done, 'the verification is done');
  const trusts = await found(async () => (await crypto.getUserVerificationStatus('@hermes:trial.test')).isCrossSigningVerified() || undefined);
  report('the person trusts the account', trusts);
};

/** The account is away while much is said; nothing of it may be lost or doubled, and its keys must still open it. */
const tryRestart = async (synapse: Synapse, person: Person, data: AccountData, before: Account, rooms: readonly string[]): Promise<Account> => {
  await before.stop();
  const known = before.inbox.events.length;
  const texts = Array.from({ length: 120 }, (_, i) => `while you were away ${i}`);
  for (const roomId of rooms) for (const text of texts) await say(person, roomId, `${roomId.slice(0, 4)} ${text}`);
  const after = await startAccount(synapse, data, before.inbox);
  await eventually(() => after.inbox.events.length >= known + rooms.length * texts.length, 'everything arrives');
  const wanted = rooms.map((roomId) => texts.map((text) => `${roomId.slice(0, 4)} ${text}`));
  const got = rooms.map((roomId) => after.inbox.events.slice(known).filter(({ chat }) => chat.id === roomId).map(({ text }) => text));
  report('after a restart: 120 messages per room, said meanwhile, arrive in order, also encrypted ones', JSON.stringify(got) === JSON.stringify(wanted), `${after.inbox.offered.length - after.inbox.events.length} were offered twice`);
  return after;
};

/** One of each kind that people send, for the recordings that the tests replay. */
const everyKind = (replyTo: string): readonly (readonly [type: string, content: object])[] => [
  ['m.room.message', { msgtype: 'm.text', body: 'Hermes: look', format: 'org.matrix.custom.html', formatted_body: '<a href="https://matrix.to/#/@hermes:trial.test">Hermes</a>: look', 'm.mentions': { user_ids: ['@hermes:trial.test'] } }],
  ['m.room.message', { msgtype: 'm.text', body: '> <@hermes:trial.test> hello\n\nan answer with what it answers', 'm.relates_to': { 'm.in_reply_to': { event_id: replyTo } } }],
  ['m.room.message', { msgtype: 'm.text', body: 'in a thread', 'm.relates_to': { rel_type: 'm.thread', event_id: replyTo, is_falling_back: true, 'm.in_reply_to': { event_id: replyTo } } }],
  ['m.room.message', { msgtype: 'm.text', body: '* better', 'm.new_content': { msgtype: 'm.text', body: 'better' }, 'm.relates_to': { rel_type: 'm.replace', event_id: replyTo } }],
  ['m.room.message', { msgtype: 'm.emote', body: 'waves' }],
  ['m.room.message', { msgtype: 'm.notice', body: 'a bot was here' }],
  ['m.room.message', { msgtype: 'm.image', body: 'cat.png', url: 'mxc://trial.test/abc', info: { mimetype: 'image/png', size: 3, w: 1, h: 1 } }],
  ['m.room.message', { msgtype: 'm.file', body: 'see this', filename: 'notes.pdf', url: 'mxc://trial.test/def', info: { mimetype: 'application/pdf', size: 3 } }],
  ['m.room.message', { msgtype: 'm.audio', body: 'Voice message', url: 'mxc://trial.test/ghi', info: { mimetype: 'audio/ogg', duration: 2100, size: 3 }, 'org.matrix.msc1767.audio': { duration: 2100, waveform: [1, 2] }, 'org.matrix.msc3245.voice': {} }],
  ['m.room.message', { msgtype: 'm.video', body: 'clip.mp4', url: 'mxc://trial.test/jkl', info: { mimetype: 'video/mp4', duration: 900 } }],
  ['m.room.message', { msgtype: 'm.location', body: 'Here', geo_uri: 'geo:52.5,13.4;u=10' }],
  ['m.sticker', { body: 'A cat', url: 'mxc://trial.test/mno', info: { mimetype: 'image/png' } }],
  ['org.matrix.msc3381.poll.start', { 'org.matrix.msc3381.poll.start': { question: { 'org.matrix.msc1767.text': 'Tea?' }, kind: 'org.matrix.msc3381.poll.disclosed', max_selections: 1, answers: [{ id: 'a', 'org.matrix.msc1767.text': 'Yes' }, { id: 'b', 'org.matrix.msc1767.text': 'No' }] } }],
  ['m.reaction', { 'm.relates_to': { rel_type: 'm.annotation', event_id: replyTo, key: '🎉' } }],
  ['m.room.message', { msgtype: 'm.key.verification.request', body: 'asks to verify', from_device: 'X', methods: ['m.sas.v1'], to: '@hermes:trial.test', timestamp: 1 }],
];

const record = async (synapse: Synapse, person: Person, roomId: string, file: string): Promise<void> => {
  const token = person.client.getAccessToken() ?? '';
  const anchor = await say(person, roomId, 'for the recordings');
  for (const [type, content] of everyKind(anchor)) await person.client.sendEvent(roomId, type as keyof TimelineEvents, content as never);
  const response = await fetch(`${synapse.baseUrl}/_matrix/client/v3/rooms/${encodeURIComponent(roomId)}/messages?dir=b&limit=20`, { headers: { authorization: `Bearer ${token}` } });
  const { chunk } = (await response.json()) as { chunk: { type: string }[] };
  await writeFile(file, `${JSON.stringify({ events: Object.fromEntries(chunk.toReversed().map((event, i) => [`${i} ${event.type}`, event])) }, null, 1)}\n`);
};

const trial = async (synapse: Synapse, folder: string): Promise<void> => {
  console.log(`Synapse ${synapse.version} at ${synapse.baseUrl}`);
  await synapse.register('hermes', 'hermes-trial-password');
  await using data = await openStoredData(folder);
  const person = await startPerson(synapse);
  let account = await startAccount(synapse, data, newInbox());
  try {
    const clear = await newRoom(person, false);
    await converse(person, account, clear, 'clear');
    const sealed = await newRoom(person, true);
    await converse(person, account, sealed, 'encrypted');
    await tryFiles(person, account, sealed, folder);
    await tryVerification(person, data, sealed);
    account = await tryRestart(synapse, person, data, account, [clear, sealed]);
    const listed = await account.adapter.directory?.list(never);
    report('the directory names both rooms', listed?.length === 2, listed?.map(({ name, type }) => `${name}: ${type}`).join('; ') ?? '');
    const messages = await fetch(`${synapse.baseUrl}/_matrix/client/v3/rooms/${encodeURIComponent(sealed)}/messages?dir=b&limit=1000`, { headers: { authorization: `Bearer ${person.client.getAccessToken() ?? ''}` } });
    report('the homeserver holds nothing readable of the encrypted room', !/hello|while you were away|hi, edited|inside|notes/.test(await messages.text()));
    const file = argument('--record');
    if (file !== undefined) await record(synapse, person, clear, file);
  } finally {
    person.client.stopClient();
    await account.stop();
  }
};

Object.assign(logger, quiet);
const root = argument('--root') ?? join(tmpdir(), 'hermes-synapse-root');
const synapse = await startSynapse(root);
if (synapse === undefined) console.log('There is no Synapse here, and none can be installed: that needs root and debootstrap.');
else {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-matrix-trial-'));
  try {
    await trial(synapse, folder);
  } finally {
    await synapse[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  }
}
process.exit();
