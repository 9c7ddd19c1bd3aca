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
  client.authenticated = user === client.world.user && password === client.world.password;
  return client.authenticated ? 'OK' : 'NO';
};

const authenticate: Command = async (client, { args, reader }) => {
  if (String(args[0]).toUpperCase() !== 'PLAIN') return 'NO';
  if (args[1] === undefined) client.write('+ ');
  const answer = args[1] === undefined ? await reader.line() : String(args[1]);
  const [, user = '', password = ''] = Buffer.from(answer ?? '', 'base64').toString().split('\0');
  return logIn(client, user, password);
};

const list: Command = ({ world, write }, { args }) => {
  const pattern = String(args[1]);
  if (pattern === '') write('* LIST (\\Noselect) "/" ""');
  else for (const name of world.mailboxes.names.filter((each) => pattern === '*' || pattern === '%' || pattern.toUpperCase() === each.toUpperCase())) write(`* LIST (\\HasNoChildren) "/" ${quote(name)}`);
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
