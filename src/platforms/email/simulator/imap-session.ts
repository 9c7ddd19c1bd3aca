import type { Socket } from 'node:net';
import type { Fault } from '../../simulator.ts';
import type { CallClass } from '../../simulator-faults.ts';
import { newClient } from './imap-client.ts';
import type { Client, ImapWorld } from './imap-client.ts';
import { runCommand } from './imap-commands.ts';
import type { Outcome } from './imap-commands.ts';
import { newByteReader, readCommand } from './imap-reader.ts';
import type { ByteReader, ImapCommand } from './imap-reader.ts';

export interface ImapSession {
  readonly isIdling: boolean;
  /** Lets a planned fault happen to a connection that only waits. */
  interrupt(): void;
  destroy(): void;
}

const classes: Readonly<Record<string, CallClass>> = { LOGIN: 'identify', AUTHENTICATE: 'identify', IDLE: 'receive', NOOP: 'receive', 'UID SEARCH': 'receive', 'UID FETCH': 'download' };

const garbage = '\u0001\u0002}{ not imap\r\n* \r\n)(\r\n';

/** Answers whether the command is still to be answered. */
const suffer = async (client: Client, fault: Fault, command: ImapCommand, reader: ByteReader): Promise<boolean> => {
  switch (fault.type) {
    case 'delay':
      await client.world.clock.sleep(fault.ms);
      return true;
    case 'status':
      client.write(`${command.tag} NO ${fault.status >= 500 ? '[UNAVAILABLE] ' : fault.status === 404 ? '' : '[AUTHENTICATIONFAILED] '}${fault.description ?? 'not now'}`);
      return false;
    case 'rate_limit':
      client.write(`${command.tag} NO [LIMIT] try again in ${Math.ceil(fault.retryAfterMs / 1000)} seconds`);
      return false;
    case 'garbage':
      client.socket.write(garbage);
      client.socket.destroy();
      return false;
    case 'drop_answer':
      await runCommand(client, command, reader);
      client.socket.destroy();
      return false;
    case 'refuse':
      client.socket.destroy();
      return false;
    case 'hang':
      return false;
    default:
      return fault satisfies never;
  }
};

const codeFor = (client: Client, outcome: Outcome, isLogin: boolean): string => {
  if (outcome === 'NO') return isLogin ? '[AUTHENTICATIONFAILED] refused' : '[NONEXISTENT] there is no such thing';
  if (outcome === 'BAD') return 'not understood';
  return isLogin ? `[CAPABILITY ${client.capabilities()}] welcome` : 'done';
};

const answer = (client: Client, { tag, name }: ImapCommand, outcome: Outcome): void => {
  if (outcome === 'gone') return;
  client.tellChanges();
  client.write(`${tag} ${outcome} ${codeFor(client, outcome, classes[name] === 'identify')}`);
  if (name === 'LOGOUT') client.socket.end();
};

/** `UID FETCH` is one command of two words. */
const joined = ({ tag, name, args }: ImapCommand): ImapCommand => (name === 'UID' ? { tag, name: `UID ${String(args[0]).toUpperCase()}`, args: args.slice(1) } : { tag, name, args });

/** Serves until the client leaves; true when it wants to go on under TLS. */
const serve = async (client: Client): Promise<boolean> => {
  const { world } = client;
  const reader = newByteReader(client.socket);
  for (;;) {
    const read = await readCommand(reader, () => client.write('+ go on'));
    if (read === undefined) return false;
    const command = joined(read);
    world.log.push(command.name);
    if (world.frozen) continue;
    if (command.name === 'STARTTLS' && world.secure !== undefined) {
      client.write(`${command.tag} OK begin`);
      return true;
    }
    const kind = classes[command.name];
    const fault = kind && world.faults.take(kind);
    if (fault !== undefined && !(await suffer(client, fault, command, reader))) continue;
    answer(client, command, await runCommand(client, command, reader));
  }
};

const live = async (client: Client): Promise<void> => {
  const { world, socket } = client;
  client.write(`* OK [CAPABILITY ${client.capabilities()}] simulated`);
  if (!(await serve(client)) || world.secure === undefined) return;
  client.isSecure = true;
  client.socket = world.secure(socket);
  client.socket.on('error', () => client.socket.destroy());
  await serve(client);
};

/** One client of the server, from greeting to goodbye. */
export const serveImap = (world: ImapWorld, socket: Socket): ImapSession => {
  const client = newClient(world, socket);
  const watching = world.mailboxes.onChange((folder) => {
    if (folder === client.selected && client.idling && !world.deaf && !world.frozen) client.tellChanges();
  });
  const end = (): void => {
    watching[Symbol.dispose]();
    client.socket.destroy();
  };
  socket.on('error', end);
  // A client that breaks the connection off in the middle is part of the game.
  live(client).then(end, end);
  return {
    get isIdling() {
      return client.idling;
    },
    interrupt() {
      const fault = client.idling ? world.faults.take('receive') : undefined;
      if (fault?.type === 'garbage') client.socket.write(garbage);
      if (fault !== undefined && fault.type !== 'hang' && fault.type !== 'delay') client.socket.destroy();
    },
    destroy: () => void client.socket.destroy(),
  };
};
