import type { ByteReader, ImapCommand, ImapWord } from './imap-reader.ts';
import { fetchReply, mailsIn, quote, searchReply } from './imap-replies.ts';
import type { Client } from './imap-client.ts';

/** `gone` when the client has left in the middle of a command. */
export type Outcome = 'OK' | 'NO' | 'BAD' | 'gone';

interface Call {
  readonly args: readonly ImapWord[];
  readonly reader: ByteReader;
}

type Command = (client: Client, call: Call) => Outcome | Promise<Outcome>;

const ok = (): Outcome => 'OK';

const says =
  (line: (client: Client) => string): Command =>
  (client) => {
    client.write(`* ${line(client)}`);
    return 'OK';
  };

const logIn = (client: Client, user: string, password: string): Outcome => {
  const { world } = client;
  client.authenticated = world.tokens === undefined && user === world.user && password === world.password;
  return client.authenticated ? 'OK' : 'NO';
};

/** https://developers.google.com/workspace/gmail/imap/xoauth2-protocol: a refusal is a challenge that says why, which the client answers with nothing. */
const withToken = async (client: Client, { args, reader }: Call): Promise<Outcome> => {
  const { tokens, user } = client.world;
  const [who = '', bearer = '', ...end] = Buffer.from(String(args[1] ?? ''), 'base64').toString().split('\u0001');
  client.authenticated = end.join() === ',' && who === `user=${user}` && tokens?.accepts(bearer.replace(/^auth=Bearer /, '')) === true;
  if (client.authenticated) return 'OK';
  client.write(`+ ${Buffer.from('{"status":"400","schemes":"Bearer","scope":"https://mail.google.com/"}').toString('base64')}`);
  return (await reader.line()) === undefined ? 'gone' : 'NO';
};

const authenticate: Command = async (client, call) => {
  const { args, reader } = call;
  const method = String(args[0]).toUpperCase();
  if (method === 'XOAUTH2' && client.world.tokens !== undefined) return withToken(client, call);
  if (method !== 'PLAIN') return 'NO';
  if (args[1] === undefined) client.write('+ ');
  const answer = args[1] === undefined ? await reader.line() : String(args[1]);
  const [, user = '', password = ''] = Buffer.from(answer ?? '', 'base64').toString().split('\0');
  return logIn(client, user, password);
};

const list: Command = ({ world, write }, { args }) => {
  const pattern = String(args[1]);
  if (pattern === '') write('* LIST (\\Noselect) "/" ""');
  else for (const name of world.mailboxes.names.filter((each) => pattern === '*' || pattern === '%' || pattern.toUpperCase() === each.toUpperCase())) write(`* LIST (\\HasNoChildren${name === world.sentFolder ? ' \\Sent' : ''}) "/" ${quote(name)}`);
  return 'OK';
};

const status: Command = ({ world, write }, { args }) => {
  const folder = world.mailboxes.get(String(args[0]));
  if (folder === undefined) return 'NO';
  const values: Readonly<Record<string, number>> = { MESSAGES: folder.mails.length, UIDNEXT: folder.uidNext, UIDVALIDITY: folder.uidValidity, UNSEEN: folder.mails.filter(({ flags }) => !flags.has('\\Seen')).length };
  const wanted = [args[1] ?? []].flat().map((name) => String(name).toUpperCase());
  if (wanted.some((name) => !(name in values))) return 'BAD';
  write(`* STATUS ${quote(folder.name)} (${wanted.map((name) => `${name} ${values[name]}`).join(' ')})`);
  return 'OK';
};

const select: Command = (client, { args }) => {
  const folder = client.world.mailboxes.get(String(args[0]));
  client.selected = folder;
  if (folder === undefined) return 'NO';
  client.told = folder.mails.length;
  const lines = ['FLAGS (\\Answered \\Seen \\Deleted)', 'OK [PERMANENTFLAGS (\\Answered \\Seen \\Deleted)] limited', `${folder.mails.length} EXISTS`, '0 RECENT', `OK [UIDVALIDITY ${folder.uidValidity}] valid`, `OK [UIDNEXT ${folder.uidNext}] next`];
  for (const line of lines) client.write(`* ${line}`);
  return 'OK';
};

const append: Command = ({ world }, { args }) => {
  const [name, ...more] = args;
  const flags = more.find((word) => Array.isArray(word)) ?? [];
  if (world.full || world.mailboxes.get(String(name)) === undefined) return 'NO';
  world.mailboxes.append(String(name), { raw: Buffer.from(String(more.at(-1) ?? '')), flags: [flags].flat().map(String) });
  return 'OK';
};

const idle: Command = async (client, { reader }) => {
  if (client.world.idle !== true) return client.world.idle === 'refused' ? 'NO' : 'BAD';
  client.idling = true;
  client.write('+ idling');
  if (!client.world.deaf) client.tellChanges();
  const done = await reader.line();
  client.idling = false;
  if (done === undefined) return 'gone';
  return done.toUpperCase() === 'DONE' ? 'OK' : 'BAD';
};

const search: Command = ({ selected, write }, { args }) => {
  const reply = selected && searchReply(selected, args);
  if (reply === undefined) return 'BAD';
  write(reply);
  return 'OK';
};

const fetch: Command = ({ selected, write }, { args }) => {
  if (selected === undefined) return 'BAD';
  const items = [args[1] ?? []].flat().map(String);
  for (const mail of mailsIn(selected, String(args[0]))) {
    const reply = fetchReply(selected, mail, items);
    if (reply === undefined) return 'BAD';
    write(reply);
  }
  return 'OK';
};

const store: Command = ({ selected, write }, { args }) => {
  const [set, what = '', flags = []] = args;
  if (selected === undefined || !/^\+FLAGS(?:\.SILENT)?$/i.test(String(what))) return 'BAD';
  for (const mail of mailsIn(selected, String(set))) {
    for (const flag of [flags].flat()) mail.flags.add(String(flag));
    const reply = fetchReply(selected, mail, ['FLAGS']);
    if (reply !== undefined && !/silent/i.test(String(what))) write(reply);
  }
  return 'OK';
};

const forAnybody: Readonly<Record<string, Command>> = {
  CAPABILITY: says((client) => `CAPABILITY ${client.capabilities()}`),
  NOOP: ok,
  ID: says(() => 'ID ("name" "simulated")'),
  LOGIN: (client, { args }) => logIn(client, String(args[0]), String(args[1])),
  AUTHENTICATE: authenticate,
  LOGOUT: says(() => 'BYE see you'),
};

const forUsers: Readonly<Record<string, Command>> = {
  NAMESPACE: says(() => 'NAMESPACE (("" "/")) NIL NIL'),
  LIST: list,
  STATUS: status,
  SELECT: select,
  EXAMINE: select,
  APPEND: append,
  IDLE: idle,
  'UID SEARCH': search,
  'UID FETCH': fetch,
  'UID STORE': store,
};

/** Does what RFC 3501 says about a command, as far as a mail client needs it. */
export const runCommand = async (client: Client, { name, args }: ImapCommand, reader: ByteReader): Promise<Outcome> => {
  const command = forAnybody[name] ?? (client.authenticated ? forUsers[name] : undefined);
  return command === undefined ? 'BAD' : command(client, { args, reader });
};
